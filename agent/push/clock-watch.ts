// How far this machine's clock is from the server's, by the Date header of the server's answers.

/** One request, by this machine's clock in milliseconds since 1970. */
export interface Exchange {
  /** The Date header of the answer (RFC 9110 §6.6.1); undefined without one. */
  readonly date: string | undefined;
  readonly sentAt: number;
  readonly receivedAt: number;
}

export interface ClockEvents {
  /** The offset in seconds, after the first answer and when it changed by five seconds. */
  changed(offsetS: number): void;
  /** The clocks differ by more than a minute, by another minute than reported before, or no longer (null). */
  isWrong(offsetS: number | null): void;
}

const OFFSET_MS_MAX = 60_000;
/** A clock that drifts about the limit is reported once. */
const OFFSET_MS_RIGHT = 30_000;
/** The Date header has whole seconds, and answers take time: a smaller step is no change. */
const OFFSET_S_STEP = 5;

export class ClockWatch {
  readonly #events: ClockEvents;
  #offsetS: number | null = null;
  #reportedMs = 0;

  constructor(events: ClockEvents) {
    this.#events = events;
  }

  heard({ date, sentAt, receivedAt }: Exchange): void {
    const offset = offsetOf(Date.parse(date ?? ""), sentAt, receivedAt);
    if (offset === null) return;
    this.#report(offset);
    const offsetS = seconds(offset.ms);
    if (this.#offsetS !== null && Math.abs(offsetS - this.#offsetS) < OFFSET_S_STEP) return;
    this.#offsetS = offsetS;
    this.#events.changed(offsetS);
  }

  #report({ ms, leastMs }: Offset): void {
    if (leastMs > OFFSET_MS_MAX) {
      if (Math.abs(ms - this.#reportedMs) <= OFFSET_MS_MAX) return;
      this.#reportedMs = ms;
      this.#events.isWrong(seconds(ms));
    } else if (leastMs < OFFSET_MS_RIGHT && this.#reportedMs !== 0) {
      this.#reportedMs = 0;
      this.#events.isWrong(null);
    }
  }
}

interface Offset {
  /** This machine's clock less the server's, the middle of what is possible. */
  readonly ms: number;
  /** By how much they differ at least. */
  readonly leastMs: number;
}

// The server wrote `date`, cut to the second, at some moment between `sentAt` and `receivedAt`.
function offsetOf(date: number, sentAt: number, receivedAt: number): Offset | null {
  if (Number.isNaN(date)) return null;
  const [low, high] = [sentAt - date - 1000, receivedAt - date];
  return { ms: (low + high) / 2, leastMs: Math.max(low, -high, 0) };
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

/** Whether the clocks differ by more than a minute. */
export function isClockWrong(offsetS: number): boolean {
  return Math.abs(offsetS) > OFFSET_MS_MAX / 1000;
}

/** The offset as a sentence for a person. */
export function clockSentence(offsetS: number): string {
  const direction = offsetS > 0 ? "ahead of" : "behind";
  return `this machine's clock is ${Math.abs(offsetS)} s ${direction} the server's, expected at most 60 s: set the one that is wrong`;
}
