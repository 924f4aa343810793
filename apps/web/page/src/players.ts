// Who plays: a person, or an agent with a strength. The choices follow from the game.

import { make } from './dom.js';
import { networkFile } from './engine.js';
import type { Game } from './rules.js';
import { t } from './texts.js';
import type { AgentChoice } from './types.js';

export interface Checkpoint {
  label: string;
  url: string;
}

/** A checkpoint as an agent: in integers where they are faster. */
export const TRAINED = 'az:pretrained,precision=auto';

/** Who sits where on a first visit; `az` is the trained agent, and where there is none the first other one that can play. */
export const FIRST_PLAYERS = ['human', 'az'] as const;

/** The temperature of a beginner, who draws from the network's policy: the best move is likely, a bad one happens. */
const BEGINNER = 2;

/** Strengths by kind of player: value in addresses, and words. The first one is a beginner's and what is chosen first. */
const levels = (): Record<string, [string, string][]> => ({
  az: [
    ['beginner', t.levels.beginner], ['0', t.levels.instinct], ['16', t.levels.medium], ['64', t.levels.advanced],
    ['200', t.levels.strong], ['800', t.levels.expert], ['3200', t.levels.master],
  ],
  alphabeta: ['2', '4', '6', '8', '10'].map((plies) => [plies, t.levels.ahead(plies)]),
  mcts: [100, 1000, 10_000, 50_000].map((playouts) => [String(playouts), t.levels.playouts(playouts)]),
});

/** The spec of an agent by its kind and level. */
function agentOf(kind: string, level: string, network: string): AgentChoice | null {
  if (kind === 'human') return null;
  if (kind === 'random') return { spec: 'random', network: null };
  if (kind === 'alphabeta') return { spec: `alphabeta:depth=${level},hash=16`, network: null };
  if (kind === 'mcts') return { spec: `mcts:sims=${level}`, network: null };
  if (level === 'beginner') return { spec: `${TRAINED},sims=0`, network, temperature: BEGINNER };
  return { spec: `${TRAINED},sims=${level}`, network };
}

/** The agent's file for a game, on any web server. */
export const pretrained = (game: string): string => new URL(`agents/${game}.safetensors`, document.baseURI).href;

const exists = (url: string): Promise<boolean> => fetch(url, { method: 'HEAD' }).then(({ ok }) => ok, () => false);

/** What of an address a seat does not have. */
export type Unknown = 'player' | 'level' | null;

/** Two selects for one seat. */
export class Seat {
  readonly kind: HTMLSelectElement;
  readonly level: HTMLSelectElement;
  private checkpoints: Checkpoint[] = [];

  constructor(kind: HTMLSelectElement, level: HTMLSelectElement, changed: () => void) {
    this.kind = kind;
    this.level = level;
    kind.addEventListener('change', () => {
      this.fillLevels();
      changed();
    });
    level.addEventListener('change', changed);
  }

  /** Offers what can play the game; `trained` are its checkpoints. */
  offer(game: Game, trained: Checkpoint[], first: string): void {
    this.checkpoints = trained;
    const before = this.kind.value || first;
    const option = (value: string, label: string): HTMLElement => make('option', { value }, label);
    const { human, alphabeta, mcts, random } = t.players;
    this.kind.replaceChildren(
      option('human', human),
      ...trained.map(({ label }, i) => option(`az${i}`, label)),
      ...(game.board.heuristics.length > 0 ? [option('alphabeta', alphabeta)] : []),
      option('mcts', mcts),
      option('random', random),
    );
    const values = [...this.kind.options].map(({ value }) => value);
    const agent = values.find((value) => value !== 'human') ?? 'random';
    this.kind.value = values.includes(before) ? before : before === 'human' ? before : agent;
    this.fillLevels();
  }

  /** Chooses a player and, if it is given, a strength. */
  set(kind: string, level: string | null): Unknown {
    const values = [...this.kind.options].map(({ value }) => value);
    const known = kind === 'az' ? values.find((value) => value.startsWith('az')) : values.find((value) => value === kind);
    // Without a trained agent an address that asks for one gets what plays in its place.
    const value = known ?? (kind.startsWith('az') ? values.find((one) => one !== 'human') : undefined);
    if (value === undefined) return 'player';
    this.kind.value = value;
    this.fillLevels();
    if (level === null || level === '' || value !== known) return null;
    if (![...this.level.options].some((option) => option.value === level)) return 'level';
    this.level.value = level;
    return null;
  }

  /** Player and strength as an address has them. */
  get asked(): [kind: string, level: string] {
    const kind = this.kind.value;
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

  /** The agent that plays; `null` for a person. */
  get agent(): AgentChoice | null {
    const [kind, level] = [this.kind.value, this.level.value];
    return agentOf(kind, level, this.checkpoints[Number(kind.slice(2))]?.url ?? '');
  }

  private fillLevels(): void {
    const kind = this.kind.value.startsWith('az') ? 'az' : this.kind.value;
    const offered = levels()[kind] ?? [];
    const before = this.level.value;
    this.level.replaceChildren(...offered.map(([value, label]) => make('option', { value }, label)));
    if (offered.some(([value]) => value === before)) this.level.value = before;
    this.level.hidden = offered.length === 0;
    this.level.labels?.forEach((label) => { label.hidden = offered.length === 0; });
  }
}

/** The checkpoints that fit a game: the trained agent shipped with the page, and one that was chosen by its address. */
export async function checkpoints(game: Game, extra: Checkpoint[], shipped: Set<string>): Promise<Checkpoint[]> {
  const candidates = [...extra];
  // A game of one's own is not in the list: its agent is there if the server has it.
  if (game.board.standard && (shipped.has(game.board.name) || (await exists(pretrained(game.board.name))))) {
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
