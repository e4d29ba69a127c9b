import { Moment } from "../../../../server/operations/alerts/moment.ts";
import { describe, expect, test } from "vitest";
import {
  clinicConditions,
  type ClinicFacts,
  type Machine,
  machineConditions,
} from "../../../../server/records/alerts/alert-conditions.ts";
import type { Condition } from "../../../../server/operations/alerts/kinds.ts";
import { alertText } from "../../../../server/operations/alerts/texts.ts";
import { stepAlerts } from "../../../../server/operations/alerts/step.ts";
import type { Heartbeat } from "../../../../shared/api/study.ts";
import type { AgentShown, DeviceShown } from "../../../../server/dashboard/types/devices/devices.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const now = Date.parse("2026-11-23T12:00:00Z");
const at = (minutesAgo: number) => new Date(now - minutesAgo * MINUTE).toISOString();

const pc: Machine = { name: "pc", freeBytes: null, lastBackup: null };
const empty: ClinicFacts = {
  agents: [],
  hours: [],
  keys: [],
  unmatched: { count: 0, oldest: null },
  critical: [],
  failedUpdates: [],
  knownPasswords: [],
  pausedWebhooks: [],
  destinations: [],
  care: { expired: [], faulty: [] },
};

const device: DeviceShown = {
  ...{ id: "chem-1", name: "VetScan", profile: null, protocol: null, connection: null, state: { is: "ready" } },
  ...{ last_message_at: at(300), last_warning: null, study_name: null, today: null },
};

function agent(changes: Partial<AgentShown> = {}, heard: Heartbeat = {}) {
  const shown: AgentShown = {
    ...{ key: { id: "key_1", name: "reception" }, is: "running", last_seen_at: at(0), version: null },
    ...{ platform: null, upgrade: null },
    ...{ clock_offset_s: null, outbox: null, devices: [], callers: [] },
    ...{ fp: null, configuration: "unknown", paired_at: null, is_revoked: false },
    ...changes,
  };
  return { shown, line: shown.key.id, heard };
}

const key = { public_id: "key_1", line: "key_1", name: "reception", expires_at: null };

/** The conditions as texts, with a question mark if it only holds an open alert. */
function of(facts: Partial<ClinicFacts>): string[] {
  return keysOf(clinicConditions({ ...empty, ...facts }, new Moment(now)));
}

function keysOf(conditions: readonly Condition[]): string[] {
  return conditions.map(({ key: name, holds }) => (holds === true ? `${name}?` : name));
}

test("a device used with expired reagents, or with repeated faults, is a condition of its own with words in both languages", () => {
  const care = { device: "chem-1", name: "NX600", count: 3, since: now - DAY };
  const conditions = clinicConditions({ ...empty, care: { expired: [care], faulty: [care] } }, new Moment(now));
  const shared = { subject: "NX600", since: now - DAY, count: 3 };
  expect(conditions).toEqual([
    { key: "reagent-expired chem-1", kind: "reagent-expired", ...shared },
    { key: "device-faults chem-1", kind: "device-faults", ...shared },
  ]);
  const titles = conditions.flatMap((each) => [alertText(each, "en").title, alertText(each, "tr").title]);
  expect(titles).toEqual([
    "NX600 was used with reagents past their expiry: 3",
    "NX600 cihazında son kullanma tarihi geçmiş reaktif kullanıldı: 3",
    "NX600 reports faults again and again: 3",
    "NX600 üst üste arıza bildiriyor: 3",
  ]);
});

describe("what is wrong for a clinic", () => {
  test("an agent is silent after 15 minutes of working time, so that a PC which is off at night is not", () => {
    const silent = (minutes: number) => [agent({ is: "silent", last_seen_at: at(minutes) })];
    expect(of({ agents: silent(14), keys: [key] })).toEqual(["agent-silent key_1?"]);
    expect(of({ agents: silent(15), keys: [key] })).toEqual(["agent-silent key_1"]);
    const opensAt = now - 10 * MINUTE;
    const hours = [
      { from: now - 20 * 60 * MINUTE, to: now - 16 * 60 * MINUTE },
      { from: opensAt, to: now + 8 * 60 * MINUTE },
    ];
    expect(of({ agents: silent(15 * 60), keys: [key], hours })).toEqual(["agent-silent key_1?"]);
    expect(of({ agents: silent(15 * 60), keys: [] })).toEqual([]);
  });

  test("results that wait for half an hour, and those that a receiver did not take, are each one alert of their destination", () => {
    const queue = { public_id: "dst_1", slug: "PIMS", parked: 0, parked_since: null, waiting: 2, oldest: null };
    const since = (minutes: number) => now - minutes * MINUTE;
    const alerts = (changes: Partial<ClinicFacts["destinations"][number]>) =>
      of({ destinations: [{ ...queue, ...changes }] });
    expect(alerts({})).toEqual([]);
    expect([29, 30].map((minutes) => alerts({ oldest: since(minutes) }))).toEqual([
      ["results-wait dst_1?"],
      ["results-wait dst_1"],
    ]);
    // A queue whose clock was set back waits since now.
    expect(alerts({ oldest: since(-60) })).toEqual(["results-wait dst_1?"]);
    expect(alerts({ parked: 1, parked_since: now, oldest: since(31) })).toEqual([
      "results-refused dst_1",
      "results-wait dst_1",
    ]);
    const [waiting] = clinicConditions({ ...empty, destinations: [{ ...queue, oldest: since(31) }] }, new Moment(now));
    expect(waiting).toMatchObject({
      subject: "PIMS",
      count: 2,
      since: since(31),
      path: "/settings/destinations/dst_1",
    });
  });

  test("a device beyond its rhythm is silent; without its agent its state is unknown", () => {
    const state = { is: "silent", working_ms: 1, longest_ms: 1 } as const;
    expect(of({ agents: [agent({ devices: [device, { ...device, id: "chem-2", state }] })] })).toEqual([
      "device-silent chem-2 @key_1",
    ]);
    const away = agent({ is: "silent", devices: [device] });
    expect(of({ agents: [away] })).toEqual(["device-silent chem-1 @key_1?"]);
  });

  describe("at a PC, by its last heartbeat", () => {
    const heardBy = (heard: Heartbeat, is: AgentShown["is"] = "running") => of({ agents: [agent({ is }, heard)] });
    const disk = (free_bytes: number, problem: string | null = null): Heartbeat => ({ disk: { free_bytes, problem } });

    test("nothing is wrong with an agent that does all its work, or of an earlier version", () => {
      expect(heardBy({})).toEqual([]);
      const outbox = { depth: 0, oldest_at: null };
      const devices = [{ id: "chem-1", reason: null }];
      expect(heardBy({ ...disk(5e9), devices, outbox, clock_offset_s: 2, backup: null })).toEqual([]);
    });

    test("values have two limits: between them an open alert stays open", () => {
      expect([0.9e9, 1.2e9, 1.5e9].map((free) => heardBy(disk(free)))).toEqual([
        ["disk-full @key_1"],
        ["disk-full @key_1?"],
        [],
      ]);
      expect([-61, 45, 30].map((clock_offset_s) => heardBy({ clock_offset_s }))).toEqual([
        ["clock-wrong @key_1"],
        ["clock-wrong @key_1?"],
        [],
      ]);
    });

    test("a disk that refuses is full, whatever is free, and the alert names the reason", () => {
      const facts = { ...empty, agents: [agent({}, disk(5e9, "database or disk is full"))] };
      expect(clinicConditions(facts, new Moment(now))).toEqual([
        {
          ...{ key: "disk-full @key_1", kind: "disk-full", subject: "reception", since: now },
          reason: "database or disk is full",
        },
      ]);
    });

    test("an agent that is silent keeps its alerts open and opens none", () => {
      expect(heardBy(disk(0.9e9), "silent")).toEqual(["disk-full @key_1?"]);
    });

    test("studies that wait are an alert after half an hour, with the reason for which the server deferred them", () => {
      const waiting = (minutes: number): Heartbeat => ({
        outbox: { depth: 3, oldest_at: at(minutes), reason: "the clinic is full" },
      });
      expect(heardBy(waiting(29))).toEqual(["outbox-old @key_1?"]);
      const facts = { ...empty, agents: [agent({}, waiting(30))] };
      expect(clinicConditions(facts, new Moment(now))).toMatchObject([
        { kind: "outbox-old", count: 3, reason: "the clinic is full" },
      ]);
    });

    test("a device is down if its line needs a person, not if it may be switched off", () => {
      const down = { id: "chem-1", reason: "cannot open", since: at(1) };
      expect(clinicConditions({ ...empty, agents: [agent({}, { devices: [down] })] }, new Moment(now))).toEqual([
        {
          ...{ key: "device-down chem-1 @key_1", kind: "device-down", subject: "chem-1" },
          ...{ since: now - MINUTE, reason: "cannot open" },
        },
      ]);
      expect(heardBy({ devices: [{ ...down, may_be_off: true }] })).toEqual([]);
    });

    test("a PC whose clock is ahead does not date a fault after this moment", () => {
      const down = { id: "chem-1", reason: "cannot open", since: at(-60) };
      expect(clinicConditions({ ...empty, agents: [agent({}, { devices: [down] })] }, new Moment(now))).toMatchObject([
        { since: now },
      ]);
    });

    test("messages that wait for longer than a day keep their alert open, and open none", () => {
      const waiting = (minutes: number): Heartbeat => ({
        devices: [{ id: "chem-1", quarantined: { count: 2, last_at: at(minutes) } }],
      });
      expect(heardBy(waiting(24 * 60))).toEqual(["quarantined chem-1 @key_1"]);
      expect(heardBy(waiting(24 * 60 + 1))).toEqual(["quarantined chem-1 @key_1?"]);
    });

    test("a backup that failed is an alert until the next one works", () => {
      const backup = { at: at(60), succeeded_at: null, bytes: null, error: "The disk is full." };
      expect(heardBy({ backup })).toEqual(["backup-failed @key_1"]);
      expect(heardBy({ backup: { ...backup, error: null } })).toEqual([]);
    });
  });

  test("two PCs whose keys have one name have alerts of their own, and a rolled key continues those of its PC", () => {
    const full: Heartbeat = { disk: { free_bytes: 0, problem: null } };
    const devices = [device];
    const away = agent({ is: "silent", last_seen_at: at(60), devices }, full);
    const other = agent({ key: { id: "key_2", name: "reception" }, devices }, full);
    const keys = [key, { ...key, public_id: "key_2", line: "key_2" }];
    expect(of({ agents: [away, other], keys })).toEqual([
      ...["agent-silent key_1", "device-silent chem-1 @key_1?", "disk-full @key_1?", "disk-full @key_2"],
    ]);
    const successor = { ...other, line: "key_1" };
    expect(of({ agents: [away, successor], keys: [key, { ...key, public_id: "key_2" }] })).toEqual([
      ...["device-silent chem-1 @key_1?", "disk-full @key_1?", "disk-full @key_1"],
    ]);
  });

  test("an open alert that has the name of a key closes, and opens under the key's id", () => {
    const since = now - MINUTE;
    const old = {
      kind: "disk-full",
      subject: "pc",
      since,
      key: "disk-full @reception",
      openedAt: since,
      goneSince: null,
      toldOn: [],
    } as const;
    const heard = agent({}, { disk: { free_bytes: 0, problem: null } });
    const conditions = clinicConditions({ ...empty, agents: [heard] }, new Moment(now));
    const { opened, closed } = stepAlerts({ open: [old], pending: {} }, conditions, new Moment(now));
    expect([closed, opened].map((alerts) => alerts.map(({ key: name }) => name))).toEqual([
      ["disk-full @reception"],
      ["disk-full @key_1"],
    ]);
  });

  test("unmatched studies are a cause after half an hour, and each unseen critical study is one", () => {
    expect(of({ unmatched: { count: 2, oldest: now - 29 * MINUTE } })).toEqual(["unmatched?"]);
    expect(of({ unmatched: { count: 2, oldest: now - 30 * MINUTE } })).toEqual(["unmatched"]);
    const critical = [{ fp: "cds_1", device_name: "VetScan", received_at: now }];
    expect(clinicConditions({ ...empty, critical }, new Moment(now))).toMatchObject([
      { key: "critical cds_1", subject: "VetScan", path: "/results/cds_1" },
    ]);
  });

  test("a key ends soon 14 days before, unless it has a successor", () => {
    const ending = { ...key, expires_at: now + 14 * DAY };
    expect(of({ keys: [ending] })).toEqual(["key-ends key_1"]);
    expect(of({ keys: [{ ...key, expires_at: now + 15 * DAY }] })).toEqual([]);
    expect(of({ keys: [ending, { ...key, public_id: "key_2" }] })).toEqual([]);
    expect(of({ keys: [ending, { ...key, public_id: "key_2", line: "key_2" }] })).toEqual(["key-ends key_1"]);
  });

  test("the disk of the server's machine has two limits, and its backup may fail", () => {
    const found = (changes: Partial<Machine>) => keysOf(machineConditions({ ...pc, ...changes }, now));
    expect([0.9e9, 1.2e9, 1.6e9].map((freeBytes) => found({ freeBytes }))).toEqual([["disk"], ["disk?"], []]);
    expect(found({ lastBackup: { at: at(60), error: "The disk is full." } })).toEqual(["backup-failed"]);
  });
});
