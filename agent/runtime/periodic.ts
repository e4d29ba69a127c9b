import { errorMessage } from "../../shared/runtime/error-message.ts";

/** @returns an interval, divided by VETWIRE_HURRY. Tests alone set it, so that they need not wait a minute for a heartbeat. */
export function hurried(ms: number): number {
  return ms / Number(process.env["VETWIRE_HURRY"] ?? 1);
}

/**
 * Runs `task` immediately, then `ms` after each success or `retryMs` after each failure. Reports a failure only if its reason
 * differs from that of the run before.
 * @returns a function that stops it
 */
export function runPeriodically(
  ms: number,
  retryMs: number,
  task: () => Promise<void>,
  failed: (reason: string) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let lastReason = "";
  const run = () => {
    task().then(
      () => {
        lastReason = "";
        schedule(ms);
      },
      (error: unknown) => {
        const reason = errorMessage(error);
        if (reason !== lastReason && !stopped) failed(reason);
        lastReason = reason;
        schedule(retryMs);
      },
    );
  };
  const schedule = (delayMs: number) => {
    if (!stopped) timer = setTimeout(run, hurried(delayMs));
  };
  run();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
