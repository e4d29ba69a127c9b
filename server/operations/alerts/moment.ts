/**
 * The time of an evaluation. `reached` makes all comparisons with it, and notes the first time at which one of them changes. Until then
 * the same facts have the same outcome.
 */
export class Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  #next = Number.POSITIVE_INFINITY;

  constructor(now: number) {
    this.now = now;
  }

  /** The first time at which a comparison changes; infinite if none does. */
  get next(): number {
    return this.#next;
  }

  /** Whether a time has come. */
  reached(time: number): boolean {
    if (time <= this.now) return true;
    this.#next = Math.min(this.#next, time);
    return false;
  }
}
