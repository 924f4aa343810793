// The review of a game: every move with what it lost, the curve, and the moments to look at with a better line.

import { draw } from './chart.js';
import { element, make, message } from './dom.js';
import { Stopped, type Engine } from './engine.js';
import { type Mark, type Verdict, exactVerdict, searchVerdict } from './judge.js';
import { type Truth, lineText } from './look.js';
import type { Match } from './match.js';
import { spoken } from './notation.js';
import { chanceOf, sideName, t, wholePercent } from './texts.js';
import type { AgentChoice, Report } from './types.js';

/** Simulations per position. */
const SIMULATIONS = 200;

/** Moments that are shown at most. */
const MOMENTS = 3;

/** What the page does for a review. */
interface Page {
  /** Goes to a ply of the reviewed game. */
  goTo(ply: number): void;
  /** Shows the reviewed game from a ply on with another line. */
  playLine(ply: number, line: string[]): void;
  /** Shows the marks so far. */
  changed(): void;
}

export class Review {
  /** The game as it was when the review began. */
  match: Match | null = null;
  private verdicts: (Verdict | null)[] = [];
  /** Values for player 1 by ply. */
  private values: number[] = [];
  private reports: (Report | null)[] = [];
  /** A greater number ends the review in progress. */
  private number = 0;

  constructor(private readonly engine: Engine, private readonly truth: Truth, private readonly page: Page) {
    element('review-curve').addEventListener('click', (event) => {
      const strip = (event.target as Element).closest<SVGElement>('[data-ply]');
      if (strip) this.page.goTo(Number(strip.dataset['ply']));
    });
  }

  /** Ends the review and forgets it. */
  clear(): void {
    this.number++;
    this.engine.stop();
    this.match = null;
    [this.verdicts, this.values, this.reports] = [[], [], []];
    element('review').hidden = true;
  }

  /** What is known of a ply of a game: only if it is that ply of the reviewed game. */
  verdict(match: Match, ply: number): Verdict | null {
    const same = this.match?.game === match.game && this.match.positionAt(ply) === match.positionAt(ply)
      && this.match.plies[ply]?.action === match.plies[ply]?.action;
    return same ? (this.verdicts[ply] ?? null) : null;
  }

  /** Reviews a game with an agent's search. */
  async begin(match: Match, agent: AgentChoice): Promise<void> {
    this.clear();
    const mine = this.number;
    this.match = match.variation(match.plies.length);
    element('review').hidden = false;
    element('review-facts').replaceChildren();
    element('moments').replaceChildren();
    const count = match.plies.length;
    const progress = element('review-progress');
    try {
      await this.truth.find(match, Array.from({ length: count }, (_, ply) => match.positionAt(ply)));
      for (let ply = 0; ply <= count; ply++) {
        if (mine !== this.number) return;
        progress.textContent = t.review.progress(ply + 1, count + 1);
        await this.look(ply, agent, mine);
        if (mine !== this.number) return;
        if (ply > 0) this.verdicts[ply - 1] = this.judge(ply - 1);
        this.show();
      }
      progress.textContent = '';
      this.conclude();
    } catch (error) {
      if (mine === this.number && !(error instanceof Stopped)) progress.textContent = t.review.stopped(message(error));
    }
    element('review').dataset['done'] = 'true';
    this.page.changed();
  }

  /** Searches the position of a ply, if it is not the end of the game. */
  private async look(ply: number, agent: AgentChoice, mine: number): Promise<void> {
    const match = this.match!;
    const { outcome, position, legal } = match.view(ply);
    const exact = this.truth.of(position);
    this.reports[ply] = null;
    if (outcome) {
      this.values[ply] = outcome.winner === null ? 0 : outcome.winner === 0 ? 1 : -1;
      return;
    }
    if (exact && legal.length === 1) {
      this.values[ply] = exact.value;
      return;
    }
    const { report } = await this.engine.search(match.game.rules, agent, position, SIMULATIONS, () => undefined);
    if (mine !== this.number) return;
    this.reports[ply] = report;
    this.values[ply] = exact?.value ?? report?.proven ?? report?.value ?? 0;
  }

  private judge(ply: number): Verdict | null {
    const match = this.match!;
    const { action, mover } = match.plies[ply]!;
    const report = this.reports[ply];
    const exact = this.truth.of(match.positionAt(ply));
    if (exact) return exactVerdict(exact, action, mover, report?.actions[0]?.line ?? []);
    return report ? searchVerdict(report, action, mover, this.values[ply + 1] ?? 0) : null;
  }

  private show(): void {
    this.draw();
    this.page.changed();
  }

  /** Draws the curve with the place of the game that is shown. */
  draw(at?: number): void {
    const match = this.match;
    if (!match) return;
    if (at !== undefined) match.at = Math.min(at, match.plies.length);
    const marks = this.verdicts.map((one): Mark => one?.mark ?? '');
    draw(element<SVGSVGElement>('review-curve'), match, (ply) => this.values[ply], marks);
  }

  /** The result: per side, and the moments. */
  private conclude(): void {
    const match = this.match!;
    const facts = [0, 1].map((side) => {
      const mine = this.verdicts.filter((one, ply) => one && match.plies[ply]?.mover === side) as Verdict[];
      const marks = ['??', '?', '?!', '!']
        .map((mark) => [mark, mine.filter((one) => one.mark === mark).length] as const)
        .filter(([, count]) => count > 0)
        .map(([mark, count]) => `${count} ${(count === 1 ? t.review.name : t.review.names)[mark] ?? ''}`);
      const loss = mine.reduce((sum, one) => sum + one.loss, 0) / Math.max(1, mine.length);
      const name = sideName(match.game.board.sides[side === 0 ? 0 : 1]);
      return make('li', {}, t.review.side(name, marks.join(', ') || t.review.clean, wholePercent(loss)));
    });
    element('review-facts').replaceChildren(...facts);
    const worst = this.verdicts
      .map((verdict, ply) => ({ verdict, ply }))
      .filter((one): one is { verdict: Verdict; ply: number } => one.verdict !== null && one.verdict.mark.startsWith('?'))
      .toSorted((a, b) => b.verdict.loss - a.verdict.loss)
      .slice(0, MOMENTS)
      .toSorted((a, b) => a.ply - b.ply);
    const items = worst.map(({ verdict, ply }) => this.moment(verdict, ply));
    const title = make('h3', {}, t.review.moments);
    element('moments').replaceChildren(...(items.length > 0 ? [title, ...items] : [make('p', {}, t.review.noMoments)]));
    const exact = this.verdicts.filter((one) => one?.isExact).length;
    element('review-source').textContent = t.review.source(exact, this.verdicts.length, SIMULATIONS);
  }

  private moment({ mark, loss, line }: Verdict, ply: number): HTMLElement {
    const match = this.match!;
    const { action, mover } = match.plies[ply]!;
    const name = sideName(match.game.board.sides[mover === 0 ? 0 : 1]);
    const show = make('button', { type: 'button' }, t.review.show);
    show.addEventListener('click', () => this.page.goTo(ply));
    const play = make('button', { type: 'button', 'data-line': line.join(' ') }, t.review.play);
    play.addEventListener('click', () => this.page.playLine(ply, line));
    const before = chanceOf(this.values[ply] ?? 0, mover);
    return make('div', { class: 'moment', 'data-ply': String(ply) },
      make('p', {}, make('strong', {}, t.review.moment(ply + 1, name, spoken(action), mark)), ' ',
        t.review.lost(wholePercent(loss), wholePercent(before), wholePercent(Math.max(0, before - loss)))),
      make('p', {}, `${t.review.better} `, make('span', { class: 'line' }, lineText(line))),
      make('div', { class: 'bar' }, show, play));
  }
}
