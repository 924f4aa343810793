// The page: a game between people and agents, and what an analysis shows of it.

import * as address from './address.js';
import { Board, type Hint } from './board.js';
import { Clocks, clockText } from './clock.js';
import { Coach } from './coach.js';
import { announce, complain, element, make, message } from './dom.js';
import { Editor } from './editor.js';
import { Engine, Stopped } from './engine.js';
import { Look, Truth } from './look.js';
import { howToPlay } from './lessons.js';
import { Match } from './match.js';
import * as mine from './mine.js';
import { hasColours, showLegal, showMoves } from './moves.js';
import { type OwnAgent, opening } from './opening.js';
import { type Checkpoint, type Seat, TRAINED, checkpoints } from './players.js';
import { beaten } from './proofs.js';
import { PUZZLES } from './puzzles.js';
import * as record from './record.js';
import { Review, lossText } from './review.js';
import { Game, gameNames, load, title } from './rules.js';
import { Seats } from './seats.js';
import { field, fields, keep, kept, keptChoice, keptFolds, keptSwitch, nextTheme, restoreTheme } from './settings.js';
import { chanceText, fillTexts, sideName, t } from './texts.js';
import type { AgentChoice, Movement } from './types.js';

/** Simulations of an analysis, which can be stopped at any time, and of a hint. */
const [ANALYSIS, HINT] = [20_000, 400];
/** Milliseconds for the second press that resigns. */
const RESIGNING = 4000;

class App {
  private match: Match;
  private readonly board: Board;
  private readonly player: Engine;
  private readonly analyst: Engine;
  private readonly look: Look;
  private readonly review: Review;
  private readonly coach: Coach;
  private readonly clocks: Clocks;
  private readonly editor: Editor;
  private readonly seats: Seats;
  private trained: Checkpoint[] = [];
  private readonly shipped: Set<string>;
  /** The agent that the address names by its file. */
  private own: OwnAgent | null = null;
  /** The puzzle on the board, with its number from 0. */
  private puzzle: { match: Match; number: number; move: string } | null = null;
  /** A greater number ends whatever waits for an agent or a movement. */
  private turn = 0;
  private paused = false;
  /** Whether the board is turned by hand. */
  private flipped = false;
  /** Where a wide board stands upright. */
  private readonly upright = matchMedia('(max-width: 480px) and (orientation: portrait)');
  /** Whether the address is written: not before all of it is read. */
  private begun = false;
  /** A greater number takes the place of an address that is still being read. */
  private beginnings = 0;
  /** The position on the board; null while stones move or another game is fetched: presses then are meant for nothing. */
  private shown: string | null = null;
  /** The game that the seats offer players for. */
  private offered: Game | null = null;

  constructor(module: WebAssembly.Module) {
    this.shipped = new Set((document.body.dataset['agents'] ?? '').split(' '));
    this.player = new Engine(module);
    this.analyst = new Engine(module);
    const truth = new Truth(new Engine(module));
    this.match = new Match(new Game(gameNames()[0] ?? '', {}));
    this.board = new Board(element('board'), (action) => this.act(action));
    this.look = new Look(this.board, this.analyst, truth, (ply) => this.goTo(ply), () => this.showMoves());
    this.review = new Review(new Engine(module), {
      goTo: (ply) => this.follow(this.showReviewed().then((isShown) => { if (isShown) this.goTo(ply); })),
      playLine: (ply, line) => this.playLine(ply, line),
      changed: () => this.showMoves(),
    });
    this.coach = new Coach(new Engine(module), () => this.showMoves());
    this.editor = new Editor(this.board, (position) => {
      this.change(new Match(this.match.game, position), () => {
        this.paused = !this.seatToMove().isPerson;
        this.next();
      });
    }, () => this.next());
    this.clocks = new Clocks((left) => this.showClocks(left), (side) => this.end('time', side));
    this.seats = new Seats(() => {
      this.match.helped ||= this.match.plies.length > 0;
      this.paused = false;
      this.next();
    });
    this.listen();
  }

  /** Starts with the game and players that an address names, and says what of it does not exist. */
  async begin(query: URLSearchParams, isLeft: boolean): Promise<void> {
    this.begun = false;
    const mine = ++this.beginnings;
    this.review.clear();
    const faults: string[] = [];
    element<HTMLSelectElement>('game').replaceChildren(...gameNames().map((name) => make('option', { value: name }, title(name))));
    const { match, own } = await opening(query, (fault) => faults.push(fault));
    if (mine !== this.beginnings) return;
    if (own) this.own = own;
    this.askedClock(query.get('clock'), faults);
    const isShown = await this.setGame(match);
    if (mine !== this.beginnings) return;
    if (!isShown) {
      this.begun = true;
      return;
    }
    this.seats.ask(query, this.own !== null, (fault) => faults.push(fault));
    const unsaid = history.state as Partial<address.Unsaid> | null;
    if (unsaid?.left && this.clocks.remaining) this.clocks.restore(unsaid.left);
    match.helped = unsaid?.helped ?? (match.plies.length > 0 && !isLeft);
    if (query.get('analyse') === '1') this.setLook(true);
    this.begun = true;
    // The rules are open where they have room and nothing has been played yet.
    if (matchMedia('(min-width: 861px)').matches) element<HTMLDetailsElement>('how-details').open = match.plies.length === 0;
    // Agents do not play on from an address by themselves where they play each other.
    this.paused = match.plies.length > 0 && !this.seats.hasPerson;
    this.next();
    if (isLeft && match.plies.length > 0) announce(t.continued);
    complain(faults.join(' '));
  }

  private askedClock(minutes: string | null, faults: string[]): void {
    const select = element<HTMLSelectElement>('minutes');
    const known = [...select.options].some(({ value }) => value === minutes);
    select.value = known && minutes !== null ? minutes : '0';
    if (minutes !== null && !known) faults.push(t.address.clock(minutes));
  }

  private listen(): void {
    const on = (id: string, act: () => void): void => element(id).addEventListener('click', () => {
      complain('');
      act();
    });
    element('game').addEventListener('change', () => {
      complain('');
      this.change(new Match(new Game(element<HTMLSelectElement>('game').value, {})));
    });
    element('params').addEventListener('submit', (event) => {
      event.preventDefault();
      this.newGame();
    });
    on('new', () => this.newGame());
    on('undo', () => this.undo());
    on('hint', () => this.follow(this.hint()));
    on('resign', () => this.resign());
    on('rematch', () => this.rematch());
    on('review-start', () => this.follow(this.review.begin(this.match, this.analysisAgent())));
    on('back-to-game', () => this.follow(this.showReviewed()));
    on('swap', () => this.swap());
    on('first', () => this.goTo(0));
    on('back', () => this.goTo(this.match.at - 1));
    on('on', () => this.goTo(this.match.at + 1));
    on('last', () => this.goTo(this.match.plies.length));
    on('resume', () => this.resume());
    on('pause', () => this.pause());
    on('analyse', () => this.setLook(!this.look.on));
    on('edit', () => {
      this.halt();
      if (this.editor.on) {
        this.editor.end();
        this.next();
        return;
      }
      if (this.look.on) this.setLook(false);
      this.editor.begin(this.match.game, this.match.view().position);
      element('board').scrollIntoView({ block: 'nearest' });
    });
    on('share', () => record.copy(location.href, 'link'));
    on('copy-position', () => record.copy(this.match.view().position, 'position'));
    on('copy-game', () => record.copy(record.text(this.match, this.seats.labels), 'game'));
    on('download', () => this.download());
    on('open', () => element<HTMLInputElement>('file').click());
    on('load', () => this.load(element<HTMLTextAreaElement>('text').value, t.unreadable));
    on('theme', nextTheme);
    keptChoice('sound', t.sounds, 'off', (sound) => { this.board.sound = sound === 'on'; });
    keptFolds();
    keptSwitch('coach', (isOn) => {
      this.coach.on = isOn;
      if (this.begun) this.show();
    });
    on('advice-back', () => this.undo());
    on('advice-on', () => (this.puzzle?.match === this.match ? this.nextPuzzle() : this.next()));
    on('puzzle', () => this.nextPuzzle());
    on('forget', () => {
      mine.forget();
      mine.showOwn(this.match.game.board.name);
    });
    on('flip', () => {
      this.flipped = !this.flipped;
      this.turnBoard();
      announce(t.flipped);
    });
    this.upright.addEventListener('change', () => this.turnBoard());
    keptChoice('pace', t.paces, 'normal', (pace) => { this.board.pace = pace; });
    element('file').addEventListener('change', () => this.follow(this.openFile()));
    element('minutes').addEventListener('change', () => {
      this.clocks.reset(Number(element<HTMLSelectElement>('minutes').value));
      if (this.match.given?.why === 'time') this.match.given = null;
      this.next();
    });
    element('moves').addEventListener('click', (event) => {
      const { ply, line } = (event.target as Element).closest<HTMLElement>('[data-ply], [data-line]')?.dataset ?? {};
      if (line !== undefined) {
        this.match.take(this.match.others[Number(line)] ?? []);
        this.goTo(this.match.at);
      }
      if (ply !== undefined) this.goTo(Number(ply));
    });
    document.addEventListener('paste', (event) => {
      if (event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement) return;
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text.trim() !== '') this.load(text, t.unreadable);
    });
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLTextAreaElement) return;
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
      if (event.key === 'u') this.undo();
      else if (event.key === '[') this.goTo(this.match.at - 1);
      else if (event.key === ']') this.goTo(this.match.at + 1);
    });
    // Another link to a game, opened where the page is already.
    window.addEventListener('hashchange', () => {
      if (location.hash.includes('=')) this.follow(this.begin(address.asked(location), false));
    });
    // The clocks as they stand when the page is left.
    window.addEventListener('pagehide', () => this.keep());
  }

  /** Says what went wrong in work that nothing waits for. The board then shows what is stored. */
  private follow(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (error instanceof Stopped) return;
      complain(message(error));
      this.halt();
      this.show();
    });
  }

  /** Shows another game and then goes on, unless yet another has taken its place. */
  private change(match: Match, then: () => void = () => this.next()): void {
    this.follow(this.setGame(match).then((isShown) => { if (isShown) then(); }));
  }

  /** Shows another game, or another position of the same one; false if yet another has taken its place meanwhile. */
  private async setGame(match: Match): Promise<boolean> {
    const same = match.game === this.match.game;
    this.halt();
    this.unsure();
    if (this.editor.on) this.editor.end();
    this.match = match;
    this.lock();
    element('edit').hidden = !Editor.knows(match.game);
    this.paused = false;
    const { board } = match.game;
    element<HTMLSelectElement>('game').value = board.name;
    if (!same || element('fields').childElementCount === 0) this.showParams();
    if (!same) this.review.clear();
    this.board.setGame(board);
    this.clocks.reset(Number(element<HTMLSelectElement>('minutes').value));
    for (const side of [0, 1] as const) element(`side${side}`).textContent = t.side(side + 1, sideName(board.sides[side]));
    const how = howToPlay(match.game);
    element('how').hidden = how.length === 0;
    element('how-text').replaceChildren(...how);
    const trained = await checkpoints(match.game, this.own ? [this.own.checkpoint] : [], this.shipped);
    if (match !== this.match) return false;
    [this.trained, this.offered] = [trained, match.game];
    this.seats.offer(match.game, trained);
    element('untrained').hidden = trained.length > 0;
    element('puzzle').hidden = !(board.name in PUZZLES);
    mine.showOwn(board.name);
    this.show();
    return true;
  }

  /** Takes no presses on the board until it is shown again. */
  private lock(): void {
    this.shown = null;
    this.board.lock();
  }

  private showParams(): void {
    const shown = this.match.game.board.params.map(field);
    element('fields').replaceChildren(...shown);
    element('rules').hidden = shown.length === 0;
  }

  /** A new game with the parameters of the form. */
  private newGame(): void {
    try {
      const game = new Game(element<HTMLSelectElement>('game').value, fields());
      complain('');
      announce(t.newGame);
      this.change(new Match(game));
    } catch (error) {
      complain(message(error));
    }
  }

  /** The same game again, with the sides swapped. */
  private rematch(): void {
    this.seats.exchange();
    announce(`${t.newGame}; ${t.swapped}`);
    this.review.clear();
    this.change(new Match(this.match.game, this.match.start));
  }

  /** What the last action shown did. */
  private get last(): Movement {
    return this.match.movement ?? { event: '', steps: [] };
  }

  private seatToMove(): Seat {
    return this.seats.of(this.match.view().mover);
  }

  /** An action chosen on the board or in the list. */
  private act(action: string): void {
    const { match } = this;
    if (this.shown !== match.view().position || !this.seatToMove().isPerson || (match.given && match.isAtEnd)) return;
    this.follow(this.perform(action).then(async (done) => { if (done && !(await this.stopped())) this.next(); }));
  }

  /** Whether the coach stops the game at the move that a person has played, or something else has happened meanwhile. */
  private async stopped(): Promise<boolean> {
    const { match, turn, coach } = this;
    if (!coach.on || this.puzzle?.match === match) return false;
    this.lock();
    element('thinking').textContent = t.coach.judging;
    element('board').dataset['thinking'] = 'true';
    await coach.judge(match, this.analysisAgent());
    if (turn !== this.turn) return true;
    this.halt();
    const ply = match.plies.length - 1;
    const move = coach.of(match, ply);
    if (move?.mark !== '??' && move?.mark !== '?') return false;
    this.show();
    this.advise(true, t.coach.blunder(match.plies[ply]!.action, t.review.name[move.mark] ?? '', lossText(move, match.plies[ply]!.mover)));
    return true;
  }

  /** Shows what a coach says about a move, perhaps that it may be taken back. */
  private advise(canTakeBack: boolean, words: string): void {
    element('advice').hidden = false;
    element('advice-text').textContent = words;
    element('advice-back').hidden = !canTakeBack;
    element('advice-on').textContent = this.puzzle?.match === this.match ? t.html.nextPuzzle : t.html.adviceOn;
    element('advice').scrollIntoView({ block: 'nearest' });
    announce(words);
  }

  /** Puts the next puzzle of the game on the board. */
  private nextPuzzle(): void {
    const { game } = this.match;
    const { name, standard } = game.board;
    const puzzles = PUZZLES[name] ?? [];
    const number = Number(kept(`puzzle.${name}`)) % puzzles.length || 0;
    const [position, move] = puzzles[number] ?? ['', ''];
    const match = new Match(standard ? game : new Game(name, {}), position);
    keep(`puzzle.${name}`, String(number + 1));
    this.puzzle = { match, number, move };
    this.change(match, () => {
      this.seats.seatPerson(match.view().mover);
      this.paused = true;
      this.next();
    });
  }

  /** Says what a puzzle asks, or how its move was. */
  private tellPuzzle(): void {
    const { match, puzzle } = this;
    if (puzzle?.match !== match) return;
    const first = match.plies[0]?.action ?? '';
    const { sides, name } = match.game.board;
    if (match.at === 0) this.advise(false, t.puzzle.ask(puzzle.number + 1, PUZZLES[name]!.length, sideName(sides[match.view().mover === 0 ? 0 : 1])));
    else if (first === puzzle.move) this.advise(false, t.puzzle.right(first));
    else this.advise(true, t.puzzle.wrong(first));
  }

  /** What is proven of who plays a side, with the game that beats it. */
  private proof(side: number): (Node | string)[] {
    const { game } = this.match;
    const moves = beaten(game, side, this.seats.of(side).agent);
    const name = sideName(game.board.sides[side === 0 ? 0 : 1]);
    if (moves === null) return [];
    if (moves.length === 0) return [t.proof.safe(name)];
    const show = make('button', { type: 'button', 'data-side': String(side) }, t.proof.show);
    show.addEventListener('click', () => {
      const match = new Match(game).variation(0, moves);
      match.at = 0;
      this.change(match, () => announce(t.loaded(moves.length)));
    });
    return [t.proof.beaten(name, moves.length), show, ' '];
  }

  /** Keeps a person's game that is over. */
  private keepGame(): void {
    const { match } = this;
    const { you } = this.seats;
    if (you === null || match.plies.length === 0 || this.puzzle?.match === match) return;
    const { outcome } = match.view();
    const winner = match.given ? 1 - match.given.side : outcome?.winner ?? null;
    const opponent = this.seats.of(1 - you);
    const level = match.helped || match.start !== match.game.board.start ? null : opponent.measured;
    mine.add({
      day: new Date().toISOString().slice(0, 10),
      game: match.game.board.name,
      opponent: opponent.label,
      score: winner === null ? 0.5 : winner === you ? 1 : 0,
      moves: match.plies.length,
      address: address.written(match, this.seats.setup),
      level: level && [level.number, level.elo],
    });
    mine.showOwn(match.game.board.name);
  }

  /** Plays an action with its movement; false if something else happened meanwhile. */
  private async perform(action: string): Promise<boolean> {
    const { match } = this;
    const ply = match.play(action);
    const after = match.view();
    const turn = ++this.turn;
    this.player.stop();
    this.lock();
    const name = (side: number): string => sideName(match.game.board.sides[side === 0 ? 0 : 1]);
    this.state(after.position, true);
    const { event, steps } = this.last;
    await this.board.animate(steps);
    if (turn !== this.turn) return false;
    this.show();
    if (match.isOver) this.keepGame();
    const next = match.ending(this.seats.you) || t.toMove(name(after.mover)) + t.task(this.seatToMove().isPerson ? after.task : '');
    announce([t.played(name(ply.mover), action), t.event(event), next].filter((text) => text !== '').join(' '));
    return true;
  }

  /** Lets the agent play whose turn it is. */
  private next(): void {
    this.halt();
    this.show();
    const { match } = this;
    if (match.view().outcome || match.given || !match.isAtEnd || this.offered !== match.game) return;
    this.clocks.start(match.view().mover);
    const agent = this.seatToMove().agent;
    if (!agent && this.coach.on) this.follow(this.coach.judge(match, this.analysisAgent()));
    if (!agent || this.paused) return;
    this.follow(this.answer(agent, match.view().position));
  }

  private async answer(agent: AgentChoice, position: string): Promise<void> {
    const turn = this.turn;
    const { match } = this;
    const status = (text: string): void => { if (turn === this.turn) element('thinking').textContent = text; };
    status(t.thinking);
    element('board').dataset['thinking'] = 'true';
    try {
      const begun = performance.now();
      const choice = await this.player.search(match.game.rules, agent, position, null, (report, progress) => {
        if (report) status(t.thinkingTree(report.visits));
        else if (progress && progress.depth > 0) status(t.thinkingDeep(progress.depth));
      });
      const wait = (this.seats.hasPerson ? 150 : 350) - (performance.now() - begun);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (turn !== this.turn) return;
      status('');
      if (await this.perform(choice.action)) this.next();
    } catch (error) {
      if (error instanceof Stopped || turn !== this.turn) return;
      status('');
      complain(t.agentFault(message(error)));
      this.paused = true;
      this.show();
    }
  }

  /** Ends searches and movements. */
  private halt(): void {
    this.turn++;
    this.player.stop();
    this.clocks.stop();
    element('advice').hidden = true;
    element('thinking').textContent = '';
    element('board').dataset['thinking'] = 'false';
  }

  /** Shows the move that a search takes for the best. */
  private async hint(): Promise<void> {
    const { match, turn } = this;
    const { position, legal, mover } = match.view();
    match.helped = true;
    element('thinking').textContent = t.thinking;
    try {
      const { action, report } = await this.player.search(match.game.rules, this.analysisAgent(), position, HINT, () => undefined);
      if (turn !== this.turn || match !== this.match || position !== match.view().position) return;
      const words = t.hint(action, report ? chanceText(report.proven ?? report.value, mover) : '–');
      element('thinking').textContent = words;
      announce(words);
      const clicks = legal.find((one) => one.action === action)?.clicks ?? [];
      this.board.advise({ clicks, share: 1, label: '', kind: 'advice' } satisfies Hint);
    } catch (error) {
      if (turn !== this.turn || error instanceof Stopped) return;
      element('thinking').textContent = '';
      complain(t.agentFault(message(error)));
    }
  }

  /** Resigns for the person, upon a second press. */
  private resign(): void {
    const button = element('resign');
    if (button.dataset['sure'] !== 'true') {
      button.dataset['sure'] = 'true';
      button.textContent = t.reallyResign;
      setTimeout(() => this.unsure(), RESIGNING);
      return;
    }
    this.unsure();
    this.end('resigned', this.seats.you ?? this.match.view().mover);
  }

  private unsure(): void {
    delete element('resign').dataset['sure'];
    element('resign').textContent = t.html.resign;
  }

  private undo(): void {
    if (this.match.plies.length === 0) return;
    this.halt();
    const { match } = this;
    const person = (ply: number): boolean => this.seats.of(match.view(ply).mover).isPerson;
    let ply = Math.max(0, match.at - 1);
    // Back to a person's turn, if there is one.
    for (let earlier = ply; earlier >= 0; earlier--) {
      if (person(earlier)) {
        ply = earlier;
        break;
      }
    }
    match.cut(ply);
    announce(t.takenBack(ply));
    if (!person(ply)) this.paused = true;
    this.next();
  }

  private goTo(ply: number): void {
    this.halt();
    this.match.at = Math.max(0, Math.min(ply, this.match.plies.length));
    this.show();
    announce(this.match.at === 0 ? t.atStart : t.afterMove(this.match.at, this.match.last?.action ?? ''));
    if (this.match.isAtEnd) this.next();
  }

  /** Plays on from the position shown. */
  private resume(): void {
    this.match.cut(this.match.at);
    this.paused = false;
    this.next();
  }

  private pause(): void {
    this.paused = !this.paused;
    this.next();
  }

  private swap(): void {
    this.match.helped ||= this.match.plies.length > 0;
    this.seats.exchange();
    announce(t.swapped);
    this.next();
  }

  /** Ends the game against a side. */
  private end(why: 'time' | 'resigned', side: number): void {
    this.halt();
    this.match.at = this.match.plies.length;
    this.match.given = { why, side };
    this.show();
    this.keepGame();
    announce(this.match.ending(this.seats.you));
  }

  private setLook(on: boolean): void {
    element('analyse').setAttribute('aria-pressed', String(on));
    this.look.turn(on);
    this.show();
  }

  /** The agent that analyses: the trained one if there is one. */
  private analysisAgent(): AgentChoice {
    const best = this.trained[0];
    element('analyst').textContent = best?.label ?? t.look.playouts;
    return best
      ? { spec: `${TRAINED},sims=${ANALYSIS},method=puct`, network: best.url }
      : { spec: `mcts:sims=${ANALYSIS}`, network: null };
  }

  /** Shows the game that was reviewed, if another line is shown; false if something else has taken its place. */
  private async showReviewed(): Promise<boolean> {
    const { match } = this.review;
    if (!match || this.match.plies.map(({ action }) => action).join() === match.plies.map(({ action }) => action).join()) return true;
    const back = match.variation(match.plies.length);
    const isShown = await this.setGame(back);
    if (isShown) this.goTo(back.plies.length);
    return isShown;
  }

  /** Shows a better line of the reviewed game, to step through and to play on from. */
  private playLine(ply: number, line: string[]): void {
    const reviewed = this.review.match;
    if (!reviewed) return;
    const match = reviewed.variation(ply, line);
    match.at = ply + 1;
    this.change(match, () => {
      this.paused = true;
      this.show();
      announce(t.review.variation(ply + 1));
    });
  }

  private load(text: string, fault: (words: string) => string): void {
    try {
      const match = record.read(text, this.match.game);
      match.helped = true;
      complain('');
      this.change(match, () => {
        this.paused = !this.seatToMove().isPerson;
        this.next();
        announce(t.loaded(match.plies.length));
      });
    } catch (error) {
      complain(fault(message(error)));
    }
  }

  private async openFile(): Promise<void> {
    const input = element<HTMLInputElement>('file');
    const chosen = input.files?.[0];
    input.value = '';
    if (!chosen) return;
    const fault = (words: string): string => t.fileUnreadable(chosen.name, words);
    if (chosen.size > record.LARGEST) complain(fault(t.fileTooLarge));
    else this.load(await chosen.text(), fault);
  }

  private download(): void {
    const { match } = this;
    const day = new Date().toISOString().slice(0, 10);
    record.download(`${match.game.board.name}-${day}.json`, record.text(match, this.seats.labels));
  }

  private state(position: string, moving: boolean): void {
    const { dataset } = element('board');
    dataset['game'] = this.match.game.board.name;
    dataset['position'] = position;
    dataset['ply'] = String(this.match.at);
    dataset['moving'] = String(moving);
  }

  /** Writes the address of what is shown. */
  private keep(): void {
    if (!this.begun) return;
    const { setup } = this.seats;
    const minutes = element<HTMLSelectElement>('minutes').value;
    if (minutes !== '0') setup.push(['clock', minutes]);
    if (this.look.on) setup.push(['analyse', '1']);
    if (this.own?.game === this.match.game.board.name) setup.push(...this.own.pairs);
    address.keep(address.written(this.match, setup), { left: this.clocks.remaining, helped: this.match.helped });
  }

  private show(): void {
    if (this.editor.on) this.editor.end();
    const { match } = this;
    match.helped ||= this.look.on || this.coach.on;
    const view = match.view();
    const { board } = match.game;
    const seat = this.seatToMove();
    const over = match.ending(this.seats.you);
    const open = seat.isPerson && over === '' && this.offered === match.game;
    const mover = sideName(board.sides[view.mover === 0 ? 0 : 1]);
    this.turnBoard();
    const { event, steps } = this.last;
    this.board.show(view, steps, open);
    this.shown = view.position;
    element('event').textContent = t.event(event);
    element('status').textContent = over || (this.seats.you === view.mover ? t.yourMove : t.toMove(mover));
    element('task').textContent = open ? t.task(view.task) : '';
    element('notes').textContent = view.notes.filter(([side]) => side === null).map(([, note]) => note).join('; ');
    this.state(view.position, false);
    element('result').classList.toggle('over', over !== '');
    const { dataset } = element('board');
    [dataset['over'], dataset['mover']] = [String(over !== ''), String(view.mover)];
    element('board').setAttribute('aria-label', t.boardOf(title(board.name), element('status').textContent ?? ''));
    for (const side of [0, 1]) {
      element(`seat${side}`).classList.toggle('turn', !over && view.mover === side);
      const stone = element(`stone${side}`);
      stone.hidden = !hasColours(view.drawing);
      stone.classList.toggle('dark', side === board.dark);
      const notes = view.notes.filter(([of]) => of === side).map(([, note]) => {
        const words = note.replace(/^[^:]*: /, '');
        return side === this.seats.you ? words.replace(/in store$/, t.inYourStore) : words;
      });
      element(`note${side}`).textContent = notes.join('; ');
      const taken = view.captured[side === 0 ? 0 : 1];
      const prey = `stone${side === board.dark ? '' : ' dark'}`;
      element(`taken${side}`).replaceChildren(...Array.from({ length: Math.min(taken, 12) }, () => make('i', { class: prey })));
      element(`taken${side}`).title = taken === 0 ? '' : t.captured(taken);
    }
    this.showButtons(over !== '', open);
    element('position').textContent = view.position;
    this.showMoves();
    showLegal(match, open ? view.legal.map(({ action }) => action) : [], (action) => this.act(action));
    this.look.follow(match, this.analysisAgent());
    element('proofs').replaceChildren(...[0, 1].flatMap((side) => this.proof(side)));
    this.review.draw(match.at);
    this.tellPuzzle();
    this.keep();
  }

  /** Shows the board from the side of the only person, or as it was turned by hand. */
  private turnBoard(): void {
    const isBelow = (this.seats.you === 1) === this.flipped;
    const isWide = this.match.game.board.stores.every((store) => store !== null);
    this.board.turn((isWide && this.upright.matches ? 90 : 0) + (isBelow ? 0 : 180));
    element('seat0').parentElement?.classList.toggle('flipped', !isBelow);
  }

  private showButtons(over: boolean, open: boolean): void {
    const { match } = this;
    const button = (id: string): HTMLButtonElement => element<HTMLButtonElement>(id);
    const persons = this.seats.hasPerson;
    button('undo').disabled = match.plies.length === 0;
    button('hint').disabled = !open;
    button('hint').hidden = button('resign').hidden = over || !persons;
    button('resign').disabled = match.plies.length === 0 || !match.isAtEnd;
    button('first').disabled = button('back').disabled = match.at === 0;
    button('on').disabled = button('last').disabled = match.isAtEnd;
    button('resume').hidden = match.isAtEnd && !(this.paused && !this.seatToMove().isPerson && !over);
    button('pause').hidden = persons || over || this.paused;
    button('swap').hidden = over;
    button('rematch').hidden = !over;
    button('review-start').hidden = !match.isOver || match.plies.length === 0;
    const { match: reviewed } = this.review;
    button('back-to-game').hidden = !reviewed || reviewed.plies.every(({ action }, i) => action === match.plies[i]?.action);
  }

  private showMoves(): void {
    const { match } = this;
    for (const side of [0, 1]) {
      const lost = this.coach.lost(match, side);
      element(`lost${side}`).textContent = lost === null ? '' : t.coach.lost(lost);
    }
    showMoves(match, (ply) => {
      return this.review.quality(match, ply) ?? this.coach.quality(match, ply) ?? this.look.quality(match.positionAt(ply), match.plies[ply]!.action);
    });
  }

  private showClocks(left: [number, number] | null): void {
    for (const side of [0, 1] as const) element(`clock${side}`).textContent = left ? clockText(left[side]) : '';
  }

  /** What tests look at. */
  get hooks(): Record<string, unknown> {
    const agent = (name: string, spec: string): AgentChoice => ({ spec, network: new URL(`agents/${name}.safetensors`, document.baseURI).href });
    return {
      /** What the page shows of positions, what an agent's network says of them, and what it plays. */
      answers: async (name: string, positions: string[], spec: string) => {
        const [game, plays] = [new Game(name, {}), agent(name, spec)];
        const predictions = await this.analyst.predict(game.rules, plays, positions);
        const actions: string[] = [];
        for (const position of positions) actions.push((await this.analyst.search(game.rules, plays, position, null, () => undefined)).action);
        return positions.map((position, i) => [game.text(position), predictions[i], actions[i]]);
      },
      rate: (name: string, milliseconds: number, spec: string) => {
        const game = new Game(name, {});
        return this.analyst.rate(game.rules, agent(name, spec), game.board.start, milliseconds);
      },
      positions: () => [this.match.start, ...this.match.plies.map((ply) => ply.position)],
      moves: () => this.match.plies.map((ply) => ply.action),
      /** The moves as files have them. */
      written: () => this.match.plies.map((ply) => ply.written),
      /** The position that the game starts with, if it is not the game's own. */
      start: () => (this.match.start === this.match.game.board.start ? null : this.match.start),
      /** The position of the game, and that of the board while nothing moves. */
      stored: () => [this.match.view().position, this.shown],
      legal: () => this.match.view().legal,
      agents: () => [0, 1].map((side) => this.seats.of(side).agent),
    };
  }
}

async function start(): Promise<void> {
  const query = address.asked(location);
  fillTexts();
  restoreTheme();
  try {
    const app = new App(await load());
    // A visit without an address shows the game that was left.
    const last = [...query.keys()].length === 0 ? address.left() : null;
    await app.begin(last ? address.asked(last) : query, last !== null);
    Object.assign(window, { turnstone: app.hooks });
    document.body.dataset['ready'] = 'true';
  } catch (error) {
    complain(t.cannotStart(message(error)));
  }
  if ('serviceWorker' in navigator && isSecureContext) {
    // Without it the page works, only not offline.
    navigator.serviceWorker.register('offline.js').catch(() => undefined);
  }
}

void start();
