import { type Advised, advisedText } from "../../shared/runtime/advised.ts";

// Compares this machine's clock with the server's, by the Date header of responses.

/** Times of one request by this machine's clock, in ms since 1970. */
export interface Exchange {
  /** Date header of the response (RFC 9110 §6.6.1); undefined without one. */
  readonly date: string | undefined;
  readonly sentAt: number;
  readonly receivedAt: number;
}

export interface ClockEvents {
  /** Reports the offset after the first response, and after each change of at least OFFSET_S_STEP. */
  changed(offsetS: number): void;
  /** Reports an offset above a minute, again after a change of more than a minute; null once the clocks agree. */
  isWrong(offsetS: number | null): void;
}

/** Offset above which the clock is wrong. */
export const OFFSET_MS_MAX = 60_000;
/** Offset below which a wrong clock is right again. A clock that drifts around the limit is reported once. */
const OFFSET_MS_RIGHT = 30_000;
/** Smallest reported change. Smaller ones come from the whole seconds of the Date header and the time of the response. */
const OFFSET_S_STEP = 5;

export class ClockWatch {
  readonly #events: ClockEvents;
  #offsetS: number | null = null;
  #reportedMs = 0;

  constructor(events: ClockEvents) {
    this.#events = events;
  }

  /** Takes the times of a request, also of a failed one. */
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

export interface Offset {
  /** This machine's clock minus the server's: the middle of the possible values. */
  readonly ms: number;
  /** The least possible difference. */
  readonly leastMs: number;
}

/** The server wrote `date`, cut to the second, between `sentAt` and `receivedAt`. @returns null without a valid date */
export function offsetOf(date: number, sentAt: number, receivedAt: number): Offset | null {
  if (Number.isNaN(date)) return null;
  const [low, high] = [sentAt - date - 1000, receivedAt - date];
  return { ms: (low + high) / 2, leastMs: Math.max(low, -high, 0) };
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

/** @returns true if the clocks differ by more than a minute */
export function isClockWrong(offsetS: number): boolean {
  return Math.abs(offsetS) > OFFSET_MS_MAX / 1000;
}

/** Formats the offset as a sentence with an instruction. */
export function clockSentence(offsetS: number): string {
  return advisedText(clockFault(offsetS));
}

export function clockFault(offsetS: number) {
  const direction = offsetS > 0 ? "ahead of" : "behind";
  const fault = `this machine's clock is ${Math.abs(offsetS)} s ${direction} the server's, expected at most 60 s`;
  return { fault, remedy: "set the one that is wrong" } satisfies Advised;
}
