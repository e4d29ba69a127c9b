import { backupCondition, type LastBackup } from "../../shared/alerts/backup-condition.ts";
import { type AlertKind, type Condition, isAlertKind, kinds, limits } from "../../shared/alerts/kinds.ts";
import { type Span, workingMs } from "./device-state.ts";
import type { RolloutPc } from "./rollout.ts";
import { endingKeys, type HeardAgent, type KeyEnd, silentAgents } from "./today.ts";

// Finds what is wrong for a clinic, as the conditions of its alerts. The limits of all kinds are in shared/alerts/kinds.ts.

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
  readonly toPlace: { readonly count: number; readonly oldest: number | null };
  /** PCs on which the last update from here was rolled back. */
  readonly failedUpdates: readonly Pick<RolloutPc, "agent" | "name" | "at" | "reason">[];
  /** Studies with critical values that nobody saw. */
  readonly critical: readonly { readonly fp: string; readonly device_name: string; readonly received_at: number }[];
}

/** Causes that the server takes from its agents. It knows the others itself, or they end with the heartbeat that tells them. */
const KINDS_OF_AGENTS: readonly AlertKind[] = [
  ...(["device-down", "quarantined", "outbox-old", "disk-full", "clock-wrong", "backup-failed"] as const),
];

/** The machine's conditions are in `machineConditions`. */
export function clinicConditions(facts: ClinicFacts, now: number): Condition[] {
  return [
    ...agentsAway(facts, now),
    ...facts.agents.flatMap((agent) => silentDevices(agent, now)),
    ...facts.agents.flatMap((agent) => agent.alerts.flatMap((alert) => heardAlert(agent, alert, now))),
    ...waiting(facts, now),
    ...endingKeys(facts.keys, now).flatMap((key) => endingKey(key, now)),
    ...facts.failedUpdates.map(failedUpdate),
  ];
}

function agentsAway({ agents, hours, keys }: ClinicFacts, now: number): Condition[] {
  return silentAgents(agents, keys).flatMap(({ shown: { key, last_seen_at }, line }): Condition[] => {
    if (last_seen_at === null) return [];
    const since = Date.parse(last_seen_at);
    // A clinic switches its PC off for the night.
    const silentMs = hours.length === 0 ? now - since : workingMs(hours, since, now);
    const isLong = silentMs >= limits.agentSilentWorkingMs;
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

function heardAlert(
  { shown: { is }, line }: HeardAgent,
  { key, kind, subject, since, count, reason, told }: HeardAgent["alerts"][number],
  now: number,
): Condition[] {
  if (!isAlertKind(kind) || !KINDS_OF_AGENTS.includes(kind)) return [];
  return [
    {
      ...{ key: `${key} @${line}`, kind, subject },
      // The agent waited for its limit already, and its clock may be wrong.
      since: Math.min(Date.parse(since) || now, now - kinds[kind].lastsMs),
      ...(count !== undefined && { count }),
      ...(reason !== undefined && { reason }),
      ...(told && { isToldElsewhere: true as const }),
      ...held(is !== "running"),
    },
  ];
}

function waiting({ toPlace: { count, oldest }, critical }: ClinicFacts, now: number): Condition[] {
  const unmatched: Condition[] =
    oldest === null
      ? []
      : [
          {
            ...{ key: "unmatched", kind: "unmatched", subject: "", since: oldest, count },
            ...held(now - oldest < limits.unmatchedMs),
          },
        ];
  const unseen = critical.map(({ fp, device_name, received_at }): Condition => {
    const path = `/results/${fp}`;
    return { key: `${CRITICAL}${fp}`, kind: "critical-unseen", subject: device_name, since: received_at, path };
  });
  return [...unmatched, ...unseen];
}

/** Begin of the key of an alert about a critical study. Its fp follows. */
const CRITICAL = "critical ";

/** @returns the studies of alerts about critical values */
export function criticalStudies(alerts: readonly Pick<Condition, "key" | "kind">[]): string[] {
  return alerts.filter(({ kind }) => kind === "critical-unseen").map(({ key }) => key.slice(CRITICAL.length));
}

function endingKey({ public_id, name, expires_at }: KeyEnd & { expires_at: number }, now: number): Condition[] {
  const since = expires_at - limits.keyEndsMs;
  return since > now ? [] : [{ key: `key-ends ${public_id}`, kind: "key-ends", subject: name, since }];
}

function failedUpdate({ agent, name, at, reason }: ClinicFacts["failedUpdates"][number]): Condition {
  const why = reason === null ? {} : { reason };
  return { key: `update-failed ${agent}`, kind: "update-failed", subject: name, since: at, ...why };
}

const MACHINE_KEYS = ["disk", "backup-failed"];

/** Tells whether an alert is about the server's machine, and of no clinic. */
export function isOfMachine({ key }: Pick<Condition, "key">): boolean {
  return MACHINE_KEYS.includes(key);
}

/** They hold paths and the name of the server, which is the business of those who run it. */
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
