import type { SetTimer } from "./timer.ts";

/** Interval between two calls, so that what a busy device sends goes together. */
const GATHER_MS = 200;

/**
 * Returns a function that schedules `send`: immediately, or GATHER_MS after its last call. A request costs both programs more than the
 * items in it, delays acknowledgements to devices, and is counted by the server.
 */
export function gathered(setTimer: SetTimer, send: () => void, pause = () => Promise.resolve()): () => void {
  let isGathering = false;
  let sentAt = Number.NEGATIVE_INFINITY;
  const sendInPause = async () => {
    await pause();
    isGathering = false;
    sentAt = performance.now();
    send();
  };
  return () => {
    if (isGathering) return;
    isGathering = true;
    setTimer(Math.max(0, sentAt + GATHER_MS - performance.now()), () => void sendInPause());
  };
}
