import { errorMessage } from "../../shared/runtime/error-message.ts";

/** Runs `task` now and again after each end, sooner after a failure; the answer stops it. A failure is told once a change. */
export function every(
  ms: number,
  retryMs: number,
  task: () => Promise<void>,
  failed: (reason: string) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let told = "";
  const run = () => {
    task().then(
      () => {
        told = "";
        again(ms);
      },
      (error: unknown) => {
        const reason = errorMessage(error);
        if (reason !== told && !stopped) failed(reason);
        told = reason;
        again(retryMs);
      },
    );
  };
  const again = (after: number) => {
    if (!stopped) timer = setTimeout(run, after);
  };
  run();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
