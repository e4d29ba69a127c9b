import { expect, test } from "vitest";
import {
  introductionOf,
  openingTopics,
  operatorTopic,
  statusContent,
} from "../../../../agent/protocols/poct1/introduction.ts";
import { readMessage, type Status } from "../../../../agent/protocols/poct1/message.ts";
import { bytes, hello } from "./wire.ts";

const NOW = "2026-05-04T09:00:00+02:00";
const STATUS: Status = { createdAt: NOW, observations: 2, events: 1, condition: "R", operatorsAt: "" };

function introduction({ directives = [], topics = [] }: { directives?: string[]; topics?: string[] } = {}) {
  const message = readMessage(bytes(hello()));
  if (message.is !== "hello") throw new Error(`${message.is}, expected hello`);
  return introductionOf({ ...message.hello, directives, topics }, bytes(hello()));
}

test("a device without directives gets END after its status", () => {
  expect(openingTopics(introduction(), STATUS, NOW)).toEqual([{ is: "end" }]);
});

test.each([
  ["2026-05-04T08:59:01+02:00", false],
  ["2026-05-04T08:58:59+02:00", true],
  ["2026-05-04T09:00:30", false],
  ["2026-05-04T11:00:00", true],
  ["no time", false],
])("a clock at %s is set: %s", (createdAt, isSet) => {
  const device = introduction({ directives: ["SET_TIME", "START_CONTINUOUS"] });
  expect(openingTopics(device, { ...STATUS, createdAt }, NOW)).toEqual([
    ...(isSet ? [{ is: "set time" }] : []),
    { is: "start continuous" },
  ]);
  expect(openingTopics(introduction(), { ...STATUS, createdAt }, NOW)).toEqual([{ is: "end" }]);
});

test("the status report has the clock skew in seconds, null without a time", () => {
  expect(statusContent({ ...STATUS, createdAt: "2026-05-04T09:01:30+02:00" }, NOW)).toEqual({
    condition: "R",
    new_observations: 2,
    new_events: 1,
    clock_skew_s: 90,
  });
  expect(statusContent({ ...STATUS, createdAt: "" }, NOW)).toMatchObject({ clock_skew_s: null });
});

test("an operator list is offered to a device that supports it and has another one", () => {
  const list = [{ id: "vt1" }];
  const book = (current: typeof list | null, accepted: typeof list | null) => ({
    current: () => current,
    acceptedBy: () => accepted,
    noteAccepted: () => undefined,
  });
  const device = introduction({ topics: ["OP_LST"] });
  expect(operatorTopic(device, "", book(list, null), NOW)).toMatchObject({ is: "operators", list });
  expect(operatorTopic(device, "", book(list, list), NOW)).toBe(null);
  expect(operatorTopic(device, "2000-01-01T00:00:00", book(list, list), NOW)).toMatchObject({ is: "operators" });
  expect(operatorTopic(device, "", book(null, null), NOW)).toBe(null);
  expect(operatorTopic(introduction(), "", book(list, null), NOW)).toBe(null);
});
