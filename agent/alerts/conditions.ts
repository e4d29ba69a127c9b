import { backupCondition, type LastBackup } from "../../shared/alerts/backup-condition.ts";
import { type Condition, limits } from "../../shared/alerts/kinds.ts";
import type { QuarantinedMessages } from "../spool/queries/messages/messages.ts";
import type { DeviceState } from "../states/device-state.ts";
import type { ServerState } from "../states/server-state.ts";

// Finds what is wrong at this machine, as the conditions of the agent's alerts. The limits are in shared/alerts/kinds.ts.

export interface AgentFacts {
  /** Name of this machine. */
  readonly name: string;
  readonly server: ServerState;
  readonly devices: readonly Pick<DeviceState, "id" | "reason" | "mayBeOff" | "since">[];
  readonly outbox: { readonly depth: number; readonly oldestAt: number | null; readonly reason: string | null };
  /** This machine's clock minus the server's; null if it is unknown. */
  readonly clockOffsetS: number | null;
  readonly freeBytes: number;
  /** Why the spool stores nothing; null if it does. */
  readonly spoolProblem: string | null;
  /** Null before the first one. */
  readonly lastBackup: LastBackup | null;
  /** Messages that cannot be filed, by device. */
  readonly quarantined: readonly QuarantinedMessages[];
}

export function agentConditions(facts: AgentFacts, now: number): Condition[] {
  const server = serverCondition(facts);
  return [
    ...server,
    ...facts.devices.flatMap(deviceCondition),
    ...outboxCondition(facts, server.length > 0, now),
    ...clockCondition(facts, now),
    ...diskCondition(facts, now),
    ...backupCondition(facts.lastBackup, facts.name, now),
    // Only a person ends this alert. Old messages alone open none, such as those that a person gave up.
    ...facts.quarantined.map(({ device, count, isFresh }): Condition => {
      const of = { key: `quarantined ${device}`, kind: "quarantined", subject: device } as const;
      return { ...of, since: now, count, ...held(!isFresh) };
    }),
  ];
}

function serverCondition({ name: subject, server: { is, reason, isMinor, since } }: AgentFacts): Condition[] {
  if (is === "not asked yet") {
    // After a restart, an alert of the process before stays open until the server answers.
    return (["server-unreachable", "key-refused"] as const).map((kind) => {
      return { key: kind, kind, subject, since, holds: true };
    });
  }
  if (reason === null || isMinor) return [];
  const isAway = is === "cannot be reached" || is === "does not work";
  const kind = isAway ? "server-unreachable" : "key-refused";
  return [{ key: kind, kind, subject, since, reason }];
}

function deviceCondition({ id, reason, mayBeOff, since }: AgentFacts["devices"][number]): Condition[] {
  if (reason === null || mayBeOff) return [];
  return [{ key: `device-down ${id}`, kind: "device-down", subject: id, since, reason }];
}

/** Studies that wait because of the server are that alert's. */
function outboxCondition(
  { outbox: { depth: count, oldestAt, reason }, name: subject }: AgentFacts,
  isServerAway: boolean,
  now: number,
): Condition[] {
  if (oldestAt === null) return [];
  const isOld = now - oldestAt >= limits.outboxMs && !isServerAway;
  const why = reason === null ? {} : { reason };
  return [{ key: "outbox-old", kind: "outbox-old", subject, since: oldestAt, count, ...why, ...held(!isOld) }];
}

function clockCondition({ clockOffsetS, name: subject }: AgentFacts, now: number): Condition[] {
  const { opens, closes } = limits.clockOffsetS;
  const offset = Math.abs(clockOffsetS ?? 0);
  return offset <= closes
    ? []
    : [{ key: "clock-wrong", kind: "clock-wrong", subject, since: now, ...held(offset <= opens) }];
}

function diskCondition({ freeBytes, spoolProblem, name: subject }: AgentFacts, now: number): Condition[] {
  const { opens, closes } = limits.freeBytes;
  if (freeBytes >= closes && spoolProblem === null) return [];
  const isFull = freeBytes < opens || spoolProblem !== null;
  return [
    {
      ...{ key: "disk-full", kind: "disk-full", subject, since: now },
      ...(spoolProblem !== null && { reason: spoolProblem }),
      ...held(!isFull),
    },
  ];
}

function held(isHeld: boolean): Pick<Condition, "holds"> {
  return isHeld ? { holds: true } : {};
}
