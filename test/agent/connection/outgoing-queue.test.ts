import { beforeEach, expect, test } from "vitest";
import { OutgoingQueue } from "../../../agent/connection/outgoing-queue.ts";
import { TestClock } from "../../support/protocols/wire.ts";

// Goal: the order, the attempts and the bound of the messages for one device. Method: the test takes the place of the link.

let clock: TestClock;
let queue: OutgoingQueue;
/** Everything that leaves the queue, in order. */
let log: string[];

beforeEach(() => {
  clock = new TestClock();
  log = [];
  queue = new OutgoingQueue(
    (bytes) => log.push(`offer ${Buffer.from(bytes).toString()}`),
    (reason) => log.push(reason),
    clock.setTimer,
  );
});

function add(name: string): void {
  queue.add({
    bytes: Buffer.from(name),
    sent: () => log.push(`sent ${name}`),
    givenUp: (reason) => log.push(`given up ${name}: ${reason}`),
  });
}

test("the link gets one message at a time, in order", () => {
  for (const name of ["A", "B", "C"]) add(name);
  expect(log).toEqual(["offer A"]);
  queue.sent();
  queue.sent();
  expect(log).toEqual(["offer A", "offer B", "sent A", "offer C", "sent B"]);
  expect(queue.isEmpty).toBe(false);
  queue.sent();
  expect([log.at(-1), queue.isEmpty]).toEqual(["sent C", true]);
});

test("a message that is added by the report of the one before it is offered once", () => {
  queue.add({ bytes: Buffer.from("A"), sent: () => add("B"), givenUp: () => undefined });
  queue.sent();
  expect(log).toEqual(["offer A", "offer B"]);
});

test("an unsent message is offered again after 5 s and keeps its place", () => {
  add("A");
  add("B");
  queue.unsent("no reply");
  expect([log, clock.pending]).toEqual([["offer A", "message not sent: no reply"], [5_000]]);
  clock.advance(5_000);
  queue.sent();
  expect(log.slice(2)).toEqual(["offer A", "offer B", "sent A"]);
});

test("a message is given up after three attempts, and the next one gets three of its own", () => {
  add("A");
  add("B");
  for (const name of ["A", "B"]) {
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect(log.filter((entry) => entry === `offer ${name}`)).toHaveLength(attempt);
      queue.unsent("no reply");
      clock.advance(5_000);
    }
    expect(log).toContain("message given up after 3 attempts");
    expect(log).toContain(`given up ${name}: no reply`);
  }
  expect([queue.isEmpty, clock.pending]).toEqual([true, []]);
});

test("a 21st message is discarded with a warning", () => {
  for (let index = 1; index <= 21; index++) add(String(index));
  expect(log).toEqual(["offer 1", "message not queued: 20 messages wait for the device already"]);
  for (let index = 1; index <= 20; index++) queue.sent();
  expect(log.at(-1)).toBe("sent 20");
});

test("a cleared queue offers nothing more, cancels its timer and ignores late reports of the link", () => {
  add("A");
  queue.unsent("no reply");
  queue.clear();
  expect([queue.isEmpty, clock.pending]).toEqual([true, []]);
  queue.sent();
  queue.unsent("connection closed");
  expect(log).toEqual(["offer A", "message not sent: no reply"]);
});
