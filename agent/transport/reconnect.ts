import { type Backoff, backoffMs } from "../runtime/backoff.ts";
import { faultText, type LineFault, type LineState } from "../states/line-state.ts";
import type { Transport, Wire, WireHandler } from "./transport.ts";

/** Delays between attempts to open a port of this machine. */
export const PORT_RETRY: Backoff = { firstMs: 250, lastMs: 2_000, jitter: 0 };

/** Delays between dials, 1 to 30 s with jitter. Analyzers are small computers, and many are off at night. */
export const DIAL_RETRY: Backoff = { firstMs: 2_000, lastMs: 30_000, jitter: 0.5 };

/** A wire that stayed open for this time resets the backoff. */
const STABLE_MS = 2_000;

/** Maximum time to open a connection, with its TLS handshake. */
export const OPENING_MS_MAX = 10_000;

/** Maximum time for which close() waits for a wire. A wire that opens later is closed immediately. */
const STOP_MS_MAX = 500;

/**
 * Opens one wire. `opened` is called if it opens; `closed` once it has closed or failed, with the error if there was one.
 * @returns a function that closes the wire or cancels its opening
 */
export type OpenWire = (opened: (wire: Wire) => WireHandler, closed: (error: Error | null) => void) => () => void;

/**
 * Opens one wire at a time and reopens it with backoff. `closedState` is the state of the line between two wires. `explain`
 * turns the error of an attempt into a fault.
 */
export function reconnectingTransport(
  openWire: OpenWire,
  closedState: "opening" | "connecting",
  explain: (error: Error) => LineFault,
  backoff: Backoff,
  random?: () => number,
): Transport {
  /** Closes the current wire; undefined between two attempts. */
  let stopWire: (() => void) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let isClosed = false;
  let wireStopped: (() => void) | undefined;
  /** Counts a wire that closes soon as a failure, so that its device is not dialled faster than an absent one. */
  const scheduleRetry = (attempt: () => void, openMs: number) => {
    if (openMs >= Math.min(backoff.lastMs, STABLE_MS)) failures = 0;
    failures += 1;
    retry = setTimeout(attempt, backoffMs(failures, backoff, random));
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
          if (handler !== undefined) stateChanged({ is: closedState });
          if (error !== null && handler !== undefined) problem(error.message);
          if (error !== null && handler === undefined) reports.report(error);
          handler?.closed();
          if (isClosed) return wireStopped?.();
          scheduleRetry(attempt, handler === undefined ? 0 : performance.now() - openedAt);
        });
      };
      stateChanged({ is: closedState });
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

/** Reports failed attempts to open a wire or a port, once per change of the error until reset(). */
export function failureReports(
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
