// How good a move was: what it lost of its player's chance to win, and the mark for that.

import { chanceOf } from './texts.js';
import type { ExactValues, Report } from './types.js';

export type Mark = '??' | '?' | '?!' | '!' | '';

/** Losses of the chance to win, between 0 and 1, from which a move has a mark, as in `turnstone review`. */
const LOSSES: [Mark, number][] = [['??', 0.2], ['?', 0.1], ['?!', 0.05]];

/** What every other move has to lose at least for a move to be the only one. */
const ONLY = 0.1;

export interface Verdict {
  mark: Mark;
  loss: number;
  /** The best action and what is expected after it, which begins with it. */
  best: string;
  line: string[];
  isExact: boolean;
}

const markOf = (loss: number): Mark => LOSSES.find(([, least]) => loss >= least - 1e-6)?.[0] ?? '';

/** By exact values: half a point lost is a mistake, a whole one a blunder. */
export function exactVerdict({ actions }: ExactValues, action: string, mover: number, line: string[]): Verdict {
  const chances = new Map(actions.map((one) => [one.action, chanceOf(one.value, mover)]));
  const best = Math.max(...chances.values());
  const loss = best - (chances.get(action) ?? best);
  const others = [...chances].filter(([other]) => other !== action).map(([, chance]) => chance);
  const isOnly = others.length > 0 && others.every((chance) => best - chance >= ONLY);
  // The line of a search is kept where it begins with a move that is the best exactly, too.
  const first = line[0] !== undefined && chances.get(line[0]) === best ? line[0] : [...chances].find(([, chance]) => chance === best)?.[0];
  return {
    mark: loss >= 1 ? '??' : loss > 0 ? '?' : isOnly ? '!' : '',
    loss,
    best: first ?? action,
    line: first === line[0] ? line : [first ?? action],
    isExact: true,
  };
}

/** By a search from the position before the action; `after` is the value for player 1 of the position after it. */
export function searchVerdict(report: Report, action: string, mover: number, after: number): Verdict {
  const best = report.actions[0];
  const before = report.proven ?? report.value;
  const isBest = best?.action === action;
  const loss = isBest ? 0 : Math.max(0, chanceOf(before, mover) - chanceOf(after, mover));
  const others = report.actions.filter((one) => one.action !== action);
  // A move that the search did not try was not worth a look to the network.
  const loses = (one: Report['actions'][number]): boolean =>
    one.visits === 0 && one.proven === null ? one.prior < 0.02 : chanceOf(before, mover) - chanceOf(one.proven ?? one.value, mover) >= ONLY;
  const isOnly = isBest && others.length > 0 && others.every(loses);
  return { mark: isOnly ? '!' : markOf(loss), loss, best: best?.action ?? action, line: best?.line ?? [action], isExact: false };
}
