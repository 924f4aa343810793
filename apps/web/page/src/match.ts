// The game on the board as a list of plies, and its end.

import { Game } from './rules.js';
import { t, sideName } from './texts.js';
import type { Movement, View } from './types.js';

export interface Ply {
  /** The action as people see it, and as files have it. */
  action: string;
  written: string;
  clicks: number[];
  mover: number;
  /** The position after it. */
  position: string;
  /** What it did, once that was asked for. */
  movement?: Movement;
}

/** An end that is not in the rules: the side that resigned, or whose time ran out. */
export interface Given {
  why: 'time' | 'resigned';
  side: number;
}

/** Whether a line begins with another. */
const begins = (short: Ply[], long: Ply[]): boolean => short.every(({ action }, ply) => action === long[ply]?.action);

export class Match {
  plies: Ply[] = [];
  /** The number of plies that are shown. */
  at = 0;
  given: Given | null = null;
  /** Whether the game says nothing about the strength of who plays it: moves were taken back, or somebody helped. */
  helped = false;
  /** Lines that were left, each whole from the start: the branches of the tree that are not on the board. */
  others: Ply[][] = [];

  constructor(readonly game: Game, readonly start: string = game.board.start) {}

  positionAt(ply: number): string {
    return ply === 0 ? this.start : (this.plies[ply - 1]?.position ?? this.start);
  }

  view(ply = this.at): View {
    return this.game.view(this.positionAt(ply));
  }

  get isAtEnd(): boolean {
    return this.at === this.plies.length;
  }

  /** Whether the game is over, at its last ply. */
  get isOver(): boolean {
    return this.given !== null || this.view(this.plies.length).outcome !== null;
  }

  /** The last ply shown. */
  get last(): Ply | null {
    return this.plies[this.at - 1] ?? null;
  }

  /** What the last ply shown did. */
  get movement(): Movement | null {
    const { last } = this;
    if (!last) return null;
    last.movement ??= this.game.movement(this.positionAt(this.at - 1), last.action);
    return last.movement;
  }

  /** Plays a legal action in the position shown, given as people see it or as files have it; later plies are dropped. */
  play(text: string): Ply {
    const before = this.view();
    const legal = before.legal.find(({ action }) => action === text) ?? before.legal.find(({ written }) => written === text);
    if (!legal) throw new Error(t.illegal(text));
    const position = this.game.play(before.position, legal.action);
    const ply = { ...legal, mover: before.mover, position };
    this.cut(this.at);
    this.plies.push(ply);
    this.at += 1;
    return ply;
  }

  /** Drops the plies after the first `plies`. */
  cut(plies: number): void {
    if (plies < this.plies.length) {
      this.given = null;
      this.helped = true;
      this.leave();
    }
    this.plies.length = Math.min(this.plies.length, plies);
    this.at = Math.min(this.at, this.plies.length);
  }

  /** Keeps the line on the board as a branch. */
  private leave(): void {
    const line = [...this.plies];
    if (this.others.some((other) => begins(line, other))) return;
    this.others = [...this.others.filter((other) => !begins(other, line)), line];
  }

  /** The lines that leave the one on the board after `ply` plies. */
  branches(ply: number): Ply[][] {
    const before = this.plies.slice(0, ply);
    return this.others.filter((line) => line.length > ply && begins(before, line) && line[ply]?.action !== this.plies[ply]?.action);
  }

  /** Puts another line on the board, at the move with which it leaves this one. */
  take(line: Ply[]): void {
    this.leave();
    const parting = line.findIndex(({ action }, ply) => action !== this.plies[ply]?.action);
    [this.plies, this.at, this.given] = [[...line], parting + 1, null];
  }

  /** The game up to a ply, and from there with other actions. */
  variation(ply: number, line: string[] = []): Match {
    const match = new Match(this.game, this.start);
    match.plies = this.plies.slice(0, ply);
    match.at = ply;
    match.helped = true;
    match.others = [...this.others, this.plies];
    for (const action of line) match.play(action);
    if (line.length === 0 && ply === this.plies.length) match.given = this.given;
    return match;
  }

  /** How the game ended, for the person on `you` if only one side is a person's; empty while it runs. */
  ending(you: number | null): string {
    const { sides } = this.game.board;
    const name = (side: number): string => sideName(sides[side === 0 ? 0 : 1]);
    if (this.given && this.isAtEnd) {
      const { why, side } = this.given;
      if (why === 'time') return t.lostOnTime(name(side));
      return side === you ? t.youResigned(name(1 - side)) : t.resigned(name(side), name(1 - side));
    }
    const view = this.view();
    const { outcome } = view;
    if (!outcome) return '';
    const { winner, truncated, margin } = outcome;
    const because = (end: string): string => (view.reason === '' ? end : t.because(view.reason, end));
    if (winner === null) return because(truncated ? t.drawnByLimit : t.drawn);
    if (you === null) return because(t.won(name(winner), margin));
    return because(winner === you ? t.youWon(margin) : t.youLost(name(winner), margin));
  }
}
