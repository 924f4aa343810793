// The review of a game: every move with what it lost, the curve, and the moments to look at with a better line.

import { element, make, message } from './dom.js';
import { Stopped, type Engine } from './engine.js';
import { drawCurve, lineText } from './look.js';
import type { Match } from './match.js';
import { chanceOf, sideName, t, wholePercent } from './texts.js';
import type { AgentChoice, Quality, Reviewed, ReviewedMove } from './types.js';

/** Simulations per position. */
const SIMULATIONS = 200;

/** What the page does for a review. */
interface Page {
  /** Goes to a ply of the reviewed game. */
  goTo(ply: number): void;
  /** Shows the reviewed game from a ply on with another line. */
  playLine(ply: number, line: string[]): void;
  /** Shows the marks so far. */
  changed(): void;
}

/** What a move of a side lost, in words. */
export function lossText({ value, loss }: ReviewedMove, mover: number): string {
  const before = chanceOf(value, mover);
  return t.review.lost(wholePercent(loss), wholePercent(before), wholePercent(Math.max(0, before - loss)));
}

export class Review {
  /** The game as it was when the review began. */
  match: Match | null = null;
  private moves: ReviewedMove[] = [];

  constructor(private readonly engine: Engine, private readonly page: Page) {
    element('review-curve').addEventListener('click', (event) => {
      const strip = (event.target as Element).closest<SVGElement>('[data-ply]');
      if (strip) this.page.goTo(Number(strip.dataset['ply']));
    });
  }

  /** Ends the review and forgets it. */
  clear(): void {
    this.engine.stop();
    this.match = null;
    this.moves = [];
    element('review').hidden = true;
  }

  /** What is known of a ply of a game: only if it is that ply of the reviewed game. */
  quality(match: Match, ply: number): Quality | null {
    const same = this.match?.game === match.game && this.match.positionAt(ply) === match.positionAt(ply)
      && this.match.plies[ply]?.action === match.plies[ply]?.action;
    const move = same ? this.moves[ply] : undefined;
    return move ? { mark: move.mark, keeps: move.source === 'exact' && move.loss === 0 } : null;
  }

  /** Reviews a game with an agent's search. */
  async begin(match: Match, agent: AgentChoice): Promise<void> {
    this.clear();
    const mine = match.variation(match.plies.length);
    this.match = mine;
    element('review').hidden = false;
    element('review-facts').replaceChildren();
    element('moments').replaceChildren();
    const progress = element('review-progress');
    const told = ({ moves }: Reviewed): void => {
      if (mine !== this.match) return;
      this.moves = moves;
      progress.textContent = t.review.progress(Math.min(moves.length + 1, mine.plies.length), mine.plies.length);
      this.draw();
      this.page.changed();
    };
    try {
      const moves = mine.plies.map(({ action }) => action).join(' ');
      const reviewed = await this.engine.review(mine.game.rules, agent, mine.start, moves, SIMULATIONS, told);
      told(reviewed);
      progress.textContent = '';
      if (mine === this.match) this.conclude(mine, reviewed);
    } catch (error) {
      if (mine === this.match && !(error instanceof Stopped)) progress.textContent = t.review.stopped(message(error));
    }
    element('review').dataset['done'] = 'true';
    this.page.changed();
  }

  /** Draws the curve with the place of the game that is shown. */
  draw(at?: number): void {
    const match = this.match;
    if (!match) return;
    if (at !== undefined) match.at = Math.min(at, match.plies.length);
    const value = (ply: number): number | undefined => (ply === 0 ? this.moves[0]?.value : this.moves[ply - 1]?.value_after);
    drawCurve('review-curve', match, value, this.moves.map(({ mark }) => mark));
  }

  /** The result: per side, and the moments. */
  private conclude(match: Match, { moves, totals, moments }: Reviewed): void {
    const facts = totals.map((total, side) => {
      const marks = ([['??', total.blunders], ['?', total.mistakes], ['?!', total.inaccuracies], ['!', total.only_moves]] as const)
        .filter(([, count]) => count > 0)
        .map(([mark, count]) => `${count} ${(count === 1 ? t.review.name : t.review.names)[mark] ?? ''}`);
      const name = sideName(match.game.board.sides[side === 0 ? 0 : 1]);
      return make('li', {}, t.review.side(name, marks.join(', ') || t.review.clean, wholePercent(total.mean_loss)));
    });
    element('review-facts').replaceChildren(...facts);
    const items = moments.map((number) => this.moment(match, moves[number - 1]!, number - 1));
    const title = make('h3', {}, t.review.moments);
    element('moments').replaceChildren(...(items.length > 0 ? [title, ...items] : [make('p', {}, t.review.noMoments)]));
    const exact = moves.filter(({ source }) => source === 'exact').length;
    element('review-source').textContent = t.review.source(exact, moves.length, SIMULATIONS);
  }

  private moment(match: Match, move: ReviewedMove, ply: number): HTMLElement {
    const { mark, best } = move;
    const { action, mover } = match.plies[ply]!;
    const name = sideName(match.game.board.sides[mover === 0 ? 0 : 1]);
    const show = make('button', { type: 'button' }, t.review.show);
    show.addEventListener('click', () => this.page.goTo(ply));
    const play = make('button', { type: 'button', 'data-line': best.join(' ') }, t.review.play);
    play.addEventListener('click', () => this.page.playLine(ply, best));
    const isOnly = mark === '!';
    return make('div', { class: 'moment', 'data-ply': String(ply) },
      make('p', {}, make('strong', {}, t.review.moment(ply + 1, name, action, mark ?? '')), ' ', isOnly ? t.review.only : lossText(move, mover)),
      make('p', {}, `${isOnly ? t.review.then : t.review.better} `, make('span', { class: 'line' }, lineText(best))),
      make('div', { class: 'bar' }, show, play));
  }
}
