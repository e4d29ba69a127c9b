/**
 * The time of receipt of images, in whole ms since 1970. The main thread tells how far this machine's clock is ahead, at the start and
 * with each response of the server. A clock that is set back in between stamps no image as old, which would expire at once.
 */
export class ReceiptClock {
  readonly #wall: () => number;
  readonly #running: () => number;
  #aheadMs = 0;
  /** The time minus the running time, when the main thread told last. */
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
