/**
 * The time of an evaluation. Whoever compares with it asks `reached`, so that it knows when the first of these answers changes by time
 * alone. Until then the same facts have the same outcome.
 */
export class Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  #next = Number.POSITIVE_INFINITY;

  constructor(now: number) {
    this.now = now;
  }

  /** The first time at which an answer changes; infinite if none does. */
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
