// The coach: what each move of a game cost as it is played. It stops at a blunder, which may be taken back.

import { Stopped, type Engine } from './engine.js';
import type { Match } from './match.js';
import type { AgentChoice, Quality, ReviewedMove } from './types.js';

/** Simulations per position. */
const SIMULATIONS = 200;

/** Moves that are judged at once at most. */
const MOST = 12;

export class Coach {
  on = false;
  private readonly judged = new Map<string, ReviewedMove>();

  constructor(private readonly engine: Engine, private readonly changed: () => void) {}

  private key(match: Match, ply: number): string {
    return [match.game.rules.game, match.game.rules.params, match.positionAt(ply), match.plies[ply]?.action].join('|');
  }

  /** What is known of a move, by its number from 0. */
  of(match: Match, ply: number): ReviewedMove | undefined {
    return this.on ? this.judged.get(this.key(match, ply)) : undefined;
  }

  quality(match: Match, ply: number): Quality | null {
    const move = this.of(match, ply);
    return move ? { mark: move.mark, keeps: move.source === 'exact' && move.loss === 0 } : null;
  }

  /** Points that a side has lost by the moves up to the one shown, where a won game is a point; null while none is judged. */
  lost(match: Match, side: number): number | null {
    const moves = match.plies.slice(0, match.at).flatMap(({ mover }, ply) => (mover === side ? (this.of(match, ply) ?? []) : []));
    return moves.length === 0 ? null : moves.reduce((sum, { loss }) => sum + loss, 0);
  }

  /** Judges the last moves that are not judged; false if something else has ended that. */
  async judge(match: Match, agent: AgentChoice): Promise<boolean> {
    const plies = match.plies.length;
    let first = plies;
    while (first > 0 && first > plies - MOST && !this.of(match, first - 1)) first--;
    if (first === plies) return true;
    const keys = match.plies.map((_, ply) => this.key(match, ply)).slice(first);
    const moves = match.plies.slice(first).map(({ action }) => action).join(' ');
    const told = (reviewed: { moves: ReviewedMove[] }): void => reviewed.moves.forEach((move, i) => this.judged.set(keys[i] ?? '', move));
    try {
      told(await this.engine.review(match.game.rules, agent, match.positionAt(first), moves, SIMULATIONS, told));
    } catch (error) {
      if (error instanceof Stopped) return false;
      throw error;
    }
    this.changed();
    return true;
  }
}
