// The list of moves with their marks, and the legal actions as buttons.

import { element, make } from './dom.js';
import type { Match } from './match.js';
import { t } from './texts.js';
import type { Quality } from './types.js';

/** Whether a game has stones of its players. Others, such as Mancala, have none to show beside the players. */
export const hasColours = (drawing: string): boolean => drawing.includes('class="ts-fill-light') || drawing.includes('class="ts-fill-dark');

/** Shows the moves of a game; `quality` is what is known of a ply. */
export function showMoves(match: Match, quality: (ply: number) => Quality | null): void {
  const list = element('moves');
  const branches = (ply: number): HTMLElement[] => match.branches(ply).map((line) => {
    const words = t.branch(ply + 1, line.slice(ply, ply + 4).map(({ action }) => action).join(' '), line.length > ply + 4);
    return make('li', {}, make('button', { type: 'button', class: 'branch', 'data-line': String(match.others.indexOf(line)) }, words));
  });
  const coloured = hasColours(match.view().drawing);
  list.replaceChildren(...match.plies.flatMap((ply, i) => {
    const current = i + 1 === match.at;
    const known = quality(i);
    const mark = known?.mark ?? '';
    const kept = known?.keeps && mark === '';
    const colour = coloured ? (ply.mover === match.game.board.dark ? ' dark' : ' light') : ` p${ply.mover + 1}`;
    const kind = mark.startsWith('?') ? ' loses' : mark === '!' || kept ? ' keeps' : '';
    const button = make('button', { type: 'button', 'data-ply': String(i + 1), 'data-mark': mark || (kept ? '✓' : ''), class: `move${colour}${kind}` }, ply.action);
    if (mark) button.append(make('span', { class: 'hidden' }, ` ${t.review.name[mark] ?? ''}`));
    if (current) button.setAttribute('aria-current', 'step');
    return [make('li', {}, button), ...branches(i)];
  }), ...branches(match.plies.length));
  const shown = list.querySelector<HTMLElement>('[aria-current]');
  if (shown) list.scrollTop = shown.offsetTop - list.offsetTop - list.clientHeight / 2;
  element('count').textContent = match.plies.length === 0 ? '' : t.count(match.at, match.plies.length);
  element('no-moves').hidden = match.plies.length > 0;
  list.hidden = list.childElementCount === 0;
}

/** Shows the actions that can be chosen: for keyboards, and for actions that are not played on the board. */
export function showLegal(match: Match, actions: string[], act: (action: string) => void): void {
  const buttons = actions.map((action) => {
    const button = make('button', { type: 'button', class: 'legal', 'data-action': action }, action);
    button.addEventListener('click', () => act(action));
    return button;
  });
  element('legal').replaceChildren(...buttons);
  element('legal-count').textContent = actions.length === 0 ? t.none : String(actions.length);
  // Where the board alone does not do, the list is open.
  const hidden = match.view().legal.some(({ clicks }) => clicks.length === 0) || match.game.board.points.length === 0;
  if (hidden) element<HTMLDetailsElement>('legal-moves').open = true;
}
