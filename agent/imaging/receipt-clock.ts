/**
 * The time of receipt of images, in whole ms since 1970. The main thread reports how far this machine's clock is ahead, at the
 * start and with each response of the server. If the clock is set back in between, images are not stamped as old: they would
 * expire immediately.
 */
export class ReceiptClock {
  readonly #wall: () => number;
  readonly #running: () => number;
  #aheadMs = 0;
  /** The time minus the running time, at the main thread's last report. */
  #base = Number.NEGATIVE_INFINITY;

  /** `running` is the running time in ms, which nobody can set. */
  constructor(wall: () => number = Date.now, running: () => number = () => performance.now()) {
    this.#wall = wall;
    this.#running = running;
  }

  /** Takes how far this machine's clock is ahead of the right time now, in ms. */
  isAhead(ms: number): void {
    this.#aheadMs = ms;
    this.#base = this.#wall() - ms - this.#running();
  }

  /** A machine that slept has less running time: then its clock counts. */
  now(): number {
    return Math.round(Math.max(this.#wall() - this.#aheadMs, this.#base + this.#running()));
  }
}
