// The chance to win over a game, as a curve that can be clicked.

import { shape } from './dom.js';
import type { Match } from './match.js';
import type { Mark } from './judge.js';
import { chanceText, t, sideName } from './texts.js';

const [WIDTH, HEIGHT] = [400, 120];

/** Draws the values for player 1 by ply, where they are known, and marks of the plies. */
export function draw(svg: SVGSVGElement, match: Match, valueAt: (ply: number) => number | undefined, marks: Mark[] = []): void {
  const count = Math.max(match.plies.length, 1);
  const x = (ply: number): number => 8 + ((WIDTH - 16) * ply) / count;
  const y = (value: number): number => HEIGHT / 2 - (HEIGHT / 2 - 20) * value;
  const known: [number, number][] = [];
  for (let ply = 0; ply <= match.plies.length; ply++) {
    const { outcome } = match.view(ply);
    const value = outcome ? (outcome.winner === null ? 0 : outcome.winner === 0 ? 1 : -1) : valueAt(ply);
    if (value !== undefined) known.push([ply, value]);
  }
  const path = known.map(([ply, value], i) => `${i === 0 ? 'M' : 'L'}${x(ply).toFixed(1)} ${y(value).toFixed(1)}`).join('');
  const strips = Array.from({ length: match.plies.length + 1 }, (_, ply) =>
    shape('rect', { x: x(ply) - 192 / count, y: 0, width: 384 / count, height: HEIGHT, class: 'strip', 'data-ply': ply }));
  const [first, second] = match.game.board.sides.map(sideName);
  const bad = (ply: number): string => ((marks[ply - 1] ?? '').startsWith('?') ? ' bad' : '');
  svg.replaceChildren(
    shape('line', { x1: 0, y1: HEIGHT / 2, x2: WIDTH, y2: HEIGHT / 2, class: 'axis' }),
    shape('line', { x1: x(match.at), y1: 0, x2: x(match.at), y2: HEIGHT, class: 'now' }),
    shape('text', { x: 6, y: 14, class: 'end' }, t.look.wins(first ?? '')),
    shape('text', { x: 6, y: HEIGHT - 6, class: 'end' }, t.look.wins(second ?? '')),
    shape('path', { d: path, class: 'course' }),
    ...known.map(([ply, value]) =>
      shape('circle', { cx: x(ply), cy: y(value), r: bad(ply) ? 4 : known.length > 60 ? 1.5 : 3, class: `dot${bad(ply)}` })),
    ...strips,
  );
  const last = known[known.length - 1];
  svg.setAttribute('aria-label', t.look.curve(first ?? '', match.plies.length, last ? chanceText(last[1], 0) : ''));
}
