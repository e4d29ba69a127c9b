import { expect, test } from "vitest";
import { StorageError } from "../../../agent/spool/thread/storage-error.ts";
import { retryStorage } from "../../../agent/spool/storage-retry.ts";

/** Fires each timer immediately and notes its delay. */
function instantTimer() {
  const delays: number[] = [];
  const setTimer = (ms: number, fire: () => void) => {
    delays.push(ms);
    fire();
    return () => undefined;
  };
  return { delays, setTimer };
}

const failing = (errors: Error[]) => async () => {
  const error = errors.shift();
  if (error !== undefined) throw error;
  return "stored";
};

test("a task that storage refuses is repeated until it succeeds", async () => {
  const { delays, setTimer } = instantTimer();
  const task = failing([new StorageError("full"), new StorageError("full")]);
  expect(await retryStorage(task, 250, { setTimer })).toBe("stored");
  expect(delays).toEqual([250, 250]);
});

test("any other error ends the attempts", async () => {
  const task = failing([new StorageError("full"), new RangeError("fault")]);
  await expect(retryStorage(task, 1, instantTimer())).rejects.toThrow(new RangeError("fault"));
});

test("a stop ends the attempts without a result", async () => {
  const { delays, setTimer } = instantTimer();
  const isStopped = () => delays.length === 1;
  const task = failing([new StorageError("full"), new StorageError("full")]);
  expect(await retryStorage(task, 1, { setTimer, isStopped })).toBe(null);
});
