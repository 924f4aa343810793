// The address of the page: the set-up in its query, and the game in its fragment, which no server sees.
//
//     ?game=konane&param.size=6&p1=human&p2=level:1#moves=xa6+xb6

import { Match } from './match.js';
import { MOST_MOVES, changed } from './record.js';
import { t } from './texts.js';

/** Longest fragment: what programs still take as a link. Longer games are shared as their position. */
const LONGEST = 4000;

/** What of a game its address does not say: the clocks, and whether somebody helped. */
export interface Unsaid {
  left: [number, number] | null;
  helped: boolean;
}

type Pairs = [string, string][];

/** As browsers encode a query, but with the characters that games' texts are full of left readable. */
const encoded = (pairs: Pairs): string =>
  pairs.map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll('%20', '+').replace(/%(2C|2F|3A)/g, decodeURIComponent)}`).join('&');

/** What the address says, in its query and its fragment. */
export const asked = ({ search, hash }: { search: string; hash: string }): URLSearchParams =>
  new URLSearchParams(`${search.slice(1)}&${hash.includes('=') ? hash.slice(1) : ''}`);

/** The address of a game: `setup` are the pairs for players, clock and analysis. */
export function written(match: Match, setup: Pairs): string {
  const { board } = match.game;
  const query: Pairs = [['game', board.name], ...changed(match.game).map(([key, value]): [string, string] => [`param.${key}`, value]), ...setup];
  const game: Pairs = [];
  if (match.start !== board.start) game.push(['position', match.start]);
  if (match.plies.length > 0) game.push(['moves', match.plies.map(({ action }) => action).join(' ')]);
  if (!match.isAtEnd) game.push(['at', String(match.at)]);
  if (match.given) game.push(['end', `${match.given.why}${match.given.side + 1}`]);
  let fragment = encoded(game);
  if (fragment.length > LONGEST) fragment = encoded([['position', match.view().position]]);
  return `?${encoded(query)}${fragment === '' ? '' : `#${fragment}`}`;
}

/** The game of an address, from its start; faults are told and end the game before them. */
export function played(match: Match, query: URLSearchParams, tell: (fault: string) => void): Match {
  const position = query.get('position');
  let shown = match;
  const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  if (position !== null) {
    try {
      shown = new Match(match.game, match.game.view(position).position);
    } catch (error) {
      tell(t.address.position(words(error)));
      return match;
    }
  }
  const moves = (query.get('moves') ?? '').split(/\s+/).filter((move) => move !== '');
  if (moves.length > MOST_MOVES) {
    tell(t.address.tooLong(t.tooLong(moves.length, MOST_MOVES)));
    return shown;
  }
  for (const [i, move] of moves.entries()) {
    try {
      shown.play(move);
    } catch (error) {
      tell(t.address.moves(t.moveFault(i + 1, words(error))));
      return shown;
    }
  }
  const end = /^(time|resigned)([12])$/.exec(query.get('end') ?? '');
  if (end && !shown.isOver) shown.given = { why: end[1] as 'time' | 'resigned', side: Number(end[2]) - 1 };
  const at = Number(query.get('at') ?? shown.plies.length);
  if (Number.isInteger(at) && at >= 0) shown.at = Math.min(at, shown.plies.length);
  return shown;
}

/** Keeps the address, and in the browser's history what it does not say. `last` is for a visit without an address. */
export function keep(address: string, state: Unsaid): void {
  try {
    if (address !== `${location.search}${location.hash}` || JSON.stringify(history.state) !== JSON.stringify(state)) {
      history.replaceState(state, '', address);
    }
    localStorage.setItem('last', address);
  } catch {
    // Browsers limit how often an address may change, and pages from files have none of their own.
  }
}

/** The game that was left, as an address. */
export function left(): { search: string; hash: string } | null {
  try {
    const last = localStorage.getItem('last');
    if (!last) return null;
    const { search, hash } = new URL(last, 'http://localhost/');
    return { search, hash };
  } catch {
    return null;
  }
}
