import { faultText, type LineFault, type LineState } from "../states/line-state.ts";
import type { Transport, Wire, WireHandler } from "./transport.ts";

/** Intervals between attempts to open a port of this machine; they double from `first` to `last`. */
export const RETRY_MS = { first: 250, last: 2_000 };

/** Intervals between dials, without jitter: 1 to 30 s with it. Analyzers are small computers, and many are off at night. */
export const DIAL_RETRY_MS = { first: 2_000, last: 30_000 };

/** A wire that stayed open for this time resets the intervals. */
const STABLE_MS = 2_000;

/** Maximum time to open a connection, with its TLS handshake. */
export const OPENING_MS_MAX = 10_000;

/** Maximum time for which close() waits for a wire. A wire that opens later is closed at once. */
const STOP_MS_MAX = 500;

/**
 * Opens one wire. `opened` is called if it opens; `closed` once it has closed or failed, with the error if there was one.
 * @returns a function that closes the wire or cancels its opening
 */
export type OpenWire = (opened: (wire: Wire) => WireHandler, closed: (error: Error | null) => void) => () => void;

/** @returns the interval after that many failures in a row; jitter takes up to half of it, `random` between 0 and 1 */
export function retryAfterMs(failures: number, { first, last }: typeof RETRY_MS, random: () => number): number {
  return Math.min(first * 2 ** failures, last) * (1 - random() / 2);
}

/** Opens one wire at a time and reopens it with backoff. `explain` turns the error of an attempt into a fault. */
export function reconnectingTransport(
  openWire: OpenWire,
  meanwhile: "opening" | "connecting",
  explain: (error: Error) => LineFault,
  retryMs: typeof RETRY_MS,
  random = () => 0,
): Transport {
  /** Closes the current wire; undefined between two attempts. */
  let stopWire: (() => void) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let isClosed = false;
  let wireStopped: (() => void) | undefined;
  /** Counts a wire that closes soon as a failure, so that its device is not dialled faster than an absent one. */
  const scheduleRetry = (attempt: () => void, openMs: number) => {
    if (openMs >= Math.min(retryMs.last, STABLE_MS)) failures = 0;
    retry = setTimeout(attempt, retryAfterMs(failures, retryMs, random));
    failures += 1;
  };
  return {
    open(accept, problem, stateChanged = () => undefined) {
      const reports = failureReports(explain, problem, stateChanged);
      const attempt = () => {
        let handler: WireHandler | undefined;
        let openedAt = 0;
        let isOver = false;
        const opened = (wire: Wire) => {
          reports.reset();
          openedAt = performance.now();
          handler = accept(wire);
          return handler;
        };
        stopWire = openWire(opened, (error) => {
          if (isOver) return;
          isOver = true;
          stopWire = undefined;
          if (handler !== undefined) stateChanged({ is: meanwhile });
          if (error !== null && handler !== undefined) problem(error.message);
          if (error !== null && handler === undefined) reports.report(error);
          handler?.closed();
          if (isClosed) return wireStopped?.();
          scheduleRetry(attempt, handler === undefined ? 0 : performance.now() - openedAt);
        });
      };
      stateChanged({ is: meanwhile });
      attempt();
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      const stop = stopWire;
      if (stop === undefined) return;
      await new Promise<void>((resolve) => {
        wireStopped = resolve;
        stop();
        setTimeout(resolve, STOP_MS_MAX).unref();
      });
    },
  };
}

/** Reports failed attempts to open a wire, once per change of the error until reset(). */
function failureReports(
  explain: (error: Error) => LineFault,
  problem: (reason: string) => void,
  stateChanged: (state: LineState) => void,
) {
  let reported: string | null = null;
  return {
    reset: () => (reported = null),
    report(error: Error) {
      if (error.message === reported) return;
      reported = error.message;
      const fault = explain(error);
      problem(faultText(fault));
      stateChanged(fault);
    },
  };
}
