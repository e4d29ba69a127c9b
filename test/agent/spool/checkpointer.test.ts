import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Checkpointer } from "../../../agent/spool/checkpointer.ts";
import { DeviceActivity } from "../../../agent/spool/device-activity.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function createCheckpointer() {
  const activity = new DeviceActivity();
  const requests: string[] = [];
  return { activity, checkpointer: new Checkpointer(activity, (request) => requests.push(request)), requests };
}

test("a long log is checkpointed once, when no device is active", async () => {
  const { activity, checkpointer, requests } = createCheckpointer();
  activity.note("chem-1");
  checkpointer.noteCommit({ isLogLong: true, durable: true });
  checkpointer.noteCommit({ isLogLong: true, durable: true });
  await vi.advanceTimersByTimeAsync(10);
  expect(requests).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  expect(requests).toEqual(["checkpoint"]);
  checkpointer.stop();
});

test("the log is emptied 5 s after the last durable commit", async () => {
  const { checkpointer, requests } = createCheckpointer();
  await vi.advanceTimersByTimeAsync(4_000);
  checkpointer.noteCommit({ isLogLong: false, durable: true });
  await vi.advanceTimersByTimeAsync(4_000);
  checkpointer.noteCommit({ isLogLong: false, durable: false });
  expect(requests).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(requests).toEqual(["empty log"]);
});

test("a stopped checkpointer requests nothing", async () => {
  const { checkpointer, requests } = createCheckpointer();
  checkpointer.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(requests).toEqual([]);
});
