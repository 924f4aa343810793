// A person's own games, kept in the browser, and a rating by the results against levels.

import { element, make } from './dom.js';
import { title } from './rules.js';
import { keep, kept } from './settings.js';
import { t } from './texts.js';

/** Games that are kept. */
const MOST = 100;

/** A game that is over. */
export interface Own {
  day: string;
  game: string;
  opponent: string;
  /** 1 for a win, 0.5 for a draw. */
  score: number;
  moves: number;
  address: string;
  /** The level that was played, and its Elo; null where the game says nothing about the strength of the person. */
  level: [number: number, elo: number] | null;
}

/** The games that are kept, the oldest first. What else the browser holds under this name is left out. */
function games(): Own[] {
  try {
    const list = JSON.parse(kept('games') ?? '[]') as Own[];
    return list.filter(({ game, opponent, address, score, moves, level }) =>
      [game, opponent, address].every((one) => typeof one === 'string') && [score, moves, ...(level ?? [])].every(Number.isFinite) && address.startsWith('?'));
  } catch {
    return [];
  }
}

/** Keeps a game. */
export const add = (own: Own): void => keep('games', JSON.stringify([...games(), own].slice(-MOST)));

/** Forgets all games. */
export const forget = (): void => keep('games', '[]');

/** The Elo under which results are as expected. A draw with the first opponent is added, so that one win is not boundless. */
export function rating(results: { elo: number; score: number }[]): number {
  const all = [{ elo: results[0]?.elo ?? 0, score: 0.5 }, ...results];
  const surplus = (own: number): number => all.reduce((sum, { elo, score }) => sum + score - 1 / (1 + 10 ** ((elo - own) / 400)), 0);
  let [low, high] = [-4000, 8000];
  while (high - low > 1) {
    const middle = (low + high) / 2;
    [low, high] = surplus(middle) > 0 ? [middle, high] : [low, middle];
  }
  return Math.round(low / 10) * 10;
}

const leveled = (game: string): (Own & { level: [number, number] })[] =>
  games().flatMap((own) => (own.game === game && own.level ? [{ ...own, level: own.level }] : []));

/** The level, of so many, for who has these results: one more after a win, one less after a loss. */
export function nextLevel(game: string, most: number): number {
  const last = leveled(game).at(-1);
  return last ? Math.max(1, Math.min(most, last.level[0] + Math.sign(last.score - 0.5))) : 1;
}

/** Shows the games, and the rating in the game on the board. */
export function showOwn(game: string): void {
  const results = leveled(game).map(({ level: [, elo], score }) => ({ elo, score }));
  element('rating').textContent = results.length === 0 ? '' : t.own.rating(title(game), rating(results), results.length);
  const all = games().toReversed();
  element('own').hidden = all.length === 0;
  element('own-games').replaceChildren(...all.map((own) =>
    make('li', {}, make('a', { href: own.address }, t.own.game(title(own.game), own.score, own.opponent, own.moves)), ` ${own.day}`)));
}
