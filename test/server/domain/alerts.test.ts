import { describe, expect, test } from "vitest";
import { clinicConditions, type ClinicFacts, type Machine, machineConditions } from "../../../server/domain/alerts.ts";
import type { Condition } from "../../../shared/alerts/kinds.ts";
import { stepAlerts } from "../../../shared/alerts/step.ts";
import type { AgentShown, DeviceShown } from "../../../shared/dashboard/devices.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const now = Date.parse("2026-11-23T12:00:00Z");
const at = (minutesAgo: number) => new Date(now - minutesAgo * MINUTE).toISOString();

const pc: Machine = { name: "pc", freeBytes: null, lastBackup: null };
const empty: ClinicFacts = {
  agents: [],
  hours: [],
  keys: [],
  toPlace: { count: 0, oldest: null },
  critical: [],
  failedUpdates: [],
};

const device: DeviceShown = {
  ...{ id: "chem-1", name: "VetScan", profile: null, protocol: null, connection: null, state: { is: "ready" } },
  ...{ last_message_at: at(300), last_warning: null, study_name: null, today: null },
};

function agent(changes: Partial<AgentShown> = {}, alerts: ClinicFacts["agents"][number]["alerts"] = []) {
  const shown: AgentShown = {
    ...{ key: { id: "key_1", name: "reception" }, is: "running", last_seen_at: at(0), version: null },
    ...{ platform: null, upgrade: null },
    ...{ clock_offset_s: null, outbox: null, devices: [], callers: [] },
    ...{ fp: null, configuration: "unknown", paired_at: null, is_revoked: false },
    ...changes,
  };
  return { shown, line: shown.key.id, alerts };
}

const key = { public_id: "key_1", line: "key_1", name: "reception", expires_at: null };

/** The conditions as texts; one that only holds an open alert has a question mark. */
function of(facts: Partial<ClinicFacts>): string[] {
  return keysOf(clinicConditions({ ...empty, ...facts }, now));
}

function keysOf(conditions: readonly Condition[]): string[] {
  return conditions.map(({ key: name, holds }) => (holds === true ? `${name}?` : name));
}

describe("what is wrong for a clinic", () => {
  test("an agent is silent after 15 minutes of working time, so that a PC which is off at night is none", () => {
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

  test("a device beyond its rhythm is silent; without its agent nobody knows", () => {
    const state = { is: "silent", working_ms: 1, longest_ms: 1 } as const;
    expect(of({ agents: [agent({ devices: [device, { ...device, id: "chem-2", state }] })] })).toEqual([
      "device-silent chem-2 @key_1",
    ]);
    const away = agent({ is: "silent", devices: [device] });
    expect(of({ agents: [away] })).toEqual(["device-silent chem-1 @key_1?"]);
  });

  test("alerts of an agent count as they are, but not of unknown kinds or of the way to this server", () => {
    const alert = (kind: string, told = false) => ({ key: kind, kind, subject: "chem-1", since: at(-60), told });
    const alerts = [alert("disk-full", true), alert("device-down"), alert("of tomorrow"), alert("server-unreachable")];
    const found = clinicConditions({ ...empty, agents: [agent({}, alerts)] }, now);
    expect(found).toMatchObject([
      { key: "disk-full @key_1", isToldElsewhere: true, since: now },
      { key: "device-down @key_1", since: now - 10 * MINUTE },
    ]);
    expect(of({ agents: [agent({ is: "silent" }, [alert("disk-full")])] })).toEqual(["disk-full @key_1?"]);
  });

  test("two PCs whose keys have one name have alerts of their own, and a rolled key continues those of its PC", () => {
    const alert = { key: "disk-full", kind: "disk-full", subject: "pc", since: at(60), told: false };
    const devices = [device];
    const away = agent({ is: "silent", last_seen_at: at(60), devices }, [alert]);
    const other = agent({ key: { id: "key_2", name: "reception" }, devices }, [alert]);
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
    const full = { kind: "disk-full", subject: "pc", since: now - MINUTE } as const;
    const old = { ...full, key: "disk-full @reception", openedAt: now - MINUTE, goneSince: null, toldOn: [] };
    const heard = agent({}, [{ key: "disk-full", kind: "disk-full", subject: "pc", since: at(1), told: false }]);
    const conditions = clinicConditions({ ...empty, agents: [heard] }, now);
    const { opened, closed } = stepAlerts({ open: [old], pending: {} }, conditions, now);
    expect([closed, opened].map((alerts) => alerts.map(({ key: name }) => name))).toEqual([
      ["disk-full @reception"],
      ["disk-full @key_1"],
    ]);
  });

  test("studies wait for a patient from half an hour on, and each unseen critical study is one cause", () => {
    expect(of({ toPlace: { count: 2, oldest: now - 29 * MINUTE } })).toEqual(["unmatched?"]);
    expect(of({ toPlace: { count: 2, oldest: now - 30 * MINUTE } })).toEqual(["unmatched"]);
    const critical = [{ fp: "cds_1", device_name: "VetScan", received_at: now }];
    expect(clinicConditions({ ...empty, critical }, now)).toMatchObject([
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
