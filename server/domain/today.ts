import type { Flag, Result } from "../../shared/api/study.ts";
import { type AgentShown, needsPerson } from "../../shared/dashboard/devices.ts";
import { KEY_END_DAYS, type SilentSource } from "../../shared/dashboard/today.ts";

// Decides what needs a person.

const DAY_MS = 86_400_000;

const bySeverity: readonly (Flag | null)[] = [null, "normal", "low", "high", "critical"];

/** @returns the most severe flag of the results; null if none has a flag */
export function worstFlag(results: readonly Pick<Result, "flag">[]): Flag | null {
  const ranks = results.map(({ flag }) => bySeverity.indexOf(flag));
  return bySeverity[Math.max(0, ...ranks)] ?? null;
}

/**
 * Returns agents that are silent, and devices that need a person. Keys of one name are one agent: a rolled key leaves its
 * predecessor silent. A revoked key was taken out of use.
 */
export function silentSources(agents: readonly AgentShown[], isInUse: (keyId: string) => boolean): SilentSource[] {
  const isRunning = (name: string) => agents.some(({ key, is }) => key.name === name && is === "running");
  return agents.flatMap(({ key, is, last_seen_at, devices }): SilentSource[] => {
    if (is === "silent") {
      if (!isInUse(key.id) || isRunning(key.name)) return [];
      return [{ kind: "agent", name: key.name, reason: null, last_at: last_seen_at }];
    }
    const waiting = devices.filter(({ state }) => needsPerson(state));
    return waiting.map(({ id, name, state, last_message_at }) => ({
      kind: "device",
      name: name ?? id,
      reason: "reason" in state ? state.reason : null,
      last_at: last_message_at,
    }));
  });
}

/** The name and the end of a key that nobody revoked. */
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
    .filter((key): key is Key & { expires_at: number } => endOf(key) > now && endOf(key) <= now + KEY_END_DAYS * DAY_MS)
    .filter((key) => !keys.some((other) => other.name === key.name && endOf(other) > endOf(key)))
    .toSorted((a, b) => a.expires_at - b.expires_at);
}
