// The game on the board as a list of plies, its text, and reading it back.

import { Game } from './rules.js';
import type { View } from './types.js';

export interface Ply {
  action: string;
  clicks: number[];
  mover: number;
  /** The position after it. */
  position: string;
}

export class Match {
  plies: Ply[] = [];
  /** The number of plies that are shown. */
  at = 0;

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

  /** The last ply shown. */
  get last(): Ply | null {
    return this.plies[this.at - 1] ?? null;
  }

  /** Plays a legal action in the position shown; later plies are dropped. */
  play(action: string): Ply {
    const before = this.view();
    const legal = before.legal.find((one) => one.action === action);
    if (!legal) throw new Error(`${action} is not legal here`);
    const position = this.game.play(before.position, action);
    const ply = { action, clicks: legal.clicks, mover: before.mover, position };
    this.cut(this.at);
    this.plies.push(ply);
    this.at += 1;
    return ply;
  }

  /** Drops the plies after the first `plies`. */
  cut(plies: number): void {
    this.plies.length = Math.min(this.plies.length, plies);
    this.at = Math.min(this.at, this.plies.length);
  }

  /** The game as text: rules, starting position if it is another, and moves. */
  text(): string {
    const { board } = this.game;
    const params = board.params.filter(({ value, default: own }) => value !== own).map(({ key, value }) => `${key}=${value}`);
    const lines = [['game', board.name, ...params].join(' ')];
    if (this.start !== board.start) lines.push(`position ${this.start}`);
    lines.push(['moves', ...this.plies.map((ply) => ply.action)].join(' '));
    return lines.join('\n');
  }
}

/** Reads a position, a list of moves from the start, or a game as `Match.text` writes it. */
export function read(text: string, current: Game): Match {
  const trimmed = text.trim();
  if (trimmed === '') throw new Error('there is no text to read');
  const lines = trimmed.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '');
  const words = (line: string | undefined): string[] => (line ?? '').split(/\s+/).slice(1);
  const line = (word: string): string | undefined => lines.find((one) => one === word || one.startsWith(`${word} `));
  if (!line('game') && !line('moves') && !line('position')) {
    let fault: unknown;
    try {
      return new Match(current, current.view(trimmed).position);
    } catch (error) {
      fault = error;
    }
    try {
      return played(new Match(current), trimmed.split(/\s+/));
    } catch {
      throw fault;
    }
  }
  const [name, ...settings] = words(line('game'));
  const params = Object.fromEntries(
    settings.map((setting) => {
      const [key, value] = setting.split('=');
      if (!key || value === undefined) throw new Error(`\`${setting}\` is no parameter: expected key=value`);
      return [key, value];
    }),
  );
  const game = name === undefined ? current : new Game(name, params);
  const position = line('position')?.slice('position'.length).trim();
  return played(new Match(game, position === undefined ? game.board.start : game.view(position).position), words(line('moves')));
}

function played(match: Match, moves: string[]): Match {
  for (const [number, move] of moves.entries()) {
    try {
      match.play(move);
    } catch (error) {
      throw new Error(`move ${number + 1}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return match;
}

/** The end of a game in words. */
export function ending(view: View, sides: [string, string]): string {
  if (!view.outcome) return '';
  const { winner, truncated, margin } = view.outcome;
  if (winner === null) return truncated ? 'drawn by the limit of plies' : 'drawn';
  return `${sides[winner] ?? ''} has won${margin > 0 ? ` by ${margin}` : ''}`;
}
