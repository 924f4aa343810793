// Looking inside: what a search finds in the position on the board, exact values, the tree, the course of the game.

import type { Board, Hint } from './board.js';
import { element, make, message, percent, shape, signed } from './dom.js';
import { Stopped, type Engine } from './engine.js';
import type { Match } from './match.js';
import type { ActionReport, AgentChoice, ExactValues, Prediction, Report } from './types.js';

/** Marks on the board at most. */
const MOST_HINTS = 6;

const shown = (value: number | null): string => (value === null ? '' : value > 0 ? 'player 1 wins' : value < 0 ? 'player 2 wins' : 'draw');

export class Look {
  on = false;
  private report: Report | null = null;
  private prediction: Prediction | null = null;
  private exact: ExactValues | null = null;
  private readonly exactByPosition = new Map<string, ExactValues | null>();
  /** Expected results for player 1 by position: from the network, or from a search that went deeper. */
  private readonly values = new Map<string, { value: number; visits: number }>();
  private position = '';
  private match: Match | null = null;
  private rules = '';
  private agent: AgentChoice | null = null;
  private hasExact = true;

  constructor(
    private readonly board: Board,
    private readonly engine: Engine,
    private readonly solver: Engine,
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
    if (rules !== this.rules) {
      this.exactByPosition.clear();
      this.hasExact = true;
    }
    if (changed) this.values.clear();
    this.match = match;
    if (changed) this.agent = agent;
    this.rules = rules;
    const position = match.view().position;
    if (changed || position !== this.position) {
      this.position = position;
      [this.report, this.prediction, this.exact] = [null, null, null];
      this.engine.stop();
      if (this.on) void this.begin();
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
        if (report && now()) this.found(report, 'searching');
      });
      if (choice.report && now()) this.found(choice.report, 'search finished');
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
    if (!this.hasExact) return;
    const positions = [...new Set([match.view().position, ...match.plies.map((_, ply) => match.positionAt(ply))])];
    const missing = positions.filter((position) => !this.exactByPosition.has(position));
    const rules = this.rules;
    try {
      const found = missing.length > 0 ? await this.solver.exact(match.game.rules, missing) : [];
      if (rules !== this.rules) return;
      found.forEach((values, i) => this.exactByPosition.set(missing[i] ?? '', values));
    } catch {
      this.hasExact = false;
    }
    this.exact = this.exactByPosition.get(this.position) ?? null;
    this.solved();
    this.render();
  }

  private note(position: string, value: number, visits: number): void {
    const known = this.values.get(position);
    if (!known || known.visits <= visits) this.values.set(position, { value, visits });
  }

  private found(report: Report, state: string): void {
    this.report = report;
    this.note(this.position, report.value, report.visits);
    element('searched').textContent =
      `${state}: ${report.visits.toLocaleString('en')} simulations${report.proven === null ? '' : `, proven: ${shown(report.proven)}`}`;
    this.render();
  }

  /** Whether the action played in a position kept its exact value; `null` where that is unknown. */
  kept(position: string, action: string): boolean | null {
    return this.exactByPosition.get(position)?.actions.find((one) => one.action === action)?.keeps ?? null;
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
      const cells = [
        make('th', { scope: 'row' }, one.action),
        make('td', {}, priors.has(one.action) ? percent(priors.get(one.action) ?? 0) : one.prior > 0 ? percent(one.prior) : '–'),
        make('td', {}, one.visits.toLocaleString('en')),
        make('td', {}, one.visits === 0 && one.proven === null ? '–' : signed(one.value)),
        make('td', { class: known ? (known.keeps ? 'keeps' : 'loses') : '' }, known ? `${known.keeps ? 'kept' : 'thrown away'}: ${shown(known.value)}` : one.proven === null ? '–' : `proven: ${shown(one.proven)}`),
        make('td', { class: 'line' }, one.line.join(' ')),
      ];
      return make('tr', {}, ...cells);
    };
    element('actions').replaceChildren(...best.slice(0, 24).map(row));
    const value = this.report?.value ?? this.prediction?.value;
    element('value').textContent = view.outcome
      ? 'the game is over'
      : value === undefined ? '' : `expected result for player 1: ${signed(value)}`;
    const bar = element('balance');
    const shownValue = view.outcome ? (view.outcome.winner === null ? 0 : view.outcome.winner === 0 ? 1 : -1) : value;
    bar.hidden = shownValue === undefined;
    (bar.firstElementChild as HTMLElement).style.width = `${50 + 50 * (shownValue ?? 0)}%`;
    element('network').textContent = this.prediction ? `network alone ${signed(this.prediction.value)}` : '';
    element('known').textContent = this.exact ? `exact value: ${shown(this.exact.value)}` : '';
    this.board.setHints(this.hints(match, best, visited, exact));
    this.tree(found);
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
  private tree(actions: ActionReport[]): void {
    const root = element('tree');
    const open = new Map([...root.querySelectorAll<HTMLElement>(':scope > li[data-action]')].map((item) => [item.dataset['action'] ?? '', item]));
    const items = actions.filter(({ visits }) => visits > 0).slice(0, 12).map((one) => {
      const before = open.get(one.action);
      if (before?.querySelector('[aria-expanded="true"]') && before.dataset['position'] === this.position) {
        before.querySelector('.numbers')!.textContent = this.numbers(one);
        return before;
      }
      return this.node(one, [one.action]);
    });
    root.replaceChildren(...items);
  }

  private numbers(one: ActionReport): string {
    return `${one.visits.toLocaleString('en')} visits, ${one.proven === null ? signed(one.value) : shown(one.proven)}`;
  }

  private node(one: ActionReport, line: string[]): HTMLElement {
    const button = make('button', { type: 'button', class: 'fold', 'aria-expanded': 'false' }, one.action);
    const item = make('li', { 'data-action': one.action, 'data-position': this.position }, button, ' ', make('span', { class: 'numbers' }, this.numbers(one)));
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
      const children = visited.map((child) => this.node(child, [...line, child.action]));
      item.append(make('ul', {}, ...(children.length > 0 ? children : [make('li', {}, 'nothing searched below')])));
    });
    return item;
  }

  /** The expected result for player 1 after every ply. */
  private curve(): void {
    const match = this.match;
    const svg = element<SVGSVGElement>('curve');
    if (!match || !this.on) return;
    const [width, height, count] = [400, 120, Math.max(match.plies.length, 1)];
    const x = (ply: number): number => 8 + ((width - 16) * ply) / count;
    const y = (value: number): number => height / 2 - (height / 2 - 20) * value;
    const known: [number, number][] = [];
    for (let ply = 0; ply <= match.plies.length; ply++) {
      const { outcome, position } = match.view(ply);
      const value = outcome ? (outcome.winner === null ? 0 : outcome.winner === 0 ? 1 : -1) : this.values.get(position)?.value;
      if (value !== undefined) known.push([ply, value]);
    }
    const path = known.map(([ply, value], i) => `${i === 0 ? 'M' : 'L'}${x(ply).toFixed(1)} ${y(value).toFixed(1)}`).join('');
    const strips = Array.from({ length: match.plies.length + 1 }, (_, ply) =>
      shape('rect', { x: x(ply) - 192 / count, y: 0, width: 384 / count, height, class: 'strip', 'data-ply': ply }));
    svg.replaceChildren(
      shape('line', { x1: 0, y1: height / 2, x2: width, y2: height / 2, class: 'axis' }),
      shape('line', { x1: x(match.at), y1: 0, x2: x(match.at), y2: height, class: 'now' }),
      shape('text', { x: 6, y: 14, class: 'end' }, `${match.game.board.sides[0]} wins`),
      shape('text', { x: 6, y: height - 6, class: 'end' }, `${match.game.board.sides[1]} wins`),
      shape('path', { d: path, class: 'course' }),
      ...known.map(([ply, value]) => shape('circle', { cx: x(ply), cy: y(value), r: known.length > 60 ? 1.5 : 3, class: 'dot' })),
      ...strips,
    );
    const last = known[known.length - 1];
    svg.setAttribute('aria-label', `Expected result for player 1 over ${match.plies.length} plies${last ? `, now ${signed(last[1])}` : ''}`);
  }
}
