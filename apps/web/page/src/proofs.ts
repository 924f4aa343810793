// What `turnstone certify` has proven of the trained agents without search: they cannot be beaten, or this is how.

import { pretrained } from './players.js';
import type { Game } from './rules.js';
import type { AgentChoice } from './types.js';

/** By game and the agent's side: a shortest game that it loses, or nothing where every line of the opponent was tried in vain. */
const PROOFS: Record<string, [first: string, second: string]> = {
  mu_torere: ['', ''],
  mancala: ['B4 B7 A3 B3 B7 B2 A4 B5 A7 B3 A3 B6 A4 B7 A5 B2 A7', 'B4 B7 A5 B3 A4 B3 A6 A3 B4 B3 A5 B2 A7 B3 A2 B2'],
};

/** The moves by which an agent is beaten on a side, none if it cannot be beaten; `null` where that is not known. */
export function beaten({ board }: Game, side: number, agent: AgentChoice | null): string[] | null {
  const isProven = agent?.spec === 'az:pretrained,sims=0' && agent.network === pretrained(board.name) && board.standard;
  const moves = isProven ? PROOFS[board.name]?.[side === 0 ? 0 : 1] : undefined;
  return moves === undefined ? null : moves.split(' ').filter((move) => move !== '');
}
