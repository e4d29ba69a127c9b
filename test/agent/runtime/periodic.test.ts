import { expect, onTestFinished, test, vi } from "vitest";
import { runPeriodically } from "../../../agent/runtime/periodic.ts";

test("a task runs immediately, after each interval, and earlier after a failure", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const outcomes = [null, "away", "away", "refused", null, "away"];
  const times: number[] = [];
  const reasons: string[] = [];
  const start = Date.now();
  const stop = runPeriodically(
    100,
    10,
    async () => {
      times.push(Date.now() - start);
      const reason = outcomes.shift() ?? null;
      if (reason !== null) throw new Error(reason);
    },
    (reason) => reasons.push(reason),
  );
  await vi.advanceTimersByTimeAsync(300);
  expect(times).toEqual([0, 100, 110, 120, 130, 230, 240]);
  // The same reason again is not reported; after a success it is.
  expect(reasons).toEqual(["away", "refused", "away"]);
  stop();
  await vi.advanceTimersByTimeAsync(300);
  expect(times).toHaveLength(7);
});
