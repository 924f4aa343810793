// Who plays: a person, or an agent with a strength. The choices follow from the game.

import { make } from './dom.js';
import { networkFile } from './engine.js';
import { nextLevel } from './mine.js';
import type { Game } from './rules.js';
import { t } from './texts.js';
import type { AgentChoice, Level } from './types.js';

export interface Checkpoint {
  label: string;
  url: string;
}

/** A checkpoint as an agent: in integers where they are faster. Levels play as they were measured, in floats. */
export const TRAINED = 'az:pretrained,precision=auto';

/** Who sits where on a first visit; where nothing plays by levels, the first agent that can play. */
export const FIRST_PLAYERS = ['human', 'level'] as const;

/** Simulations of the trained agent at full strength when it is chosen. */
const FULL = '200';

/** A strength as it is offered: value in addresses, words, and more words for who asks. */
type Strength = [value: string, label: string, title?: string];

/** Strengths by kind of player, but for levels. */
const strengths = (): Record<string, Strength[]> => ({
  // Without measured levels: one that draws from the network's policy, where the best move is likely and a bad one happens.
  az: [
    ['beginner', t.strengths.beginner], ['0', t.strengths.instinct], ['16', t.strengths.medium], ['64', t.strengths.advanced],
    ['200', t.strengths.strong], ['800', t.strengths.expert], ['3200', t.strengths.master],
  ],
  full: ['0', '16', '64', '200', '800', '3200'].map((simulations, i) => [simulations, t.strengths.thinks[i] ?? simulations]),
  alphabeta: ['2', '4', '6', '8', '10'].map((plies) => [plies, t.strengths.ahead(plies)]),
  mcts: [100, 1000, 10_000, 50_000].map((playouts) => [String(playouts), t.strengths.playouts(playouts)]),
});

/** The agent's file for a game, on any web server. */
export const pretrained = (game: string): string => new URL(`agents/${game}.safetensors`, document.baseURI).href;

/** What of an address a seat does not have. */
export type Unknown = 'player' | 'level' | null;

/** Two selects for one seat. */
export class Seat {
  readonly kind: HTMLSelectElement;
  readonly level: HTMLSelectElement;
  private game = '';
  private checkpoints: Checkpoint[] = [];
  private levels: Level[] = [];
  /** What was asked for: it comes back with a game that has it. */
  private wanted = '';
  private readonly strengths = new Map<string, string>();

  constructor(kind: HTMLSelectElement, level: HTMLSelectElement, changed: () => void) {
    this.kind = kind;
    this.level = level;
    kind.addEventListener('change', () => {
      this.wanted = kind.value;
      this.fillLevels();
      changed();
    });
    level.addEventListener('change', () => {
      this.strengths.set(kind.value, level.value);
      this.explain();
      changed();
    });
  }

  /** Offers what can play the game; `trained` are its checkpoints. */
  offer({ board }: Game, trained: Checkpoint[], first: string): void {
    [this.game, this.checkpoints] = [board.name, trained];
    const isShipped = trained.some(({ url }) => url === pretrained(board.name));
    this.levels = board.levels.filter(({ network }) => isShipped || !network);
    const option = (value: string, label: string): HTMLElement => make('option', { value }, label);
    const { human, level, adapts, full, alphabeta, mcts, random } = t.players;
    this.kind.replaceChildren(
      option('human', human),
      ...(this.levels.length > 0 ? [option('level', level), option('adapts', adapts)] : []),
      ...trained.map(({ label, url }, i) => option(`az${i}`, this.hasLevels(url) ? full : label)),
      ...(board.heuristics.length > 0 ? [option('alphabeta', alphabeta)] : []),
      option('mcts', mcts),
      option('random', random),
    );
    const values = [...this.kind.options].map(({ value }) => value);
    const wanted = this.wanted || first;
    this.kind.value = values.includes(wanted) ? wanted : (values.find((value) => value !== 'human') ?? 'random');
    this.fillLevels();
  }

  /** Chooses a player, such as `az` or `level:3`, and, if it is given, a strength. */
  set(asked: string, strength: string | null): Unknown {
    const [kind = '', number] = asked.split(':');
    const values = [...this.kind.options].map(({ value }) => value);
    const known = kind === 'az' ? values.find((value) => value.startsWith('az')) : values.find((value) => value === kind);
    // Where there is no trained agent an address that asks for one gets what plays in its place.
    const value = known ?? (/^(az|level|adapts)/.test(kind) ? values.find((one) => one !== 'human') : undefined);
    if (value === undefined || (number !== undefined && kind !== 'level')) return 'player';
    this.wanted = known ?? kind;
    this.kind.value = value;
    this.fillLevels();
    const level = number ?? strength;
    if (level === null || level === '' || value !== known) return null;
    if (![...this.level.options].some((option) => option.value === level)) return 'level';
    this.level.value = level;
    this.strengths.set(value, level);
    this.explain();
    return null;
  }

  /** Player and strength as an address has them. */
  get asked(): [kind: string, strength: string] {
    const kind = this.kind.value;
    if (kind === 'level') return [`level:${this.level.value}`, ''];
    if (kind === 'adapts') return [kind, ''];
    return [kind === 'az0' ? 'az' : kind, this.level.hidden ? '' : this.level.value];
  }

  get isPerson(): boolean {
    return this.kind.value === 'human';
  }

  get label(): string {
    const level = this.level.selectedOptions[0]?.textContent;
    const name = this.kind.selectedOptions[0]?.textContent ?? '';
    return level && !this.level.hidden ? `${name}, ${level}` : name;
  }

  /** The measured level that plays. */
  get measured(): Level | null {
    return ['level', 'adapts'].includes(this.kind.value) ? (this.levels.find(({ number }) => String(number) === this.level.value) ?? null) : null;
  }

  /** The agent that plays; `null` for a person. */
  get agent(): AgentChoice | null {
    const [kind, strength] = [this.kind.value, this.level.value];
    if (kind === 'human') return null;
    if (kind === 'random') return { spec: 'random', network: null };
    if (kind === 'alphabeta') return { spec: `alphabeta:depth=${strength},hash=16`, network: null };
    if (kind === 'mcts') return { spec: `mcts:sims=${strength}`, network: null };
    const { measured } = this;
    if (measured) return { spec: measured.agent, network: measured.network ? pretrained(this.game) : null };
    // In floats, as it was certified.
    if (this.scale === 'full' && strength === '0') return { spec: 'az:pretrained,sims=0', network: pretrained(this.game) };
    const search = strength === 'beginner' ? 'sims=0,temperature=2' : `sims=${strength}`;
    return { spec: `${TRAINED},${search}`, network: this.checkpoints[Number(kind.slice(2))]?.url ?? '' };
  }

  /** Whether an agent's weaker strengths are the game's levels. */
  private hasLevels(url: string): boolean {
    return url === pretrained(this.game) && this.levels.length > 0;
  }

  /** Which strengths are offered. */
  private get scale(): string {
    const kind = this.kind.value;
    const url = kind.startsWith('az') ? this.checkpoints[Number(kind.slice(2))]?.url : undefined;
    return url === undefined ? kind : this.hasLevels(url) ? 'full' : 'az';
  }

  private offered(): Strength[] {
    const { scale, levels } = this;
    if (scale !== 'level' && scale !== 'adapts') return strengths()[scale] ?? [];
    const last = nextLevel(this.game, levels.length);
    return (scale === 'level' ? levels : levels.slice(last - 1, last)).map(({ number, elo }) => [String(number), t.strengths.level(number), t.strengths.measured(elo)]);
  }

  private fillLevels(): void {
    const offered = this.offered();
    this.level.replaceChildren(...offered.map(([value, label, title]) => make('option', { value, ...(title ? { title } : {}) }, label)));
    const values = offered.map(([value]) => value);
    const before = this.strengths.get(this.kind.value) ?? '';
    const first = this.scale === 'full' ? FULL : (values[0] ?? '');
    this.level.value = values.includes(before) ? before : first;
    this.level.hidden = offered.length === 0;
    this.level.labels?.forEach((label) => { label.hidden = offered.length === 0; });
    this.explain();
  }

  /** How the strength was measured, for who asks. */
  private explain(): void {
    this.level.title = this.level.selectedOptions[0]?.title ?? '';
  }
}

/** The checkpoints that fit a game: the trained agent, if its game is in `shipped`, and one that was chosen by its address. */
export async function checkpoints(game: Game, extra: Checkpoint[], shipped: Set<string>): Promise<Checkpoint[]> {
  const candidates = [...extra];
  if (game.board.standard && shipped.has(game.board.name)) {
    candidates.push({ label: t.players.az, url: pretrained(game.board.name) });
  }
  const fitting = await Promise.all(
    candidates.map(async (candidate) => {
      // The shipped agent is fetched only when it plays; it fits the standard rules.
      if (candidate.url === pretrained(game.board.name)) return candidate;
      const bytes = await networkFile(candidate.url).catch(() => null);
      return bytes && game.fits(bytes) ? candidate : null;
    }),
  );
  return fitting.filter((one) => one !== null);
}
