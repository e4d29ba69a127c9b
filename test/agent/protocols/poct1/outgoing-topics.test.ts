import { describe, expect, test } from "vitest";
import {
  BUSY_TRIES_MAX,
  messageOf,
  OutgoingTopics,
  type PendingTopic,
} from "../../../../agent/protocols/poct1/outgoing-topics.ts";

const END: PendingTopic = { is: "end" };
const REQUEST: PendingTopic = { is: "request", code: "ROBS" };
const PARTS = ["one", "two"].map((body) => ({ root: "OPL.R01", body }));
const OPERATORS: PendingTopic = { is: "operators", all: PARTS, left: PARTS, list: [] };

/** Sends the next topic with this control id. */
function sendNext(topics: OutgoingTopics, controlId: number): PendingTopic {
  const topic = topics.dequeue();
  if (topic === null) throw new Error("expected a topic");
  topics.await(topic, controlId);
  return topic;
}

describe("the queue", () => {
  test("returns one topic at a time, requests first and only once", () => {
    const topics = new OutgoingTopics();
    topics.append(END);
    topics.request("ROBS");
    topics.request("ROBS");
    expect(sendNext(topics, 1)).toEqual(REQUEST);
    expect(topics.dequeue()).toBe(null);
    topics.endOfTopic("OBS", "");
    expect(topics.dequeue()).toEqual(END);
  });

  test("keeps the end of the turn back while a topic is postponed or a patient is owed", () => {
    const topics = new OutgoingTopics();
    topics.append(END);
    topics.owesPatient = true;
    expect(topics.dequeue()).toBe(null);
    topics.owesPatient = false;
    topics.request("ROBS");
    sendNext(topics, 1);
    expect(topics.escape("1", "CNC")).toEqual({ is: "open" });
    expect([topics.dequeue(), topics.hasPostponed]).toEqual([null, true]);
    topics.retryPostponed();
    expect(topics.dequeue()).toEqual(REQUEST);
  });
});

describe("an ACK", () => {
  test("with another control id than the awaited one is unexpected", () => {
    const topics = new OutgoingTopics();
    expect(topics.acknowledge("1", true, "")).toEqual({ is: "unexpected", expected: null });
    topics.append(END);
    sendNext(topics, 7);
    expect(topics.acknowledge("6", true, "")).toEqual({ is: "unexpected", expected: 7 });
    expect(topics.acknowledge("00007", true, "")).toEqual({ is: "accepted", topic: END });
  });

  test("accepts a topic of several messages after the last of them", () => {
    const topics = new OutgoingTopics();
    topics.append(OPERATORS);
    expect(messageOf(sendNext(topics, 1), "")).toEqual({ is: "part", root: "OPL.R01", body: "one" });
    expect(topics.acknowledge("1", true, "")).toEqual({ is: "open" });
    expect(messageOf(sendNext(topics, 2), "")).toEqual({ is: "part", root: "OPL.R01", body: "two" });
    expect(topics.acknowledge("2", true, "")).toMatchObject({ is: "accepted", topic: { is: "operators" } });
  });

  test("leaves a request open until its end of topic", () => {
    const topics = new OutgoingTopics();
    topics.append(REQUEST);
    sendNext(topics, 1);
    expect(topics.acknowledge("1", true, "")).toEqual({ is: "open" });
    expect(topics.awaiting?.accepted).toBe(true);
    topics.endOfTopic("OTHER", "1");
    expect(topics.awaiting).toBe(null);
  });
});

test("a busy device gets BUSY_TRIES_MAX retries, then the topic is refused", () => {
  const topics = new OutgoingTopics();
  topics.append(OPERATORS);
  for (let tries = 1; tries <= BUSY_TRIES_MAX; tries++) {
    sendNext(topics, tries);
    expect(topics.escape(String(tries), "CNC")).toEqual({ is: "open" });
    topics.retryPostponed();
  }
  sendNext(topics, 9);
  expect(topics.escape("9", "CNC")).toMatchObject({ is: "refused", reason: "escape CNC" });
});

test("data of a device without an end of topic ends the request, and starts the next one", () => {
  const topics = new OutgoingTopics();
  topics.announced = 2;
  topics.append(REQUEST);
  sendNext(topics, 1);
  const device = { requestEach: true, isContinuous: false };
  expect(topics.receiveData("RDEV", device)).toBe(false);
  expect(topics.receiveData("ROBS", device)).toBe(true);
  expect([topics.announced, sendNext(topics, 2)]).toEqual([1, REQUEST]);
  expect(topics.receiveData("ROBS", device)).toBe(true);
  expect([topics.announced, topics.dequeue()]).toEqual([0, null]);
});
