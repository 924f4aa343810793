// Who plays: a person, or an agent with a strength. The choices follow from the game.

import { make } from './dom.js';
import { networkFile } from './engine.js';
import type { Game } from './rules.js';
import type { AgentChoice } from './types.js';

export interface Checkpoint {
  label: string;
  url: string;
}

interface Kind {
  label: string;
  /** Strengths: value in the spec, and words. */
  levels: [string, string][];
  level: string;
}

/** A checkpoint as an agent: in integers where they are faster. */
export const TRAINED = 'az:pretrained,precision=auto';

const simulations = (n: string): [string, string] => [n, `${Number(n).toLocaleString('en')} simulations`];

const KINDS: Record<string, Kind> = {
  human: { label: 'a person', levels: [], level: '' },
  az: {
    label: 'trained agent',
    levels: [['0', 'no search'], ...['16', '64', '200', '800', '3200'].map(simulations)],
    level: '200',
  },
  alphabeta: { label: 'alpha-beta', levels: ['2', '4', '6', '8', '10'].map((n) => [n, `depth ${n}`]), level: '6' },
  mcts: { label: 'MCTS with random playouts', levels: ['100', '1000', '10000', '50000'].map(simulations), level: '1000' },
  random: { label: 'random', levels: [], level: '' },
};

/** The agent's file for a game, on any web server. */
export const pretrained = (game: string): string => new URL(`agents/${game}.safetensors`, document.baseURI).href;

const exists = (url: string): Promise<boolean> => fetch(url, { method: 'HEAD' }).then(({ ok }) => ok, () => false);

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
  offer(game: Game, trained: Checkpoint[], preferred: string): void {
    this.checkpoints = trained;
    const before = this.kind.value || preferred;
    const options = Object.entries(KINDS)
      .filter(([kind]) => kind !== 'az' && (kind !== 'alphabeta' || game.board.heuristics.length > 0))
      .map(([kind, { label }]) => make('option', { value: kind }, label));
    const agents = trained.map(({ label }, i) => make('option', { value: `az${i}` }, label));
    this.kind.replaceChildren(...options.slice(0, 1), ...agents, ...options.slice(1));
    const values = [...this.kind.options].map(({ value }) => value);
    const fallback = before.startsWith('az') ? (values.find((value) => value.startsWith('az')) ?? (values.includes('alphabeta') ? 'alphabeta' : 'mcts')) : 'human';
    this.kind.value = values.includes(before) ? before : fallback;
    this.fillLevels();
  }

  set(kind: string, level: string): void {
    const values = [...this.kind.options].map(({ value }) => value);
    this.kind.value = values.includes(kind) ? kind : kind === 'az' && values.includes('az0') ? 'az0' : this.kind.value;
    this.fillLevels();
    if ([...this.level.options].some(({ value }) => value === level)) this.level.value = level;
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
    if (kind === 'human') return null;
    if (kind === 'random') return { spec: 'random', network: null };
    if (kind === 'alphabeta') return { spec: `alphabeta:depth=${level},hash=16`, network: null };
    if (kind === 'mcts') return { spec: `mcts:sims=${level}`, network: null };
    const url = this.checkpoints[Number(kind.slice(2))]?.url ?? '';
    return { spec: `${TRAINED},sims=${level}`, network: url };
  }

  private fillLevels(): void {
    const kind = this.kind.value.startsWith('az') ? 'az' : this.kind.value;
    const { levels, level } = KINDS[kind] ?? { levels: [], level: '' };
    const before = this.level.value;
    this.level.replaceChildren(...levels.map(([value, label]) => make('option', { value }, label)));
    this.level.value = levels.some(([value]) => value === before) ? before : level;
    this.level.hidden = levels.length === 0;
    this.level.labels?.forEach((label) => { label.hidden = levels.length === 0; });
  }
}

/** The checkpoints that fit a game: the trained agent shipped with the page, and one that was chosen by its address. */
export async function checkpoints(game: Game, extra: Checkpoint[], shipped: Set<string>): Promise<Checkpoint[]> {
  const candidates = [...extra];
  // A game of one's own is not in the list: its agent is there if the server has it.
  if (game.board.standard && (shipped.has(game.board.name) || (await exists(pretrained(game.board.name))))) {
    candidates.push({ label: 'trained agent', url: pretrained(game.board.name) });
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
