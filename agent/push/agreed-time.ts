import { type Exchange, OFFSET_MS_MAX, offsetOf } from "./clock-watch.ts";

// Judges this machine's clock by the server's, so that a wrong clock expires nothing and files nothing in the future.
//
// Neither clock is known to be right. A clock that left the time upon which both agreed is wrong, and so is one that is behind an
// earlier agreed time. The running time of the process measures the time since.

export interface Clock {
  /** Milliseconds since 1970. A user or a network may set it. */
  readonly wall: () => number;
  /** Milliseconds of running time, which nobody can set. */
  readonly running: () => number;
}

const REAL: Clock = { wall: () => Date.now(), running: () => performance.now() };

/** Difference up to which two clocks agree about days. A PC with a wrong time zone still removes its old rows. */
const AGREED_MS_MAX = 24 * 60 * 60_000;

/** A time of the wall clock, and the running time at that moment. */
interface Moment {
  readonly wall: number;
  readonly running: number;
}

/** The clocks at the server's last response. */
interface Comparison extends Moment {
  /** This machine's clock minus the server's, in ms. */
  readonly offsetMs: number;
  /** This machine's clock minus the right time as far as it is known; 0 unless it is wrong by more than a minute. */
  readonly aheadMs: number;
}

export class AgreedTime {
  readonly #clock: Clock;
  /** A time upon which both clocks agreed in an earlier process; 0 without one. */
  notBefore: number;
  #last: Comparison | null = null;
  /** The last moment at which the clocks agreed to a minute. */
  #agreed: Moment | null = null;

  constructor(notBefore = 0, clock: Clock = REAL) {
    this.notBefore = notBefore;
    this.#clock = clock;
  }

  /** Takes the times of a request, also of a failed one. @returns false if its response has no valid date */
  heard({ date, sentAt, receivedAt }: Exchange): boolean {
    const offset = offsetOf(Date.parse(date ?? ""), sentAt, receivedAt);
    if (offset === null) return false;
    const moment = { wall: receivedAt, running: this.#clock.running() };
    const isEqual = offset.leastMs <= OFFSET_MS_MAX;
    const offsetMs = isEqual ? 0 : offset.ms;
    this.#last = { ...moment, offsetMs, aheadMs: isEqual ? 0 : this.#aheadMs(moment, offsetMs) };
    if (isEqual) this.#agreed = moment;
    return true;
  }

  /**
   * The time by which old data may be removed, in whole ms since 1970: the earlier of both clocks.
   * @returns null while they differ by more than a day, and from a jump of this machine's clock until the server's next response
   */
  now(): number | null {
    const last = this.#last;
    if (last === null || Math.abs(last.offsetMs) > AGREED_MS_MAX) return null;
    if (Math.abs(this.#jumpedMs(last)) > AGREED_MS_MAX) return null;
    return Math.round(this.#clock.wall() - Math.max(0, last.offsetMs));
  }

  /**
   * The time as far as it is known, in whole ms since 1970. A clock that was set ahead does not count before the server
   * confirms it.
   */
  best(): number {
    const wall = this.#clock.wall();
    // A clock without a battery starts years late.
    if (this.#last === null) return Math.max(wall, this.notBefore);
    const { aheadMs } = this.#last;
    const jumpedMs = this.#jumpedMs(this.#last);
    // A machine that slept jumps too. Too early a time until the next response, seconds later, is the lesser fault.
    const ms = Math.abs(jumpedMs) > OFFSET_MS_MAX ? Math.min(wall, wall - jumpedMs - aheadMs) : wall - aheadMs;
    return Math.round(ms); // the running time has fractions of a millisecond
  }

  /** How far this machine's clock is ahead of the right time, in ms; 0 while it counts as right. */
  get aheadMs(): number {
    return this.#clock.wall() - this.best();
  }

  /** The last time at which the clocks agreed to a minute, for the next process; null before the first. */
  get agreedAt(): number | null {
    return this.#agreed?.wall ?? null;
  }

  /** How far this machine's clock has moved beyond the running time. */
  #jumpedMs({ wall, running }: Moment): number {
    return this.#clock.wall() - wall - (this.#clock.running() - running);
  }

  #aheadMs({ wall, running }: Moment, offsetMs: number): number {
    const server = wall - offsetMs;
    const agreed = this.#agreed;
    if (agreed !== null) {
      const least = agreed.wall + running - agreed.running;
      if (Math.abs(wall - least) <= OFFSET_MS_MAX) return 0;
      if (Math.abs(server - least) <= OFFSET_MS_MAX) return offsetMs;
      // Both clocks are wrong, or the machine slept, while the running time stops. Nothing is filed in the future.
      return wall - Math.max(least, Math.min(wall, server));
    }
    if (wall < this.notBefore !== server < this.notBefore) return wall < this.notBefore ? offsetMs : 0;
    return Math.max(0, offsetMs); // nothing is filed in the future
  }
}
