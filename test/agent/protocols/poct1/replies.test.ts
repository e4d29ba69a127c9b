import { expect, test } from "vitest";
import { GENERIC } from "../../../../agent/protocols/poct1/dialect.ts";
import { readMessage } from "../../../../agent/protocols/poct1/message.ts";
import { expectsReply, DocumentReplies, Refusals, REFUSALS_MAX } from "../../../../agent/protocols/poct1/replies.ts";
import { acknowledgement, bytes, endOfTopic, escape, observation, said, status } from "./wire.ts";

const message = (text: string) => readMessage(bytes(text));

test("a device's own ACK and escape are never acknowledged, its end of topic by its dialect", () => {
  const replies = new DocumentReplies(new Refusals());
  for (const text of [acknowledgement(2, 1), escape(2, 1, "CNC")]) {
    expect(replies.replyTo(message(text), GENERIC, "SN77")).toBe(null);
  }
  expect(expectsReply(message(endOfTopic(3)), GENERIC)).toBe(true);
  expect(expectsReply(message(endOfTopic(3)), { ...GENERIC, ackEndOfTopic: false })).toBe(false);
});

test("an unreadable document is refused REFUSALS_MAX times, then accepted; observations restart the count", () => {
  const replies = new DocumentReplies(new Refusals());
  const refusals = () => replies.replyTo(message("<OBS.R01><HDR>"), GENERIC, "SN77")?.accepted;
  for (let count = 0; count < REFUSALS_MAX; count++) expect(refusals()).toBe(false);
  expect(refusals()).toBe(true);
  expect(replies.replyTo(message(observation(4)), GENERIC, "SN77")).toEqual({ accepted: true });
  expect(refusals()).toBe(false);
});

test("the refusals of a device count over all its connections, and apart from those of another device", () => {
  const refusals = new Refusals();
  const isAccepted = (device: string) =>
    new DocumentReplies(refusals).replyTo(message("<OBS.R01><HDR>"), GENERIC, device)?.accepted;
  expect(Array.from({ length: REFUSALS_MAX + 1 }, () => isAccepted("SN77"))).toEqual([false, false, false, true]);
  expect([isAccepted("SN78"), isAccepted("SN77")]).toEqual([false, true]);
});

test("an unsupported message is refused by its name, any other accepted", () => {
  const replies = new DocumentReplies(new Refusals());
  expect(replies.replyTo(message(said("XYZ.R01", 2)), GENERIC, "SN77")).toEqual({
    accepted: false,
    note: "unsupported XYZ.R01",
  });
  expect(replies.replyTo(message(status(2, 0)), GENERIC, "SN77")).toEqual({ accepted: true });
});

test("a resend is recognized by its bytes, and only directly after the first", () => {
  const replies = new DocumentReplies(new Refusals());
  const [one, two] = [bytes(observation(4)), bytes(observation(5))];
  expect([one, one, two, one].map((document) => replies.isResend(document))).toEqual([false, true, false, false]);
  replies.forgetDelivered();
  expect(replies.isResend(one)).toBe(false);
});
