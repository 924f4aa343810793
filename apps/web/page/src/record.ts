// Games as texts and files: written, and read back.

import { announce, element } from './dom.js';
import { Match } from './match.js';
import { Game } from './rules.js';
import { t } from './texts.js';

/** Bytes of the largest file that is read. */
export const LARGEST = 1_000_000;

/** Moves of the longest game that is read: the page is busy for a millisecond with each. */
export const MOST_MOVES = 1000;

/** The parameters of a game that are not the standard ones. */
export const changed = ({ board }: Game): [string, string][] =>
  board.params.filter(({ value, default: own }) => value !== own).map(({ key, value }) => [key, value]);

/** The game as text, in the format of `save` in `turnstone play`. */
export function text(match: Match, players: [string, string]): string {
  const { board } = match.game;
  const { position, outcome } = match.view(match.plies.length);
  const winner = outcome && (outcome.winner === null ? 'draw' : `player${outcome.winner + 1}`);
  return `${JSON.stringify({
    game: board.name,
    params: Object.fromEntries(board.params.map(({ key, value }) => [key, value])),
    players,
    start: match.start,
    moves: match.plies.map(({ written }) => written),
    position,
    outcome: winner,
    margin: outcome && (outcome.winner === 1 ? -outcome.margin : outcome.margin),
    truncated: outcome?.truncated ?? false,
    ...(match.given?.why === 'resigned' ? { resigned: match.given.side + 1 } : {}),
  })}\n`;
}

/** Reads a position, a list of moves from the start, or a game as `text` writes it. */
export function read(source: string, current: Game): Match {
  const trimmed = source.trim();
  if (trimmed === '') throw new Error(t.noText);
  if (trimmed.length > LARGEST) throw new Error(t.fileTooLarge);
  if (trimmed.startsWith('{')) return readGame(trimmed);
  const moves = trimmed.split(/\s+/);
  if (moves.length > MOST_MOVES) throw new Error(t.tooLong(moves.length, MOST_MOVES));
  let fault: unknown;
  try {
    return new Match(current, current.view(trimmed).position);
  } catch (error) {
    fault = error;
  }
  try {
    return played(new Match(current), moves);
  } catch {
    throw fault;
  }
}

function readGame(source: string): Match {
  const record = JSON.parse(source) as Record<string, unknown>;
  const { game: name, params, start, moves, resigned } = record;
  const isText = (one: unknown): one is string => typeof one === 'string';
  if (!isText(name) || !Array.isArray(moves) || !moves.every(isText)) throw new Error(t.noGameFile);
  const rules = Object.entries((params ?? {}) as Record<string, unknown>).map(([key, value]) => [key, String(value)]);
  const game = new Game(name, Object.fromEntries(rules) as Record<string, string>);
  const match = played(new Match(game, isText(start) ? game.view(start).position : game.board.start), moves);
  if ((resigned === 1 || resigned === 2) && !match.isOver) match.given = { why: 'resigned', side: resigned - 1 };
  return match;
}

/** Plays moves, of which there may be `MOST_MOVES`. */
function played(match: Match, moves: string[]): Match {
  if (moves.length > MOST_MOVES) throw new Error(t.tooLong(moves.length, MOST_MOVES));
  for (const [number, move] of moves.entries()) {
    try {
      match.play(move);
    } catch (error) {
      throw new Error(t.moveFault(number + 1, error instanceof Error ? error.message : String(error)));
    }
  }
  return match;
}

/** Hands a text to the person as a file. */
export function download(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/json' }));
  const link = document.createElement('a');
  [link.href, link.download] = [url, name];
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Copies a text, or selects it where the browser does not let the page copy. */
export function copy(text: string, what: keyof typeof t.copied): void {
  const area = element<HTMLTextAreaElement>('text');
  area.value = text;
  const done = (): void => announce(t.copied[what]);
  const selected = (): void => {
    area.focus();
    area.select();
    announce(t.selected[what]);
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, selected);
  else selected();
}
