import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CallbackQueue } from "../../../agent/spool/callback-queue.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

function createQueue() {
  const log: string[] = [];
  const queue = new CallbackQueue(
    () => log.push("slice"),
    () => log.push("empty"),
  );
  const push = (name: string, ms = 0) =>
    queue.push(() => {
      vi.advanceTimersByTime(ms);
      log.push(name);
    });
  return { queue, log, push };
}

test("short callbacks run in one slice, in order and immediately", () => {
  const { queue, log, push } = createQueue();
  push("first");
  push("second");
  queue.run();
  expect(log).toEqual(["slice", "first", "second", "empty"]);
  expect(queue.isRunning).toBe(false);
});

test("a slow callback ends its slice, and the event loop turns before the next one", async () => {
  const { queue, log, push } = createQueue();
  push("slow", 1);
  push("next", 1);
  queue.run();
  expect(log).toEqual(["slice", "slow"]);
  expect(queue.isRunning).toBe(true);
  await nextTurn();
  expect(log).toEqual(["slice", "slow", "slice", "next", "empty"]);
});

test("callbacks that are added during a slice run after all earlier ones, without a second runner", async () => {
  const { queue, log, push } = createQueue();
  queue.push(() => {
    push("added");
    queue.run();
  });
  push("slow", 1);
  queue.run();
  while (queue.isRunning) await nextTurn();
  expect(log.filter((entry) => entry !== "slice")).toEqual(["slow", "added", "empty"]);
});

test("an empty queue reports immediately that it is empty", () => {
  const { queue, log } = createQueue();
  queue.run();
  expect(log).toEqual(["slice", "empty"]);
});
