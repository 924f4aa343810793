// The board: the game's own drawing with a button over every point. Clicks, drags and keys become actions.

import { announce, element, make, shape } from './dom.js';
import { knock } from './sound.js';
import { sideName, t } from './texts.js';
import type { Board as Info, Legal, Step, View } from './types.js';

/** A mark that an analysis puts on an action. */
export interface Hint {
  clicks: number[];
  /** Weight, 0 to 1: width and opacity. */
  share: number;
  label: string;
  kind: 'search' | 'keeps' | 'loses' | 'advice';
}

/** Distance in pixels up to which a press beside a point that can be played is meant for it: half of a finger. */
const FINGER = 24;

/** Distance in pixels after which a press on a stone is a drag. */
const DRAG = 6;

/** Milliseconds after its end at which a movement is not waited for any longer. */
const PATIENCE = 500;

/** Milliseconds from the beginning of a movement before which a press does not end it: it belongs to the press that began it. */
const SAME_PRESS = 400;

/** How long movements take, where 1 is normal, by what a person chooses. */
export const PACES: Record<string, number> = { slow: 2, normal: 1, fast: 0.5, off: 0 };

const calm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Largest diameter of a point's button in the drawing's units. */
const MOST_REACH = 64;

/** The least distance between two points of a board. */
function room({ points }: Info): number {
  let least = Infinity;
  points.forEach(({ at: [x, y] }, i) => {
    for (const { at: [u, v] } of points.slice(0, i)) least = Math.min(least, Math.hypot(x - u, y - v));
  });
  return least;
}

export class Board {
  private info: Info | null = null;
  private view: View | null = null;
  private selected: number[] = [];
  private enabled = false;
  private focus = 0;
  private readonly drawing = make('div', { class: 'drawing', 'aria-hidden': 'true' });
  private readonly overlay = shape('svg', { class: 'overlay', 'aria-hidden': 'true' });
  private readonly places = make('div', { class: 'points' });
  private buttons: HTMLButtonElement[] = [];
  /** What the last action did. */
  private last: Step[] = [];
  /** Lines that the last action formed. */
  private lit = new Set<string>();
  /** A greater number ends a movement. */
  private movement = 0;
  private moving = false;
  private begun = 0;
  private hurry: () => void = () => undefined;
  /** How fast movements are, one of `PACES`. */
  pace = 'normal';
  /** Whether stones are heard. */
  sound = false;
  /** Degrees by which the board is turned clockwise: 0, 90, 180 or 270. */
  private angle = 0;
  private hints: Hint[] = [];
  private advice: Hint | null = null;
  private editing: ((point: number) => void) | null = null;
  private patches: { point: number; side: number }[] = [];
  /** Diameter of a point's button in the drawing's units. */
  private reach = 40;
  private size: [number, number] = [1, 1];
  private drag: { from: number; x: number; y: number; ghost: SVGElement | null } | null = null;
  private dropped = false;

  constructor(private readonly root: HTMLElement, private readonly onAction: (action: string) => void) {
    root.replaceChildren(this.drawing, this.overlay, this.places);
    this.places.addEventListener('click', (event) => this.click(event));
    this.places.addEventListener('keydown', (event) => this.key(event));
    this.places.addEventListener('pointerdown', (event) => this.press(event));
    this.places.addEventListener('pointermove', (event) => this.move(event));
    this.places.addEventListener('pointerup', (event) => this.release(event));
    this.places.addEventListener('pointercancel', () => this.dragEnd());
  }

  /** Sets up the points of a game. */
  setGame(info: Info): void {
    this.info = info;
    this.focus = 0;
    // Buttons are as large as the board leaves room for; what is drawn in them has the size of what lies on the point.
    const drawn = 2 * Math.min(32, ...info.points.map(({ radius }) => radius));
    this.reach = Math.max(drawn, Math.min(MOST_REACH, room(info)));
    this.root.style.setProperty('--seen', `${(100 * drawn) / this.reach}%`);
    this.root.style.setProperty('--ring', `${(100 * this.ring()) / this.reach}%`);
    this.buttons = info.points.map((_, point) => {
      const button = make('button', { type: 'button', class: 'point', 'data-point': String(point) });
      button.addEventListener('focus', () => { this.focus = point; });
      return button;
    });
    this.places.replaceChildren(...this.buttons);
  }

  /** Shows a position. `last` is what the last action did; actions can be chosen if `enabled`. */
  show(view: View, last: Step[], enabled: boolean): void {
    this.still();
    const old = new Set((this.view ?? view).lines.map(String));
    this.lit = new Set(view.lines.map(String).filter((line) => !old.has(line)));
    if (this.view !== view) [this.selected, this.advice] = [[], null];
    this.view = view;
    this.enabled = enabled && view.outcome === null;
    this.last = last;
    this.draw(view.drawing);
    this.overlay.setAttribute('viewBox', `0 0 ${this.size[0]} ${this.size[1]}`);
    this.root.style.setProperty('--ratio', String(this.size[0] / this.size[1]));
    this.buttons.forEach((button, point) => {
      const [x, y] = this.centre(point);
      button.style.left = `${(100 * (x - this.reach / 2)) / this.size[0]}%`;
      button.style.top = `${(100 * (y - this.reach / 2)) / this.size[1]}%`;
      button.style.width = `${(100 * this.reach) / this.size[0]}%`;
      button.style.height = `${(100 * this.reach) / this.size[1]}%`;
    });
    this.refresh();
  }

  /** Draws a board. */
  private draw(drawing: string): void {
    this.drawing.innerHTML = drawing;
    const svg = this.drawing.querySelector('svg');
    const box = (svg?.getAttribute('viewBox') ?? '0 0 1 1').split(/\s+/).map(Number);
    this.size = [box[2] ?? 1, box[3] ?? 1];
    // The page says beside the board who is to move, so the strip that says it in the drawing is cut off.
    const caption = svg?.querySelector('[data-part="caption"]');
    if (caption) {
      this.size[1] = Number(caption.getAttribute('y')) - 1.05 * Number(caption.getAttribute('font-size'));
      caption.remove();
      svg?.setAttribute('viewBox', `0 0 ${this.size[0]} ${this.size[1]}`);
      svg?.querySelector(':scope > rect')?.setAttribute('height', String(this.size[1]));
    }
    svg?.removeAttribute('width');
    svg?.removeAttribute('height');
    if (svg && this.angle > 0) this.turnDrawing(svg);
  }

  /** Turns the board, with the places of its points; its texts stay upright. */
  turn(angle: number): void {
    if (angle === this.angle) return;
    this.angle = angle;
    if (this.view) this.show(this.view, this.last, this.enabled);
  }

  private turnDrawing(svg: SVGElement): void {
    const [width, height] = this.size;
    const pad = this.pad;
    const ways: Record<number, string> = {
      90: `translate(${height + pad} 0) rotate(90)`, 180: `translate(${width} ${height}) rotate(180)`, 270: `translate(${pad} ${width}) rotate(-90)`,
    };
    const group = shape('g', { transform: ways[this.angle] ?? '' });
    group.append(...[...svg.children].filter(({ tagName }) => tagName !== 'title' && tagName !== 'style'));
    for (const text of group.querySelectorAll('text')) {
      const number = (name: string): number => Number(text.getAttribute(name));
      // Beside an upright board there is more room for them than above and below it.
      if (pad > 0) text.setAttribute('y', String(number('y') + (number('y') < height / 2 ? -32 : 32)));
      text.setAttribute('transform', `rotate(${-this.angle} ${number('x')} ${number('y') - 0.35 * number('font-size')})`);
    }
    const ground = group.querySelector('rect');
    ground?.setAttribute('y', String(-pad));
    ground?.setAttribute('height', String(height + 2 * pad));
    svg.append(group);
    if (this.angle !== 180) this.size = [height + 2 * pad, width];
    svg.setAttribute('viewBox', `0 0 ${this.size[0]} ${this.size[1]}`);
  }

  /** Room beside an upright board for texts that were above and below it. */
  private get pad(): number {
    return this.angle % 180 === 0 ? 0 : 62;
  }

  /** Where a point of the drawing is on the board as it is turned. */
  private turned([x, y]: [number, number]): [number, number] {
    const [width, height] = this.size;
    if (this.angle === 90) return [width - this.pad - y, x];
    if (this.angle === 180) return [width - x, height - y];
    if (this.angle === 270) return [y + this.pad, height - x];
    return [x, y];
  }

  /** Takes no presses until the next position is shown. */
  lock(): void {
    this.dragEnd();
    this.enabled = false;
    this.clear();
  }

  /** Shows marks of an analysis over the board. */
  setHints(hints: Hint[]): void {
    this.hints = hints;
    this.paint();
  }

  /** Hands every press on a point to `pressed` in place of playing; `null` ends that. */
  edit(pressed: ((point: number) => void) | null): void {
    this.editing = pressed;
    this.patches = [];
    this.root.classList.toggle('editing', pressed !== null);
    this.refresh();
  }

  /** Draws pieces over the position, or with side -1 takes them away: what an editor has not yet made a position. */
  patch(patches: { point: number; side: number }[]): void {
    this.patches = patches;
    this.paint();
    for (const { point, side } of patches) {
      const words = side < 0 ? 'empty' : sideName(this.info?.sides[side === 0 ? 0 : 1] ?? '');
      this.buttons[point]?.setAttribute('aria-label', `${this.name(point)}: ${words}`);
    }
  }

  /** Shows the move of a hint, until the position changes. */
  advise(hint: Hint): void {
    this.advice = hint;
    this.refresh();
  }

  /**
   * Shows what an action did, step by step; resolves when it is over or anything else is shown. The caller then shows the new
   * position.
   */
  async animate(steps: Step[]): Promise<void> {
    const pace = calm() || document.hidden ? 0 : PACES[this.pace] ?? 0;
    if (pace === 0) return;
    const mine = ++this.movement;
    [this.moving, this.begun] = [true, performance.now()];
    const hurried = new Promise<void>((resolve) => { this.hurry = resolve; });
    for (const step of steps) {
      this.draw(step.drawing);
      const [[x, y], [u, v]] = [this.place(step.from), this.place(step.to)];
      const flying = this.pieces(step, [x, y]);
      const way = `translate(${u - x}px, ${v - y}px)`;
      const time = pace * Math.min(420, 110 + 1.1 * Math.hypot(u - x, v - y));
      await Promise.race([hurried, this.play(flying, [{ transform: 'translate(0, 0)' }, { transform: way }], time)]);
      flying.remove();
      if (mine !== this.movement) return;
      if (this.sound) knock(step.count);
    }
  }

  /** Ends a movement, so that the position after it is shown. */
  private still(): void {
    this.movement++;
    this.moving = false;
    this.hurry();
    for (const flying of this.overlay.querySelectorAll('.flying')) flying.remove();
  }

  /** Where pieces are, as numbered in steps. */
  private place(place: number): [number, number] {
    if (place >= 0) return this.centre(place);
    const side = -1 - place;
    const store = this.info?.stores[side === 0 ? 0 : 1];
    if (store) return this.turned(store.at);
    const [there, here] = [element(`taken${side}`).getBoundingClientRect(), this.root.getBoundingClientRect()];
    const scale = this.size[0] / here.width;
    return [(there.x + there.width / 2 - here.x) * scale, (there.y + there.height / 2 - here.y) * scale];
  }

  /** Pieces above the board. */
  private pieces({ side, count }: Step, [x, y]: [number, number]): SVGElement {
    const group = shape('g', { class: 'flying' });
    if (side !== null) group.append(shape('circle', { cx: x, cy: y, r: 17, class: this.shade(side) }));
    else {
      // In a spiral, as in their pits.
      for (let n = 0; n < Math.min(count, 24); n++) {
        const [far, angle] = [5.6 * Math.sqrt(n + 0.3), 2.4 * n];
        group.append(shape('circle', { cx: x + far * Math.cos(angle), cy: y + far * Math.sin(angle), r: 5, class: 'ghost seed' }));
      }
    }
    this.overlay.append(group);
    return group;
  }

  private shade(side: number): string {
    return side === this.info?.dark ? 'ghost dark' : 'ghost light';
  }

  private async play(target: Element, frames: Keyframe[], duration: number): Promise<void> {
    const { finished } = target.animate(frames, { duration, easing: 'ease-in-out', fill: 'both' });
    // Browsers may leave a movement unfinished that they do not draw, and the game must go on.
    const late = new Promise((resolve) => { setTimeout(resolve, duration + PATIENCE); });
    await Promise.race([finished.catch(() => undefined), late]);
  }

  private ghost(point: number, side: number): SVGElement {
    const [cx, cy] = this.centre(point);
    const ghost = shape('circle', { cx, cy, r: 17, class: this.shade(side) });
    this.overlay.append(ghost);
    return ghost;
  }

  /** The stone drawn on a point. */
  private stoneAt(point: number): SVGElement | null {
    const [x, y] = this.centre(point);
    const circles = [...this.drawing.querySelectorAll<SVGElement>('circle')];
    const number = (circle: Element, name: string): number => Number(circle.getAttribute(name));
    const at = (circle: Element): boolean =>
      Math.hypot(number(circle, 'cx') - x, number(circle, 'cy') - y) < 1 && number(circle, 'r') > 10 &&
      number(circle, 'r') < 24 && circle.getAttribute('fill') !== 'none';
    return circles.findLast(at) ?? null;
  }

  private centre(point: number): [number, number] {
    return this.turned(this.info?.points[point]?.at ?? [0, 0]);
  }

  private name(point: number): string {
    return this.info?.points[point]?.name ?? '';
  }

  /** The legal actions that begin with the selected points. */
  private open(): Legal[] {
    const begins = (clicks: number[]): boolean => this.selected.every((point, i) => clicks[i] === point);
    return this.enabled ? (this.view?.legal ?? []).filter(({ clicks }) => clicks.length > 0 && begins(clicks)) : [];
  }

  private click(event: MouseEvent): void {
    if (this.dropped) {
      this.dropped = false;
      return;
    }
    if (this.moving) {
      if (performance.now() - this.begun > SAME_PRESS) this.still();
      return;
    }
    const button = (event.target as Element).closest<HTMLElement>('.point');
    const point = button ? Number(button.dataset['point']) : null;
    // Without a pointer, as by a key, an event has no place.
    const meant = event.detail === 0 ? point : this.meant(point, event.clientX, event.clientY);
    if (this.editing && point !== null) this.editing(point);
    else if (meant !== null) this.choose(meant);
  }

  /** The point that a press on `point` or beside all points is meant for: the nearest one that can be played. */
  private meant(point: number | null, x: number, y: number): number | null {
    const step = this.selected.length;
    const firsts = this.enabled ? (this.view?.legal ?? []).map(({ clicks }) => clicks[0]) : [];
    const useful = new Set([...this.open().map(({ clicks }) => clicks[step]), ...firsts]);
    if (point !== null && (useful.has(point) || this.selected.includes(point))) return point;
    const box = this.root.getBoundingClientRect();
    let [best, least] = [point, FINGER];
    for (const one of useful) {
      if (one === undefined) continue;
      const [u, v] = this.centre(one);
      const far = Math.hypot(box.left + (u / this.size[0]) * box.width - x, box.top + (v / this.size[1]) * box.height - y);
      if (far < least) [best, least] = [one, far];
    }
    return best;
  }

  private choose(point: number): void {
    if (!this.enabled || !this.view) return;
    const next = this.open().filter(({ clicks }) => clicks[this.selected.length] === point);
    const name = this.name(point);
    if (next.length === 0) {
      const again = this.selected.length > 0 && point !== this.selected[0];
      this.selected = [];
      if (again && this.open().some(({ clicks }) => clicks[0] === point)) {
        this.choose(point);
        return;
      }
      if (again || this.open().every(({ clicks }) => clicks[0] !== point)) this.refuse(point);
      this.refresh();
      return;
    }
    const whole = next.find(({ clicks }) => clicks.length === this.selected.length + 1);
    if (whole) {
      this.selected = [];
      this.onAction(whole.action);
      return;
    }
    this.selected.push(point);
    const targets = next.map(({ clicks }) => this.name(clicks[this.selected.length] ?? 0));
    announce(t.board.selected(name, targets.join('; ')));
    this.refresh();
  }

  /** Says and shows that nothing can be done with a point. */
  private refuse(point: number): void {
    announce(t.board.refused(this.name(point)));
    const [cx, cy] = this.centre(point);
    const ring = shape('circle', { cx, cy, r: this.ring(), class: 'refused pulse' });
    this.overlay.append(ring);
    void this.play(ring, [{ opacity: 1 }, { opacity: 0 }], 700).then(() => ring.remove());
  }

  /** Clears the selection. */
  private clear(): void {
    this.selected = [];
    this.refresh();
  }

  private refresh(): void {
    const { info, view } = this;
    if (!info || !view) return;
    const step = this.selected.length;
    const targets = new Set(this.open().map(({ clicks }) => clicks[step]));
    const begins = this.open().some(({ clicks }) => clicks.length > step + 1);
    this.buttons.forEach((button, point) => {
      const target = targets.has(point);
      const chosen = this.selected.includes(point);
      button.className = 'point';
      const content = view.contents[point] ?? '';
      if (target) button.classList.add(step === 0 && begins ? 'origin' : 'target');
      if (content !== 'empty' && content !== '') button.classList.add('filled');
      if (chosen) button.classList.add('chosen');
      const words = [
        `${this.name(point)}${content ? `: ${content}` : ''}`,
        chosen ? t.board.chosen : '',
        target ? (step === 0 && begins ? t.board.canMove : t.board.legal) : '',
        this.last.some(({ from, to }) => from === point || to === point) ? t.board.last : '',
        this.advice?.clicks.includes(point) ? t.board.hint : '',
      ];
      button.setAttribute('aria-label', words.filter((word) => word !== '').join(', '));
      button.setAttribute('aria-disabled', String(!target && !chosen && this.editing === null));
      button.setAttribute('aria-pressed', String(chosen));
      button.tabIndex = point === this.focus ? 0 : -1;
    });
    this.paint();
  }

  /** Draws the marks over the board. */
  private paint(): void {
    const shapes: SVGElement[] = [];
    for (const line of this.view?.lines ?? []) {
      const [first, end] = this.ends(line);
      const [[x1, y1], [x2, y2]] = [this.centre(first), this.centre(end)];
      shapes.push(shape('line', { x1, y1, x2, y2, class: this.lit.has(String(line)) ? 'formed lit' : 'formed' }));
    }
    shapes.push(...this.traces());
    for (const { point, side } of this.patches) {
      const [cx, cy] = this.centre(point);
      const colour = side < 0 ? 'gone' : this.shade(side);
      shapes.push(shape('circle', { cx, cy, r: 17, class: `patch ${colour}` }));
    }
    for (const hint of [...(this.advice ? [this.advice] : []), ...this.hints].toReversed()) shapes.push(...this.hint(hint));
    for (const ghost of this.overlay.querySelectorAll(':scope > .ghost:not(.patch), .pulse')) shapes.push(ghost as SVGElement);
    this.overlay.replaceChildren(...shapes);
  }

  /** What the last action did: where it came from and through, where it ended, and what it took. */
  private traces(): SVGElement[] {
    const end = this.last.findLastIndex(({ to }) => to >= 0);
    const ring = (point: number, kind: string): SVGElement[] => {
      const [cx, cy] = this.centre(point);
      return point < 0 ? [] : [shape('circle', { cx, cy, r: this.ring(), class: `last ${kind}` })];
    };
    return this.last.flatMap(({ from, to, side }, i) => {
      const taken = to < 0 && from >= 0 && (side !== null || (i > 0 && from !== this.last[i - 1]?.to));
      if (!taken) return [...(i === 0 ? ring(from, 'from') : []), ...ring(to, i === end ? 'end' : 'through')];
      const [x, y] = this.centre(from);
      return [shape('path', { d: `M${x - 7} ${y - 7}l14 14m0 -14l-14 14`, class: 'last taken' })];
    });
  }

  /** Radius of the ring around the points of the last action: around a stone, or around a pit. */
  private ring(): number {
    const radius = Math.min(32, ...(this.info?.points ?? []).map((point) => point.radius));
    return radius > 26 ? radius + 2 : Math.min(21, radius + 3);
  }

  /** The two points of a line that are farthest apart. */
  private ends(line: number[]): [number, number] {
    let best: [number, number] = [line[0] ?? 0, line[line.length - 1] ?? 0];
    let longest = -1;
    for (const a of line) {
      for (const b of line) {
        const [[x, y], [u, v]] = [this.centre(a), this.centre(b)];
        const length = Math.hypot(x - u, y - v);
        if (length > longest) [best, longest] = [[a, b], length];
      }
    }
    return best;
  }

  private hint({ clicks, share, label, kind }: Hint): SVGElement[] {
    const [first, end] = [clicks[0], clicks[clicks.length - 1]];
    if (first === undefined || end === undefined) return [];
    const [[x1, y1], [x2, y2]] = [this.centre(first), this.centre(end)];
    const opacity = 0.3 + 0.6 * share;
    if (first === end) {
      return [
        shape('circle', { cx: x2, cy: y2, r: 6 + 11 * Math.sqrt(share), class: `heat ${kind}`, opacity }),
        shape('text', { x: x2, y: y2 + 4, class: 'label' }, label),
      ];
    }
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const width = 3 + 6 * share;
    const head = 5 + width;
    const [bx, by] = [x2 - dx * (head + 4), y2 - dy * (head + 4)];
    const tip = `M${x2 - dx * 4} ${y2 - dy * 4}L${bx - dy * head * 0.7} ${by + dx * head * 0.7}L${bx + dy * head * 0.7} ${by - dx * head * 0.7}Z`;
    return [
      shape('line', { x1, y1, x2: bx, y2: by, class: `arrow ${kind}`, 'stroke-width': width, opacity }),
      shape('path', { d: tip, class: `tip ${kind}`, opacity }),
      // Near its origin: arrows cross and meet at their ends.
      shape('text', { x: x1 + (x2 - x1) * 0.3, y: y1 + (y2 - y1) * 0.3 + 4, class: 'label' }, label),
    ];
  }

  /** Arrow keys go to the nearest point in their direction. */
  private key(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      this.clear();
      return;
    }
    const directions: Record<string, [number, number]> = {
      ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
    };
    const direction = directions[event.key];
    if (!direction) return;
    event.preventDefault();
    const [x, y] = this.centre(this.focus);
    let best: number | null = null;
    let least = Infinity;
    this.info?.points.forEach((_, point) => {
      const [u, v] = this.centre(point);
      const along = (u - x) * direction[0] + (v - y) * direction[1];
      const aside = Math.abs((u - x) * direction[1]) + Math.abs((v - y) * direction[0]);
      const cost = along + 2 * aside;
      if (along > 1 && cost < least) [best, least] = [point, cost];
    });
    if (best === null) return;
    this.buttons[this.focus]?.setAttribute('tabindex', '-1');
    this.focus = best;
    const button = this.buttons[best];
    button?.setAttribute('tabindex', '0');
    button?.focus();
  }

  private pointAt(x: number, y: number): number | null {
    const button = document.elementFromPoint(x, y)?.closest<HTMLElement>('.point');
    return button ? Number(button.dataset['point']) : null;
  }

  private press(event: PointerEvent): void {
    this.dropped = false;
    const point = this.meant(this.pointAt(event.clientX, event.clientY), event.clientX, event.clientY);
    if (point === null || event.button !== 0 || !this.enabled) return;
    const starts = (view: View): boolean => view.legal.some(({ clicks }) => clicks.length > 1 && clicks[0] === point);
    if (!this.view || !starts(this.view)) return;
    this.drag = { from: point, x: event.clientX, y: event.clientY, ghost: null };
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) return;
    if (!drag.ghost) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG) return;
      this.selected = [];
      this.choose(drag.from);
      drag.ghost = this.ghost(drag.from, this.view?.mover ?? 0);
      this.places.setPointerCapture(event.pointerId);
      this.stoneAt(drag.from)?.setAttribute('opacity', '0.3');
    }
    const box = this.root.getBoundingClientRect();
    drag.ghost.setAttribute('cx', String(((event.clientX - box.left) / box.width) * this.size[0]));
    drag.ghost.setAttribute('cy', String(((event.clientY - box.top) / box.height) * this.size[1]));
  }

  private release(event: PointerEvent): void {
    const dragged = this.drag?.ghost;
    this.dragEnd();
    if (!dragged) return;
    // The click that follows a drag is part of it.
    this.dropped = true;
    setTimeout(() => { this.dropped = false; }, 0);
    const box = this.root.getBoundingClientRect();
    const at = [((event.clientX - box.left) / box.width) * this.size[0], ((event.clientY - box.top) / box.height) * this.size[1]];
    const far = (point: number): number => Math.hypot(this.centre(point)[0] - (at[0] ?? 0), this.centre(point)[1] - (at[1] ?? 0));
    const near = this.buttons.map((_, point) => point).toSorted((a, b) => far(a) - far(b))[0];
    if (near !== undefined && far(near) < this.reach / 2 && near !== this.selected[0]) this.choose(near);
    else this.refresh();
  }

  private dragEnd(): void {
    const { drag } = this;
    this.drag = null;
    drag?.ghost?.remove();
    if (drag) this.stoneAt(drag.from)?.removeAttribute('opacity');
  }
}
