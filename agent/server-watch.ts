import type { ServerState } from "./server-state.ts";

// What requests to the server tell beside their answers: whether it can be reached, and how far apart the clocks are.

/** One request, by this machine's clock in milliseconds since 1970. */
export interface Exchange {
  /** Why the server cannot be used; null when it can. */
  readonly problem: string | null;
  /** The Date header of the answer (RFC 9110 §6.6.1). */
  readonly date: string | undefined;
  readonly sentAt: number;
  readonly receivedAt: number;
}

export interface WatchEvents {
  changed(state: ServerState): void;
  /** The clocks differ by more than a minute, by another minute than reported before, or no longer (null). */
  clock(offsetS: number | null): void;
}

const OFFSET_MS_MAX = 60_000;
/** A clock that drifts about the limit is reported once. */
const OFFSET_MS_RIGHT = 30_000;
/** The Date header has whole seconds, and answers take time: a smaller step is no change. */
const OFFSET_S_STEP = 5;

export class ServerWatch {
  readonly #events: WatchEvents;
  #state: ServerState | null = null;
  #reportedMs = 0;

  constructor(events: WatchEvents) {
    this.#events = events;
  }

  heard({ problem, date, sentAt, receivedAt }: Exchange): void {
    const offset = offsetOf(Date.parse(date ?? ""), sentAt, receivedAt);
    if (offset !== null) this.#report(offset);
    const before = this.#state;
    const known = before?.clock ?? null;
    const offset_s = offset === null ? null : seconds(offset.ms);
    const stays = offset_s === null || (known !== null && Math.abs(offset_s - known.offset_s) < OFFSET_S_STEP);
    const state = { server: { problem }, clock: stays ? known : { offset_s } };
    if (before !== null && before.server.problem === problem && before.clock === state.clock) return;
    this.#state = state;
    this.#events.changed(state);
  }

  #report({ ms, leastMs }: Offset): void {
    if (leastMs > OFFSET_MS_MAX) {
      if (Math.abs(ms - this.#reportedMs) <= OFFSET_MS_MAX) return;
      this.#reportedMs = ms;
      this.#events.clock(seconds(ms));
    } else if (leastMs < OFFSET_MS_RIGHT && this.#reportedMs !== 0) {
      this.#reportedMs = 0;
      this.#events.clock(null);
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
