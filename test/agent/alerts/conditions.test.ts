import { expect, test } from "vitest";
import { type AgentFacts, agentConditions } from "../../../agent/alerts/conditions.ts";

const MINUTE = 60_000;
const now = Date.parse("2026-11-23T12:00:00Z");

const fine: AgentFacts = {
  name: "pc",
  server: { is: "reached", reason: null, isMinor: false, since: now },
  devices: [{ id: "chem-1", reason: null, mayBeOff: false, since: now }],
  outbox: { depth: 0, oldestAt: null, reason: null },
  clockOffsetS: 2,
  freeBytes: 5e9,
  spoolProblem: null,
  lastBackup: null,
  quarantined: [],
};

/** The kinds of the conditions; one that only holds an open alert has a question mark. */
function kindsOf(changes: Partial<AgentFacts>): string[] {
  const conditions = agentConditions({ ...fine, ...changes }, now);
  return conditions.map(({ kind, holds }) => (holds === true ? `${kind}?` : kind));
}

test("nothing is wrong with an agent that does all its work", () => {
  expect(kindsOf({})).toEqual([]);
  expect(kindsOf({ clockOffsetS: null })).toEqual([]);
});

test("values have two limits: between them an open alert stays open", () => {
  expect(kindsOf({ freeBytes: 0.9e9 })).toEqual(["disk-full"]);
  expect(kindsOf({ freeBytes: 1.2e9 })).toEqual(["disk-full?"]);
  expect(kindsOf({ clockOffsetS: -61 })).toEqual(["clock-wrong"]);
  expect(kindsOf({ clockOffsetS: 45 })).toEqual(["clock-wrong?"]);
  expect(kindsOf({ spoolProblem: "database or disk is full" })).toEqual(["disk-full"]);
});

test("the alert of studies that wait names why the server deferred them", () => {
  const outbox = { depth: 3, oldestAt: now - 30 * MINUTE, reason: "the clinic is full" };
  const [condition] = agentConditions({ ...fine, outbox }, now);
  expect(condition).toMatchObject({ kind: "outbox-old", count: 3, reason: "the clinic is full" });
});

test("studies that wait are an alert after half an hour, unless the server is away: that is one alert", () => {
  const waiting = (minutes: number) => ({ depth: 3, oldestAt: now - minutes * MINUTE, reason: null });
  expect(kindsOf({ outbox: waiting(29) })).toEqual(["outbox-old?"]);
  expect(kindsOf({ outbox: waiting(30) })).toEqual(["outbox-old"]);
  const server = { is: "cannot be reached", reason: "no", isMinor: false, since: now } as const;
  expect(kindsOf({ outbox: waiting(60), server })).toEqual(["server-unreachable", "outbox-old?"]);
});

test("a refused key is an alert, a key without appointments is none", () => {
  const refused = { is: "wrong key", reason: "401", isMinor: false, since: now } as const;
  expect(kindsOf({ server: refused })).toEqual(["key-refused"]);
  expect(kindsOf({ server: { ...refused, is: "key lacks permission", isMinor: true } })).toEqual([]);
});

test("before the first answer of the server, alerts of the process before stay open", () => {
  const server = { is: "not asked yet", reason: null, isMinor: false, since: now } as const;
  expect(kindsOf({ server })).toEqual(["server-unreachable?", "key-refused?"]);
});

test("a device is down if its line needs a person, not if it may be switched off", () => {
  const device = { id: "chem-1", reason: "cannot open", mayBeOff: false, since: now - MINUTE };
  expect(agentConditions({ ...fine, devices: [device] }, now)).toEqual([
    {
      ...{ key: "device-down chem-1", kind: "device-down", subject: "chem-1" },
      ...{ since: now - MINUTE, reason: "cannot open" },
    },
  ]);
  expect(kindsOf({ devices: [{ ...device, mayBeOff: true }] })).toEqual([]);
});

test("a backup that failed is an alert until the next one works", () => {
  const at = "2026-11-23T03:00:00.000Z";
  expect(agentConditions({ ...fine, lastBackup: { at, error: "The disk is full." } }, now)).toEqual([
    {
      ...{ key: "backup-failed", kind: "backup-failed", subject: "pc" },
      ...{ since: Date.parse(at), reason: "The disk is full." },
    },
  ]);
  expect(kindsOf({ lastBackup: { at, error: null } })).toEqual([]);
});

test("messages that cannot be filed are counted for their device", () => {
  const quarantined = [{ device: "chem-1", count: 2, isFresh: true }];
  expect(agentConditions({ ...fine, quarantined }, now)).toMatchObject([
    { key: "quarantined chem-1", kind: "quarantined", count: 2 },
  ]);
});

test("messages that wait for longer than a day keep their alert open, and open none", () => {
  expect(kindsOf({ quarantined: [{ device: "chem-1", count: 2, isFresh: false }] })).toEqual(["quarantined?"]);
});
