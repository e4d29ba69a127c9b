import { expect, test } from "vitest";
import {
  BUSY_MS,
  HELLO_TIMEOUT_MS,
  IDLE_TIMEOUT_MS,
  pendingReply,
  timeoutMsOf,
} from "../../../../agent/protocols/poct1/dialogue-state.ts";
import { OutgoingTopics } from "../../../../agent/protocols/poct1/outgoing-topics.ts";

test("each state names the reply that its timer waits for", () => {
  const topics = new OutgoingTopics();
  expect(
    (["new", "await-hello", "await-status", "ended", "closed"] as const).map((at) => pendingReply(at, topics)),
  ).toEqual([null, "hello", "status", null, null]);
  expect(pendingReply("continuous", topics)).toBe("idle");
  topics.announced = 1;
  expect(pendingReply("running", topics)).toBe("observations");
  topics.request("ROBS");
  topics.await(topics.dequeue()!, 3);
  expect(pendingReply("running", topics)).toBe("response to 3");
  topics.acknowledge("3", true, "");
  expect(pendingReply("running", topics)).toBe("data of 3");
  topics.escape("3", "CNC");
  expect(pendingReply("running", topics)).toBe("retry");
  topics.owesPatient = true;
  expect(pendingReply("running", topics)).toBe("patient");
});

test("a reply has the device's own timeout, data twice as long, and the rest fixed ones", () => {
  expect(timeoutMsOf("response to 3", 5_000)).toBe(5_000);
  expect(timeoutMsOf("data of 3", 5_000)).toBe(10_000);
  expect((["hello", "retry", "idle"] as const).map((pending) => timeoutMsOf(pending, 5_000))).toEqual([
    HELLO_TIMEOUT_MS,
    BUSY_MS,
    IDLE_TIMEOUT_MS,
  ]);
});
