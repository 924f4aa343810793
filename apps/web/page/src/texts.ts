// Every text of the page by its key, and what they are made with.

const count = (n: number, one: string, many: string): string => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

/** What levels 1 to 8 are called. */
const LEVELS = [': beginner', ': easy', ': casual', ': medium', ': advanced', ': strong', ': very strong', ': expert'];

/** The texts of the page. */
export const t = {
  /** Texts of `index.html`, by its attributes `data-t`, `data-t-label` and `data-t-title`. */
  html: {
    skip: 'Skip to the board',
    pages: 'Pages',
    runs: 'Training runs',
    game: 'Game',
    newGame: 'New game',
    board: 'Board',
    who1: 'Who plays player 1',
    who2: 'Who plays player 2',
    strength1: 'Strength of player 1',
    strength2: 'Strength of player 2',
    untrained: 'No trained computer is shipped for these rules.',
    loading: 'Loading',
    undo: 'Undo',
    hint: 'Hint',
    resign: 'Resign',
    swap: 'Swap sides',
    pause: 'Pause',
    resume: 'Play on from here',
    analyse: 'Analyse',
    coach: 'Coach',
    coachTitle: 'says what each move cost, and stops at a blunder',
    adviceBack: 'Take it back',
    adviceOn: 'Play on',
    practice: 'Practice',
    puzzle: 'Puzzle',
    nextPuzzle: 'Next puzzle',
    own: 'Your games',
    forget: 'Forget these games',
    lostTitle: 'lost by moves so far; a won game is one point',
    rematch: 'Rematch',
    review: 'Review the game',
    back: 'Back to the game',
    how: 'How to play',
    moves: 'Moves',
    noMoves: 'No move has been played yet. Points that can be played are marked on the board.',
    toStart: 'To the start',
    stepBack: 'One move back',
    stepOn: 'One move on',
    toEnd: 'To the end',
    movesOfGame: 'Moves of the game',
    legalMoves: 'Legal moves',
    analysis: 'Analysis',
    analysisMoves: 'Moves of the analysis',
    reviewTitle: 'Review',
    course: 'Course of the game',
    tree: 'Tree of the search',
    move: 'move',
    chance: 'chance',
    chanceTitle: 'chance to win for the side to move, as the search sees it; a draw counts as half',
    looked: 'looked at',
    lookedTitle: 'visits: how many simulations of the search began with the move',
    guess: 'first guess',
    guessTitle: 'policy: how likely the network takes the move to be the best, before searching',
    exact: 'exact',
    line: 'expected line',
    curve: 'Chance to win over the game',
    position: 'Position and game',
    share: 'Copy link',
    copyPosition: 'Copy position',
    copyGame: 'Copy game',
    download: 'Download game',
    open: 'Open file',
    edit: 'Edit position',
    editMover: 'To move',
    editPlay: 'Play from here',
    editEmpty: 'Empty the board',
    editCancel: 'Cancel',
    paste: 'Paste a position, moves or a game',
    load: 'Load',
    settings: 'Settings',
    rules: 'Rules',
    useRules: 'Start with these rules',
    clock: 'Clock, minutes per player',
    pace: 'Movement on the board',
    sound: 'Sound of stones',
    flip: 'Flip',
    asText: 'Position as text',
    off: 'off',
    keys: 'Keys: arrows move over the board, Enter chooses, Escape clears; u takes back, [ and ] step through the game.',
  },
  colours: (theme: string) => `Colours: ${theme}`,
  paces: { slow: 'slow', normal: 'normal', fast: 'fast', off: 'off' },
  sounds: { off: 'off', on: 'on' },
  flipped: 'board turned',
  themes: { auto: 'auto', light: 'light', dark: 'dark' } as Record<string, string>,
  players: {
    human: 'a person',
    level: 'computer',
    adapts: 'computer that adapts',
    az: 'computer',
    full: 'computer, full strength',
    alphabeta: 'computer, alpha-beta',
    mcts: 'computer, random playouts',
    random: 'random moves',
    checkpoint: (step: number) => `checkpoint, step ${step}`,
  },
  strengths: {
    beginner: 'beginner',
    instinct: 'easy: plays by instinct',
    medium: 'medium',
    advanced: 'advanced',
    strong: 'strong',
    expert: 'expert',
    master: 'master',
    thinks: ['does not search', 'thinks an instant', 'thinks briefly', 'thinks', 'thinks long', 'thinks very long'],
    /** A measured level by its number, with a word for it. */
    level: (number: number) => `level ${number}${LEVELS[number - 1] ?? ''}`,
    measured: (elo: number) => `measured: ${elo} Elo, where random moves have 0`,
    ahead: (plies: string) => `looks ${plies} moves ahead`,
    playouts: (n: number) => `tries ${n.toLocaleString('en')} games`,
  },
  side: (number: number, name: string) => (/^player/i.test(name) ? `Player ${number}` : `Player ${number}: ${name}`),
  toMove: (side: string) => `${side} to move`,
  yourMove: 'Your move',
  thinking: 'thinking',
  thinkingDeep: (plies: number) => `thinking, ${plies} moves ahead`,
  thinkingTree: (visits: number) => `thinking, ${visits.toLocaleString('en')} continuations`,
  agentFault: (fault: string) => `the computer cannot play: ${fault}`,
  drawn: 'The game is drawn',
  drawnByLimit: 'The game is drawn by the limit of moves',
  won: (side: string, margin: number) => `${side} has won${margin > 0 ? ` by ${margin}` : ''}`,
  youWon: (margin: number) => `You have won${margin > 0 ? ` by ${margin}` : ''}`,
  youLost: (side: string, margin: number) => `You have lost: ${side} has won${margin > 0 ? ` by ${margin}` : ''}`,
  rulesInFull: 'The rules in full',
  because: (reason: string, end: string) => `${reason}: ${end.replace(/^You|^The/, (word) => word.toLowerCase())}`,
  /** What the last move brought about, as a sentence. */
  event: (event: string) => (event === '' || /[.!?]$/.test(event) ? event : `${event}.`),
  task: (task: string) => (task === '' ? '' : `: ${task}`),
  inYourStore: 'in your store',
  captured: (count: number) => `${count} captured`,
  lostOnTime: (side: string) => `${side} has lost on time`,
  resigned: (side: string, other: string) => `${side} has resigned: ${other} has won`,
  youResigned: (other: string) => `You have resigned: ${other} has won`,
  reallyResign: 'Really resign?',
  hint: (move: string, chance: string) => `Hint: ${move}, chance to win ${chance}`,
  newGame: 'new game',
  takenBack: (ply: number) => `taken back to move ${ply}`,
  atStart: 'start of the game',
  afterMove: (ply: number, move: string) => `after move ${ply}, ${move}`,
  swapped: 'sides swapped',
  played: (side: string, move: string) => `${side}: ${move}.`,
  loaded: (moves: number) => `loaded; ${count(moves, 'move', 'moves')}`,
  continued: 'This is the game you left. “New game” begins another.',
  copied: { position: 'position copied', game: 'game copied', link: 'link copied' },
  selected: { position: 'position selected, to be copied', game: 'game selected, to be copied', link: 'link selected, to be copied' },
  unreadable: (fault: string) => `the text cannot be read: ${fault}`,
  fileUnreadable: (name: string, fault: string) => `the file ${name} cannot be read: ${fault}`,
  fileTooLarge: 'it is larger than 1 MB',
  tooLong: (moves: number, most: number) => `the game has ${moves} moves, and at most ${most} are read`,
  noText: 'there is no text to read',
  moveFault: (number: number, fault: string) => `move ${number}: ${fault}`,
  illegal: (move: string) => `${move} is not legal here`,
  noGameFile: 'it has no game and no moves',
  /** Faults of an address: what it asks for, and what the page does. */
  address: {
    game: (asked: string, shown: string) => `There is no game “${asked}”; this is ${shown}.`,
    rules: (fault: string, shown: string) => `The address asks for rules that do not exist (${fault}); this is ${shown} with its standard rules.`,
    player: (side: number, asked: string, shown: string) => `Nobody is called “${asked}”; player ${side} is ${shown}.`,
    level: (side: number, asked: string, shown: string) => `There is no strength “${asked}” for player ${side}; it plays as ${shown}.`,
    clock: (asked: string) => `There is no clock of “${asked}” minutes; the clock is off.`,
    position: (fault: string) => `The position of the address cannot be read (${fault}); this is the start of the game.`,
    moves: (fault: string) => `The moves of the address are played up to a fault: ${fault}.`,
    tooLong: (fault: string) => `The moves of the address are not played: ${fault}.`,
    elsewhere: 'it is not on the same server as the page',
    otherGame: (game: string) => `it was trained for “${game}”, a game that this page does not have`,
    agent: (fault: string) => `The agent of the address cannot be used: ${fault}.`,
  },
  fileMissing: (name: string, status: number) => `the file ${name} cannot be loaded (${status})`,
  searchFailed: 'the search failed',
  cannotStart: (fault: string) => `the page cannot start: ${fault}`,
  /** Another line, from its first move on. */
  branch: (number: number, moves: string, isCut: boolean) => `or ${number}. ${moves}${isCut ? ' …' : ''}`,
  count: (at: number, all: number) => `${at} of ${all}`,
  none: 'none',
  boardOf: (game: string, status: string) => `Board of ${game}. ${status}`,
  board: {
    selected: (name: string, targets: string) => `${name} selected; it can go to ${targets}`,
    refused: (name: string) => `${name}: no legal move`,
    chosen: 'selected',
    canMove: 'can move',
    legal: 'legal',
    last: 'last move',
    hint: 'hint',
  },
  editor: {
    mode: 'You are setting up a position',
    points: 'A press on a point of the board puts a piece of player 1 there, then one of player 2, then none.',
    numbers: 'Set the stones by number.',
    inHand: (side: string) => `${side}: in hand`,
    store: (row: string) => `${row}, store`,
  },
  look: {
    waiting: 'waiting',
    searching: (visits: number) => `searching: ${count(visits, 'simulation', 'simulations')}`,
    finished: (visits: number) => `search finished: ${count(visits, 'simulation', 'simulations')}`,
    proven: (result: string) => `, proven: ${result}`,
    wins: (side: string) => `${side} wins`,
    draw: 'draw',
    kept: (result: string) => `kept: ${result}`,
    thrown: (result: string) => `thrown away: ${result}`,
    provenMove: (result: string) => `proven: ${result}`,
    over: 'the game is over',
    chances: (side: string, chance: string, other: string, rest: string) => `Chance to win: ${side} ${chance}, ${other} ${rest}`,
    network: (chance: string) => `first guess of the network ${chance}`,
    exactValue: (result: string) => `exact value: ${result}`,
    playouts: 'random playouts',
    visits: (visits: number, rest: string) => `${count(visits, 'visit', 'visits')}, ${rest}`,
    nothingBelow: 'nothing searched below',
    curve: (side: string, plies: number, now: string) => `Chance to win of ${side} over ${count(plies, 'move', 'moves')}${now ? `, now ${now}` : ''}`,
  },
  puzzle: {
    ask: (number: number, all: number, side: string) => `Puzzle ${number} of ${all}: one move of ${side} keeps the win. Which?`,
    right: (move: string) => `${move} is right. Every other move gives the win away.`,
    wrong: (move: string) => `${move} gives the win away.`,
  },
  own: {
    rating: (game: string, elo: number, games: number) =>
      `Your rating in ${game}: about ${elo} Elo, from ${count(games, 'game', 'games')} against levels without help. Random moves have 0.`,
    game: (game: string, score: number, opponent: string, moves: number) =>
      `${game}: ${score === 1 ? 'won' : score === 0 ? 'lost' : 'drawn'} against ${opponent}, ${count(moves, 'move', 'moves')}`,
  },
  proof: {
    safe: (side: string) => `✓ ${side} cannot be beaten from the start: every line of play was tried. `,
    beaten: (side: string, moves: number) => `${side} can be beaten from the start, in ${moves} moves. `,
    show: 'Show me how',
  },
  coach: {
    judging: 'the coach looks at the move',
    blunder: (move: string, kind: string, lost: string) => `${move} is a ${kind}: it ${lost}`,
    lost: (points: number) => `${points.toFixed(2)} lost`,
  },
  review: {
    progress: (done: number, all: number) => `looking at move ${done} of ${all}`,
    stopped: (fault: string) => `the review ended early: ${fault}`,
    side: (side: string, marks: string, loss: string) => `${side}: ${marks}; average loss of chance ${loss}`,
    clean: 'no bad move',
    names: { '??': 'blunders', '?': 'mistakes', '?!': 'inaccuracies', '!': 'only moves' } as Record<string, string>,
    name: { '??': 'blunder', '?': 'mistake', '?!': 'inaccuracy', '!': 'only move' } as Record<string, string>,
    noMoments: 'No move lost much.',
    moments: 'Moments to look at',
    moment: (number: number, side: string, move: string, mark: string) => `Move ${number}, ${side}: ${move} ${mark}`,
    lost: (loss: string, from: string, to: string) => `lost ${loss} of the chance to win, from ${from} to ${to}.`,
    only: 'was the only move that kept the value.',
    better: 'Better:',
    then: 'Then:',
    show: 'Show the position',
    play: 'Play the better line',
    source: (exact: number, all: number, visits: number) =>
      `${exact > 0 ? `Exact values for ${exact} of ${count(all, 'move', 'moves')}, else` : 'Values by'} searches of ${count(visits, 'simulation', 'simulations')}. A draw counts as half a win.`,
    variation: (number: number) => `the better line at move ${number}`,
  },
};

/** Fills the texts of the document in. */
export function fillTexts(): void {
  const text = (key: string | undefined): string => (t.html as Record<string, string>)[key ?? ''] ?? '';
  for (const one of document.querySelectorAll<HTMLElement>('[data-t]')) one.textContent = text(one.dataset['t']);
  for (const one of document.querySelectorAll<HTMLElement>('[data-t-label]')) one.setAttribute('aria-label', text(one.dataset['tLabel']));
  for (const one of document.querySelectorAll<HTMLElement>('[data-t-title]')) one.title = text(one.dataset['tTitle']);
}

/** The name of a side without what its game's own notation calls it, such as `Dark` for `dark (X)`. */
export function sideName(name: string): string {
  const plain = name.replace(/ \(.*\)$/, '');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** A share as people say it: `83 %`. */
export const percent = (share: number): string => `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;

/** A share without decimals. */
export const wholePercent = (share: number): string => `${Math.round(100 * share)} %`;

/** A side's chance to win, from an expected result for player 1 between -1 and 1. A draw counts as half. */
export const chanceOf = (value: number, side: number): number => (1 + (side === 0 ? value : -value)) / 2;

/** That chance in words: whole per cents, and nothing is certain that is not proven. */
export function chanceText(value: number, side: number): string {
  const share = Math.round(100 * chanceOf(value, side));
  if (Math.abs(value) < 1) return `${Math.min(99, Math.max(1, share))} %`;
  return `${share} %`;
}
