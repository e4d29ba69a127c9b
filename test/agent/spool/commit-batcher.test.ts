import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CommitBatcher } from "../../../agent/spool/commit-batcher.ts";
import { DeviceActivity } from "../../../agent/spool/device-activity.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Lets time pass, then runs the immediates that its timers have set. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await nextTurn();
}

function createBatcher(busyDevices = 0) {
  const log: string[] = [];
  const target = {
    events: 0,
    committing: false,
    uncommittedEvents: () => target.events,
    isCommitting: () => target.committing,
    addMessages: () => void log.push("messages"),
    post: () => void log.push("post"),
  };
  const activity = new DeviceActivity();
  vi.advanceTimersByTime(1_000);
  for (let nth = 0; nth < busyDevices; nth++) activity.note(`chem-${nth}`);
  vi.advanceTimersByTime(100);
  activity.note("chem-0");
  return { batcher: new CommitBatcher(target, activity), target, log };
}

describe("flushSoon", () => {
  test("an immediate batch is posted once, after this turn of the event loop", async () => {
    const { batcher, log } = createBatcher();
    batcher.flushSoon();
    batcher.flushSoon();
    expect([log, batcher.isImmediate]).toEqual([[], true]);
    await pass(0);
    expect([log, batcher.isImmediate]).toEqual([["post"], false]);
  });
});

describe("flushSoon, while 16 devices are busy", () => {
  test("a batch of busy devices is posted after 8 ms", async () => {
    const { batcher, target, log } = createBatcher(16);
    target.events = 7;
    batcher.flushSoon();
    await pass(7);
    expect(log).toEqual([]);
    await pass(1);
    expect(log).toEqual(["post"]);
  });

  test("a batch is posted immediately when half of the busy devices have an uncommitted event", async () => {
    const { batcher, target, log } = createBatcher(16);
    target.events = 7;
    batcher.flushSoon();
    target.events = 8;
    batcher.flushSoon();
    await pass(0);
    expect(log).toEqual(["post"]);
    await pass(100);
    expect(log).toEqual(["post"]);
  });
});

describe("flushLater", () => {
  test("a deferred batch is posted after 200 ms", async () => {
    const { batcher, log } = createBatcher();
    batcher.flushLater();
    await pass(199);
    batcher.flushLater();
    expect(log).toEqual([]);
    await pass(1);
    expect(log).toEqual(["post"]);
  });

  test("a deferred batch is posted with an earlier one", async () => {
    const { batcher, log } = createBatcher();
    batcher.flushLater();
    batcher.flushSoon();
    await pass(300);
    expect(log).toEqual(["post"]);
  });
});

describe("saveMessages", () => {
  test("delayed messages are posted after 2 ms if the worker is idle", async () => {
    const { batcher, log } = createBatcher();
    batcher.saveMessages();
    await pass(1);
    expect(log).toEqual([]);
    await pass(1);
    expect(log).toEqual(["messages", "post"]);
  });

  test("delayed messages wait for the end of a commit", async () => {
    const { batcher, target, log } = createBatcher();
    target.committing = true;
    batcher.saveMessages();
    await pass(5);
    target.committing = false;
    expect(log).toEqual([]);
    await pass(1);
    expect(log).toEqual(["messages", "post"]);
  });

  test("delayed messages wait at most 10 ms for the end of a commit", async () => {
    const { batcher, target, log } = createBatcher();
    target.committing = true;
    batcher.saveMessages();
    await pass(10);
    expect(log).toEqual(["messages", "post"]);
  });

  test("flushAll posts delayed messages immediately with all other work", async () => {
    const { batcher, log } = createBatcher();
    batcher.saveMessages();
    batcher.flushAll();
    await pass(100);
    expect(log).toEqual(["messages", "post"]);
  });
});
