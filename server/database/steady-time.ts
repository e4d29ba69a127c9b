// The time by which old rows may be removed for ever. A wall clock that jumped years ahead must not remove the history, so it
// counts only after it has moved along with the running time for hours.

export interface Clock {
  /** Milliseconds since 1970. A user or a network may set it. */
  readonly wall: () => number;
  /** Milliseconds of running time, which nobody can set. */
  readonly running: () => number;
}

/** Running time without a jump, after which the wall clock counts. A clinic's PC that is off at night reaches it each day. */
export const STEADY_MS = 6 * 3_600_000;

/** A smaller change of the clock is a correction, or a machine that slept. Every retention has many days. */
const JUMP_MS = 24 * 3_600_000;

export class SteadyTime {
  readonly #clock: Clock;
  #last: { readonly wall: number; readonly running: number };
  /** Running time since which the clock has not jumped. */
  #since: number;

  constructor({ wall, running = () => performance.now() }: Pick<Clock, "wall"> & Partial<Clock>) {
    this.#clock = { wall, running };
    this.#last = this.#read();
    this.#since = this.#last.running;
  }

  /** The time in ms since 1970. @returns null until the clock has been steady for STEADY_MS since the start or its last jump */
  now(): number | null {
    const last = this.#last;
    const { wall, running } = (this.#last = this.#read());
    if (Math.abs(wall - last.wall - (running - last.running)) > JUMP_MS) this.#since = running;
    return running - this.#since < STEADY_MS ? null : wall;
  }

  #read() {
    return { wall: this.#clock.wall(), running: this.#clock.running() };
  }
}
