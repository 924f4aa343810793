// Clocks of the two players, which can be off.

export class Clocks {
  private left: [number, number] | null = null;
  private running: number | null = null;
  private since = 0;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly show: (left: [number, number] | null) => void, private readonly flagged: (side: number) => void) {}

  /** Sets both clocks to some minutes, or switches them off with 0. */
  reset(minutes: number): void {
    this.stop();
    this.left = minutes > 0 ? [minutes * 60_000, minutes * 60_000] : null;
    this.show(this.left);
  }

  /** What is left of the clocks in milliseconds; `null` while they are off. */
  get remaining(): [number, number] | null {
    this.tick();
    return this.left && [Math.round(this.left[0]), Math.round(this.left[1])];
  }

  /** Sets the clocks to what was left of them. */
  restore(left: [number, number]): void {
    this.stop();
    this.left = [...left];
    this.show(this.left);
  }

  /** Lets a side's clock run. */
  start(side: number): void {
    if (!this.left || this.running === side) return;
    this.stop();
    this.running = side;
    this.since = performance.now();
    this.timer = setInterval(() => this.tick(), 200);
  }

  stop(): void {
    this.tick();
    clearInterval(this.timer);
    this.running = null;
  }

  private tick(): void {
    const side = this.running;
    if (!this.left || side === null) return;
    const now = performance.now();
    this.left[side === 0 ? 0 : 1] -= now - this.since;
    this.since = now;
    this.show(this.left);
    if (this.left[side === 0 ? 0 : 1] <= 0) {
      this.left[side === 0 ? 0 : 1] = 0;
      clearInterval(this.timer);
      this.running = null;
      this.show(this.left);
      this.flagged(side);
    }
  }
}

/** `m:ss`, rounded up as chess clocks do. */
export function clockText(milliseconds: number): string {
  const seconds = Math.ceil(Math.max(0, milliseconds) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
