// Looking inside: what a search finds in the position on the board, exact values, the tree, the course of the game.

import { curve } from '../../generated/turnstone_web.js';
import type { Board, Hint } from './board.js';
import { element, make, message } from './dom.js';
import { Stopped, type Engine } from './engine.js';
import type { Match } from './match.js';
import { chanceText, percent, t, sideName } from './texts.js';
import type { ActionReport, AgentChoice, ExactValues, Mark, Outcome, Prediction, Quality, Report } from './types.js';

/** Marks on the board at most. */
const MOST_HINTS = 6;

/** Actions of an expected line that are shown. */
const LONGEST_LINE = 10;

/** An expected line as people write it; the dots say that the game does not end there. */
export const lineText = (line: string[]): string => `${line.slice(0, LONGEST_LINE).join(' ')} …`;

/** Draws the chance to win over a game: values for player 1 by ply, where they are known, and the marks of the moves. */
export function drawCurve(id: string, match: Match, valueAt: (ply: number) => number | undefined, marks: (Mark | null)[] = []): void {
  const values = Array.from({ length: match.plies.length + 1 }, (_, ply) => {
    const { outcome } = match.view(ply);
    return (outcome ? resultOf(outcome) : valueAt(ply)) ?? NaN;
  });
  const [first = '', second = ''] = match.game.board.sides.map(sideName);
  const texts = marks.map((mark) => mark ?? '').join(' ');
  const drawing = element(id);
  drawing.innerHTML = curve(Float32Array.from(values), texts, t.look.wins(first), t.look.wins(second), match.at);
  const last = values.findLast((value) => !Number.isNaN(value));
  drawing.setAttribute('aria-label', t.look.curve(first, match.plies.length, last === undefined ? '' : chanceText(last, 0)));
}

/** The result of a game for player 1. */
const resultOf = ({ winner }: Outcome): number => (winner === null ? 0 : winner === 0 ? 1 : -1);

/** Exact values of positions of one game, found once each. */
export class Truth {
  private readonly known = new Map<string, ExactValues | null>();
  private rules = '';
  private exists = true;

  constructor(private readonly solver: Engine) {}

  of(position: string): ExactValues | null {
    return this.known.get(position) ?? null;
  }

  /** Finds the values of positions; false if they belong to other rules by now. */
  async find(match: Match, positions: string[]): Promise<boolean> {
    const rules = JSON.stringify(match.game.rules);
    if (rules !== this.rules) {
      this.known.clear();
      [this.rules, this.exists] = [rules, true];
    }
    const missing = [...new Set(positions)].filter((position) => !this.known.has(position));
    if (!this.exists || missing.length === 0) return true;
    try {
      const found = await this.solver.exact(match.game.rules, missing);
      if (rules !== this.rules) return false;
      found.forEach((values, i) => this.known.set(missing[i] ?? '', values));
    } catch {
      this.exists = false;
    }
    return true;
  }
}

export class Look {
  on = false;
  private report: Report | null = null;
  private prediction: Prediction | null = null;
  private exact: ExactValues | null = null;
  /** Expected results for player 1 by position: from the network, or from a search that went deeper. */
  private readonly values = new Map<string, { value: number; visits: number }>();
  private position = '';
  private match: Match | null = null;
  private rules = '';
  private agent: AgentChoice | null = null;

  constructor(
    private readonly board: Board,
    private readonly engine: Engine,
    private readonly truth: Truth,
    private readonly goTo: (ply: number) => void,
    private readonly solved: () => void,
  ) {
    element('curve').addEventListener('click', (event) => {
      const strip = (event.target as Element).closest<SVGElement>('[data-ply]');
      if (strip) this.goTo(Number(strip.dataset['ply']));
    });
  }

  /** Follows the game; `agent` is what searches. */
  follow(match: Match, agent: AgentChoice): void {
    const rules = JSON.stringify(match.game.rules);
    const changed = rules !== this.rules || agent.spec !== this.agent?.spec || agent.network !== this.agent?.network;
    if (changed) this.values.clear();
    this.match = match;
    if (changed) this.agent = agent;
    this.rules = rules;
    const position = match.view().position;
    if (changed || position !== this.position) {
      this.position = position;
      [this.report, this.prediction, this.exact] = [null, null, null];
      if (this.on) {
        this.engine.stop();
        void this.begin();
      }
    }
    this.render();
  }

  turn(on: boolean): void {
    this.on = on;
    this.engine.stop();
    element('look').hidden = !on;
    if (on) void this.begin();
    this.render();
  }

  private async begin(): Promise<void> {
    const { match, agent, position } = this;
    if (!match || !agent) return;
    const now = (): boolean => this.on && this.position === position && this.match === match && this.agent === agent;
    void this.solve(match);
    if (match.view().outcome) return;
    const status = element('searched');
    status.textContent = t.look.waiting;
    try {
      if (agent.network !== null) {
        const [prediction] = await this.engine.predict(match.game.rules, agent, [position]);
        if (!now()) return;
        this.prediction = prediction ?? null;
        if (prediction) this.note(position, prediction.value, 0);
        this.render();
        void this.course(match, agent);
      }
      const choice = await this.engine.search(match.game.rules, agent, position, null, (report) => {
        if (report && now()) this.found(report, t.look.searching);
      });
      if (choice.report && now()) this.found(choice.report, t.look.finished);
    } catch (error) {
      if (!(error instanceof Stopped) && now()) status.textContent = message(error);
    }
  }

  /** The network's values of the game's other positions, for the curve. */
  private async course(match: Match, agent: AgentChoice): Promise<void> {
    const missing: string[] = [];
    for (let ply = 0; ply <= match.plies.length; ply++) {
      const position = match.positionAt(ply);
      if (!this.values.has(position) && !match.view(ply).outcome) missing.push(position);
    }
    if (missing.length === 0) return;
    try {
      const predictions = await this.engine.predict(match.game.rules, agent, missing);
      predictions.forEach(({ value }, i) => this.note(missing[i] ?? '', value, 0));
      if (this.match === match) this.curve();
    } catch {
      // The search that follows says what is wrong.
    }
  }

  /** Exact values of the positions of the game. */
  private async solve(match: Match): Promise<void> {
    const positions = [match.view().position, ...match.plies.map((_, ply) => match.positionAt(ply))];
    if (!(await this.truth.find(match, positions))) return;
    this.exact = this.truth.of(this.position);
    this.solved();
    this.render();
  }

  private note(position: string, value: number, visits: number): void {
    const known = this.values.get(position);
    if (!known || known.visits <= visits) this.values.set(position, { value, visits });
  }

  private found(report: Report, state: (visits: number) => string): void {
    this.report = report;
    this.note(this.position, report.value, report.visits);
    element('searched').textContent = `${state(report.visits)}${report.proven === null ? '' : t.look.proven(this.result(report.proven))}`;
    this.render();
  }

  /** How good an action was by exact values; `null` where they are unknown. */
  quality(position: string, action: string): Quality | null {
    return this.truth.of(position)?.actions.find((one) => one.action === action) ?? null;
  }

  /** A result for player 1 in words. */
  private result(value: number): string {
    const [first, second] = this.match?.game.board.sides ?? ['', ''];
    return value > 0 ? t.look.wins(sideName(first)) : value < 0 ? t.look.wins(sideName(second)) : t.look.draw;
  }

  private render(): void {
    const match = this.match;
    if (!match || !this.on) {
      this.board.setHints([]);
      return;
    }
    const view = match.view();
    const priors = new Map(this.prediction?.priors.map(({ action, prior }) => [action, prior]));
    const exact = new Map(this.exact?.actions.map((one) => [one.action, one]));
    const found = this.report?.actions ?? [];
    const visited = found.reduce((most, { visits }) => Math.max(most, visits), 1);
    const best = [...found];
    if (best.length === 0) {
      const order = view.legal.toSorted((a, b) => (priors.get(b.action) ?? 0) - (priors.get(a.action) ?? 0));
      best.push(...order.map(({ action }): ActionReport => ({ action, visits: 0, prior: priors.get(action) ?? 0, value: 0, proven: null, line: [action] })));
    }
    const row = (one: ActionReport): HTMLElement => {
      const known = exact.get(one.action);
      const result = known ? (known.keeps ? t.look.kept : t.look.thrown)(this.result(known.value)) : one.proven === null ? '–' : t.look.provenMove(this.result(one.proven));
      const line = lineText(one.line);
      return make('tr', {},
        make('th', { scope: 'row' }, one.action),
        make('td', {}, one.visits === 0 && one.proven === null ? '–' : chanceText(one.proven ?? one.value, view.mover)),
        make('td', {}, one.visits.toLocaleString('en')),
        make('td', {}, priors.has(one.action) ? percent(priors.get(one.action) ?? 0) : one.prior > 0 ? percent(one.prior) : '–'),
        make('td', { class: known ? (known.keeps ? 'keeps' : 'loses') : '' }, result),
        make('td', { class: 'line', title: line }, line));
    };
    element('actions').replaceChildren(...best.slice(0, 24).map(row));
    const ended = view.outcome && resultOf(view.outcome);
    const value = ended ?? this.report?.proven ?? this.report?.value ?? this.prediction?.value;
    const [first, second] = match.game.board.sides.map(sideName);
    element('value').textContent = ended !== null
      ? t.look.over
      : value === undefined ? '' : t.look.chances(first ?? '', chanceText(value, 0), second ?? '', chanceText(value, 1));
    const bar = element('balance');
    bar.hidden = value === undefined;
    (bar.firstElementChild as HTMLElement).style.width = `${50 + 50 * (value ?? 0)}%`;
    element('network').textContent = this.prediction ? t.look.network(chanceText(this.prediction.value, 0)) : '';
    element('known').textContent = this.exact ? t.look.exactValue(this.result(this.exact.value)) : '';
    this.board.setHints(this.hints(match, best, visited, exact));
    this.tree(found, view.mover);
    this.curve();
  }

  private hints(match: Match, actions: ActionReport[], most: number, exact: Map<string, { keeps: boolean }>): Hint[] {
    const clicks = new Map(match.view().legal.map((legal) => [legal.action, legal.clicks]));
    const all = actions.reduce((sum, { visits }) => sum + visits, 0);
    const weight = (one: ActionReport): number => (all > 0 ? one.visits / most : one.prior);
    const label = (one: ActionReport): string => percent(all > 0 ? one.visits / all : one.prior).replace(' ', '');
    return actions
      .filter((one) => weight(one) > 0.02)
      .slice(0, MOST_HINTS)
      .map((one) => {
        const known = exact.get(one.action);
        return {
          clicks: clicks.get(one.action) ?? [],
          share: Math.min(1, weight(one)),
          label: label(one),
          kind: known ? (known.keeps ? 'keeps' : 'loses') : 'search',
        } satisfies Hint;
      });
  }

  /** The top of the tree, kept open where it was unfolded. */
  private tree(actions: ActionReport[], mover: number): void {
    const root = element('tree');
    const open = new Map([...root.querySelectorAll<HTMLElement>(':scope > li[data-action]')].map((item) => [item.dataset['action'] ?? '', item]));
    const items = actions.filter(({ visits }) => visits > 0).slice(0, 12).map((one) => {
      const before = open.get(one.action);
      if (before?.querySelector('[aria-expanded="true"]') && before.dataset['position'] === this.position) {
        before.querySelector('.numbers')!.textContent = this.numbers(one, mover);
        return before;
      }
      return this.node(one, [one.action], mover);
    });
    root.replaceChildren(...items);
  }

  /** Visits and the chance of the player to move at the root. */
  private numbers(one: ActionReport, mover: number): string {
    const side = sideName(this.match?.game.board.sides[mover === 0 ? 0 : 1] ?? '');
    return t.look.visits(one.visits, one.proven === null ? `${side} ${chanceText(one.value, mover)}` : this.result(one.proven));
  }

  private node(one: ActionReport, line: string[], mover: number): HTMLElement {
    const button = make('button', { type: 'button', class: 'fold', 'aria-expanded': 'false' }, one.action);
    const item = make('li', { 'data-action': one.action, 'data-position': this.position }, button, ' ', make('span', { class: 'numbers' }, this.numbers(one, mover)));
    button.addEventListener('click', async () => {
      const list = item.querySelector(':scope > ul');
      if (list) {
        list.remove();
        button.setAttribute('aria-expanded', 'false');
        return;
      }
      button.setAttribute('aria-expanded', 'true');
      const position = this.position;
      const below = await this.engine.below(line).catch(() => null);
      if (position !== this.position || !item.isConnected) return;
      const visited = (below ?? []).filter(({ visits }) => visits > 0).slice(0, 8);
      const children = visited.map((child) => this.node(child, [...line, child.action], mover));
      item.append(make('ul', {}, ...(children.length > 0 ? children : [make('li', {}, t.look.nothingBelow)])));
    });
    return item;
  }

  /** The chance to win after every ply. */
  private curve(): void {
    if (this.match && this.on) drawCurve('curve', this.match, (ply) => this.values.get(this.match?.positionAt(ply) ?? '')?.value);
  }
}
