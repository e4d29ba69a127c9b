import type { Flag, Heartbeat, Result } from "../../shared/api/study.ts";
import { KEY_END_DAYS, SILENT_MINUTES, type SilentSource } from "../../shared/dashboard/today.ts";

// Decides what needs a person.

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const bySeverity: readonly (Flag | null)[] = [null, "normal", "low", "high", "critical"];

/** @returns the most severe flag of the results; null if none has a flag */
export function worstFlag(results: readonly Pick<Result, "flag">[]): Flag | null {
  const ranks = results.map(({ flag }) => bySeverity.indexOf(flag));
  return bySeverity[Math.max(0, ...ranks)] ?? null;
}

/** The last heartbeat of a key that still works. */
export interface LastHeartbeat {
  /** Name of the agent's key. */
  readonly name: string;
  readonly received_at: number;
  readonly body: Heartbeat;
}

/**
 * Returns agents without a recent heartbeat, and devices that a live agent does not reach. Keys of one name are one agent: a
 * rolled key leaves the heartbeat of its predecessor.
 */
export function silentSources(heartbeats: readonly LastHeartbeat[], now: number): SilentSource[] {
  const latest = new Map<string, LastHeartbeat>();
  for (const heartbeat of heartbeats.toSorted((a, b) => a.received_at - b.received_at)) {
    latest.set(heartbeat.name, heartbeat);
  }
  return [...latest.values()].flatMap((heartbeat) => silentOf(heartbeat, now));
}

function silentOf({ name, received_at, body }: LastHeartbeat, now: number): SilentSource[] {
  if (now - received_at > SILENT_MINUTES * MINUTE_MS) {
    return [{ kind: "agent", name, reason: null, last_at: new Date(received_at).toISOString() }];
  }
  const unreached = (body.devices ?? []).filter(({ state }) => state?.startsWith("cannot ") === true);
  return unreached.map(({ id, reason = null, last_message_at = null }) => ({
    kind: "device",
    name: id,
    reason,
    last_at: last_message_at,
  }));
}

/** The name and the end of a key that still works. */
export interface KeyEnd {
  readonly public_id: string;
  readonly name: string;
  /** Null if it does not end. */
  readonly expires_at: number | null;
}

/** Returns keys that end soon, the first one first. A key whose successor of the same name works longer is left out. */
export function endingKeys<Key extends KeyEnd>(keys: readonly Key[], now: number): (Key & { expires_at: number })[] {
  const endOf = ({ expires_at }: KeyEnd) => expires_at ?? Number.POSITIVE_INFINITY;
  return keys
    .filter((key): key is Key & { expires_at: number } => endOf(key) <= now + KEY_END_DAYS * DAY_MS)
    .filter((key) => !keys.some((other) => other.name === key.name && endOf(other) > endOf(key)))
    .toSorted((a, b) => a.expires_at - b.expires_at);
}
