import { faultText, type LineFault } from "../states/line-state.ts";
import type { Transport, Wire, WireHandler } from "./transport.ts";

/** A device that vanished is looked for again and again, at growing intervals; a replugged one is back within the last. */
export const RETRY_MS = { first: 250, last: 2_000 };

/** One that is dialled: analyzers are small computers, and many are off at night. With its jitter 1 to 30 s. */
export const DIAL_RETRY_MS = { first: 2_000, last: 30_000 };

/** A wire that stood so long was a good one: the intervals begin anew. */
const LASTING_MS = 2_000;

/** A connection, with its TLS handshake, is made within that or not at all. */
export const OPENING_MS_MAX = 10_000;

export type Open = (opened: (wire: Wire) => WireHandler, closed: (reason: Error | null) => void) => () => void;

/** The interval after so many attempts in a row that led to nothing; jitter takes up to half of it. */
export function retryAfterMs(failures: number, { first, last }: typeof RETRY_MS, random: () => number): number {
  return Math.min(first * 2 ** failures, last) * (1 - random() / 2);
}

/** Opens one wire at a time, and another after it closed or could not be opened; `explain` says why one could not. */
export function reopening(
  openOne: Open,
  meanwhile: "opening" | "connecting",
  explain: (error: Error) => LineFault,
  retryMs: typeof RETRY_MS,
  random = () => 0,
): Transport {
  let end: (() => void) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let ended = false;
  let whenClosed: (() => void) | undefined;
  return {
    open(accept, problem, stands = () => undefined) {
      let told: string | null = null;
      const tell = (error: Error, wasOpen: boolean) => {
        if (wasOpen) return problem(error.message);
        if (error.message === told) return;
        told = error.message;
        const fault = explain(error);
        problem(faultText(fault));
        stands(fault);
      };
      const attempt = () => {
        let handler: WireHandler | undefined;
        let openedAt = Number.POSITIVE_INFINITY;
        let over = false;
        end = openOne(
          (wire) => {
            told = null;
            openedAt = performance.now();
            handler = accept(wire);
            return handler;
          },
          (error) => {
            if (over) return;
            over = true;
            end = undefined;
            if (handler !== undefined) stands({ is: meanwhile });
            if (error !== null) tell(error, handler !== undefined);
            handler?.closed();
            if (ended) return whenClosed?.();
            // A device that hangs up as soon as it is there is not dialled any faster than one that is not there.
            if (performance.now() - openedAt >= Math.min(retryMs.last, LASTING_MS)) failures = 0;
            retry = setTimeout(attempt, retryAfterMs(failures, retryMs, random));
            failures += 1;
          },
        );
      };
      stands({ is: meanwhile });
      attempt();
    },
    async close() {
      ended = true;
      clearTimeout(retry);
      const stop = end;
      if (stop === undefined) return;
      await new Promise<void>((resolve) => {
        whenClosed = resolve;
        stop();
        // An opening that takes long is not waited for; what it opens is closed at once.
        setTimeout(resolve, 500).unref();
      });
    },
  };
}
