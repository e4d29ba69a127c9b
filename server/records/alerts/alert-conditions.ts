import { backupCondition, type LastBackup } from "../../operations/alerts/backup-condition.ts";
import { type Condition, limits } from "../../operations/alerts/kinds.ts";
import type { Heartbeat } from "../../../shared/api/study.ts";
import type { CareFacts, DeviceCare } from "../agents/device-log.ts";
import type { Moment } from "../../operations/alerts/moment.ts";
import { type Span, workedUntil } from "../agents/device-state.ts";
import type { RolloutPc } from "../agents/rollout.ts";
import { endingKeys, type HeardAgent, type KeyEnd, silentAgents } from "../agents/attention.ts";
import type { PausedWebhook } from "../webhooks/webhooks.ts";
import type { QueueFacts } from "../destinations/overview.ts";
import { heardReason } from "../../dashboard/types/devices/heard-reason.ts";

// Finds what is wrong for a clinic, as the conditions of its alerts. The limits of all kinds are in server/operations/alerts/kinds.ts.

/** Facts of the server's machine. They are the same for all clinics. */
export interface Machine {
  readonly name: string;
  /** Free bytes on the disk of the database; null if it is elsewhere. */
  readonly freeBytes: number | null;
  /** Null before the first one. */
  readonly lastBackup: LastBackup | null;
}

export interface ClinicFacts {
  readonly agents: readonly HeardAgent[];
  /** Working hours of the clinic; empty if they are unknown. */
  readonly hours: readonly Span[];
  /** Keys that nobody revoked. */
  readonly keys: readonly KeyEnd[];
  readonly unmatched: { readonly count: number; readonly oldest: number | null };
  /** PCs on which the last upgrade from here was rolled back. */
  readonly failedUpdates: readonly Pick<RolloutPc, "agent" | "name" | "at" | "reason">[];
  /** Where the clinic's results go. */
  readonly destinations: readonly Omit<QueueFacts, "clinic_id">[];
  /** Users whose password somebody else knows. */
  readonly knownPasswords: readonly { readonly public_id: string; readonly name: string; readonly since: number }[];
  readonly pausedWebhooks: readonly Omit<PausedWebhook, "clinic_id">[];
  readonly care: CareFacts;
  /** Studies with critical values that nobody saw. */
  readonly critical: readonly UnseenCritical[];
}

export interface UnseenCritical {
  readonly fp: string;
  readonly device_name: string;
  readonly received_at: number;
  /** When it is too old to open an alert. */
  readonly until?: number;
  /** Whether its content cannot be read. Its open alert keeps its words until a user sees the study. */
  readonly isDamaged?: boolean;
}

/** Time passes in `moment` alone, so that its `next` misses none of them. The machine's conditions are in `machineConditions`. */
export function clinicConditions(facts: ClinicFacts, moment: Moment): Condition[] {
  return [
    ...agentsAway(facts, moment),
    ...facts.agents.flatMap((agent) => silentDevices(agent, moment.now)),
    ...facts.agents.flatMap((agent) => agentConditions(agent, moment)),
    ...waiting(facts, moment),
    ...endingKeys(facts.keys, moment).flatMap((key) => endingKey(key, moment)),
    ...facts.failedUpdates.map(failedUpdate),
    ...facts.destinations.flatMap((destination) => standingResults(destination, moment)),
    ...facts.knownPasswords.map(
      ({ public_id, name, since }): Condition => ({
        ...{ key: `password-known ${public_id}`, kind: "password-known", subject: name, since },
      }),
    ),
    ...facts.pausedWebhooks.map(pausedWebhook),
    ...facts.care.expired.map((device) => deviceCare("reagent-expired", device)),
    ...facts.care.faulty.map((device) => deviceCare("device-faults", device)),
  ];
}

function deviceCare(
  kind: "reagent-expired" | "device-faults",
  { device, name: subject, count, since }: DeviceCare,
): Condition {
  return { key: `${kind} ${device}`, kind, subject, since, count };
}

function agentsAway({ agents, hours, keys }: ClinicFacts, moment: Moment): Condition[] {
  return silentAgents(agents, keys).flatMap(({ shown: { key, last_seen_at }, line }): Condition[] => {
    if (last_seen_at === null) return [];
    const since = Date.parse(last_seen_at);
    // With opening hours only these count, because clinics switch their PC off at night.
    const longMs = limits.agentSilentWorkingMs;
    const isLong = moment.reached(hours.length === 0 ? since + longMs : workedUntil(hours, since, longMs));
    return [{ key: `agent-silent ${line}`, kind: "agent-silent", subject: key.name, since, ...held(!isLong) }];
  });
}

function silentDevices({ shown: { is, last_seen_at, devices }, line }: HeardAgent, now: number): Condition[] {
  const seenAt = Date.parse(last_seen_at ?? "") || now;
  return devices.flatMap(({ id, name, state, last_message_at }): Condition[] => {
    if (is === "running" && state.is !== "silent") return [];
    const since = Date.parse(last_message_at ?? "") || seenAt;
    const subject = name === null ? id : `${name} (${id})`;
    // Without its agent, nobody knows whether the device is silent still.
    return [
      {
        ...{ key: `device-silent ${id} @${line}`, kind: "device-silent", subject, since },
        ...held(is !== "running"),
      },
    ];
  });
}

/** Returns what is wrong at a PC by its last heartbeat. Without further heartbeats it is unknown whether it lasts. */
function agentConditions({ shown: { is, key }, line, heard }: HeardAgent, moment: Moment): Condition[] {
  const { now } = moment;
  const { devices = [] } = heard;
  const conditions = [
    ...devices.flatMap((device) => downDevice(device, now)),
    ...devices.flatMap((device) => quarantined(device, moment)),
    ...oldOutbox(heard, key.name, moment),
    ...wrongClock(heard, key.name, now),
    ...fullDisk(heard, key.name, now),
    ...backupCondition(heard.backup ?? null, key.name, now),
  ];
  return conditions.map((condition) => ({
    ...condition,
    key: `${condition.key} @${line}`,
    ...held(condition.holds === true || is !== "running"),
  }));
}

type Device = NonNullable<Heartbeat["devices"]>[number];

function downDevice(device: Device, now: number): Condition[] {
  const { id, may_be_off = false, since } = device;
  const why = heardReason(device);
  if (why === null || may_be_off) return [];
  return [{ key: `device-down ${id}`, kind: "device-down", subject: id, since: timeOf(since, now), ...why }];
}

/** Stays open until a person has processed the messages again. */
function quarantined({ id, quarantined: messages }: Device, moment: Moment): Condition[] {
  const { now } = moment;
  if (messages === undefined) return [];
  const isOld = moment.reached(timeOf(messages.last_at, now) + limits.quarantinedMs + 1);
  const { count } = messages;
  return [{ key: `quarantined ${id}`, kind: "quarantined", subject: id, since: now, count, ...held(isOld) }];
}

function oldOutbox({ outbox }: Heartbeat, subject: string, moment: Moment): Condition[] {
  if (outbox?.oldest_at == null) return [];
  const { depth: count, oldest_at } = outbox;
  const since = timeOf(oldest_at, moment.now);
  const why = heardReason(outbox) ?? {};
  const isYoung = !moment.reached(since + limits.outboxMs);
  return [{ key: "outbox-old", kind: "outbox-old", subject, since, count, ...why, ...held(isYoung) }];
}

/** Results that a destination refused, and a blocked queue. */
function standingResults(
  { public_id: id, slug: subject, parked, parked_since, waiting: open, oldest }: Omit<QueueFacts, "clinic_id">,
  moment: Moment,
): Condition[] {
  const { now } = moment;
  const path = `/settings/destinations/${id}`;
  const refused: Condition = {
    ...{ key: `results-refused ${id}`, kind: "results-refused", subject, since: parked_since ?? now },
    ...{ count: parked, path },
  };
  const since = Math.min(oldest ?? now, now);
  const standing: Condition = {
    ...{ key: `results-wait ${id}`, kind: "results-wait", subject, since, count: open, path },
    ...held(!moment.reached(since + limits.resultsWaitMs)),
  };
  return [...(parked > 0 ? [refused] : []), ...(oldest === null ? [] : [standing])];
}

function wrongClock({ clock_offset_s }: Heartbeat, subject: string, now: number): Condition[] {
  const { opens, closes } = limits.clockOffsetS;
  const offset = Math.abs(clock_offset_s ?? 0);
  if (offset <= closes) return [];
  return [{ key: "clock-wrong", kind: "clock-wrong", subject, since: now, ...held(offset <= opens) }];
}

function fullDisk({ disk }: Heartbeat, subject: string, now: number): Condition[] {
  const { opens, closes } = limits.freeBytes;
  if (disk === undefined || (disk.free_bytes >= closes && disk.problem === null)) return [];
  const why = disk.problem === null ? {} : { reason: disk.problem };
  const isBetween = disk.free_bytes >= opens && disk.problem === null;
  return [{ key: "disk-full", kind: "disk-full", subject, since: now, ...why, ...held(isBetween) }];
}

/** @returns the time in ms since 1970; now for a time ahead of it, because a PC's clock may be wrong */
function timeOf(text: string | null | undefined, now: number): number {
  return Math.min(Date.parse(text ?? "") || now, now);
}

function waiting({ unmatched: { count, oldest }, critical }: ClinicFacts, moment: Moment): Condition[] {
  const unmatched: Condition[] =
    oldest === null
      ? []
      : [
          {
            ...{ key: "unmatched", kind: "unmatched", subject: "", since: oldest, count },
            ...held(!moment.reached(oldest + limits.unmatchedMs)),
          },
        ];
  const unseen = critical.flatMap(({ fp, device_name, received_at, until, isDamaged = false }): Condition[] => {
    if (until !== undefined && moment.reached(until)) return [];
    const path = `/results/${fp}`;
    return [
      {
        ...{ key: `${CRITICAL}${fp}`, kind: "critical-unseen", subject: device_name, since: received_at, path },
        ...held(isDamaged),
      },
    ];
  });
  return [...unmatched, ...unseen];
}

/** Prefix of the key of an alert about a critical study. Its fp follows. */
const CRITICAL = "critical ";

/** @returns the studies of alerts about critical values */
export function criticalStudies(alerts: readonly Pick<Condition, "key" | "kind">[]): string[] {
  return alerts.filter(({ kind }) => kind === "critical-unseen").map(({ key }) => key.slice(CRITICAL.length));
}

function endingKey({ public_id, name, expires_at }: KeyEnd & { expires_at: number }, moment: Moment): Condition[] {
  const since = expires_at - limits.keyEndsMs;
  return moment.reached(since) ? [{ key: `key-ends ${public_id}`, kind: "key-ends", subject: name, since }] : [];
}

function failedUpdate({ agent, name, at, reason }: ClinicFacts["failedUpdates"][number]): Condition {
  const why = reason === null ? {} : { reason };
  return { key: `update-failed ${agent}`, kind: "update-failed", subject: name, since: at, ...why };
}

/** The subject is the host alone, because the path of an address may hold a password. */
function pausedWebhook({ public_id, url, paused_at }: Omit<PausedWebhook, "clinic_id">): Condition {
  const subject = new URL(url).host;
  const path = `/settings/webhooks/${public_id}`;
  return { key: `webhook-paused ${public_id}`, kind: "webhook-paused", subject, since: paused_at, path };
}

const MACHINE_KEYS = ["disk", "backup-failed"];

/** Whether an alert is about the server's machine, not a clinic. */
export function isOfMachine({ key }: Pick<Condition, "key">): boolean {
  return MACHINE_KEYS.includes(key);
}

/** They hold paths and the name of the server, which concern its operator alone. */
export function machineConditions({ name, freeBytes, lastBackup }: Machine, now: number): Condition[] {
  const { opens, closes } = limits.freeBytes;
  const disk: Condition[] =
    freeBytes === null || freeBytes >= closes
      ? []
      : [{ key: "disk", kind: "disk-full", subject: name, since: now, ...held(freeBytes >= opens) }];
  return [...disk, ...backupCondition(lastBackup, name, now)];
}

function held(isHeld: boolean): Pick<Condition, "holds"> {
  return isHeld ? { holds: true } : {};
}
