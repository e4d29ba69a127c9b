import type { Flag, Heartbeat, Result } from "../../../shared/api/study.ts";
import { type AgentShown, needsPerson } from "../../dashboard/types/devices/devices.ts";
import { KEY_END_DAYS, type SilentSource } from "../../dashboard/types/results/today.ts";
import type { Moment } from "../../operations/alerts/moment.ts";
import { heardReason } from "../../dashboard/types/devices/heard-reason.ts";

// Decides what needs a person.

const DAY_MS = 86_400_000;

const bySeverity: readonly (Flag | null)[] = [null, "normal", "low", "high", "critical"];

/** @returns the most severe flag of the results; null if none has a flag */
export function worstFlag(results: readonly Pick<Result, "flag">[]): Flag | null {
  const ranks = results.map(({ flag }) => bySeverity.indexOf(flag));
  return bySeverity[Math.max(0, ...ranks)] ?? null;
}

/** An agent with its last heartbeat. */
export interface HeardAgent {
  readonly shown: AgentShown;
  readonly line: KeyEnd["line"];
  readonly heard: Heartbeat;
}

/**
 * Returns the silent agents. Keys of one line are one agent: a rolled key leaves its predecessor silent. A revoked key was taken
 * out of use.
 */
export function silentAgents<Agent extends Pick<HeardAgent, "shown" | "line">>(
  agents: readonly Agent[],
  keys: readonly KeyEnd[],
): Agent[] {
  const isInUse = ({ shown }: Agent) => keys.some(({ public_id }) => public_id === shown.key.id);
  const isRunning = (line: string) => agents.some((other) => other.line === line && other.shown.is === "running");
  return agents.filter((agent) => agent.shown.is === "silent" && isInUse(agent) && !isRunning(agent.line));
}

/** Returns agents that are silent, and devices of others that need a person. */
export function silentSources(agents: readonly HeardAgent[], keys: readonly KeyEnd[]): SilentSource[] {
  const silent = silentAgents(agents, keys);
  return agents.flatMap((agent): SilentSource[] => {
    const { key, is, last_seen_at, devices } = agent.shown;
    if (is === "silent") {
      return silent.includes(agent) ? [{ kind: "agent", name: key.name, reason: null, last_at: last_seen_at }] : [];
    }
    const waiting = devices.filter(({ state }) => needsPerson(state));
    return waiting.map(({ id, name, state, last_message_at }) => ({
      kind: "device",
      name: name ?? id,
      ...(heardReason("reason" in state ? state : {}) ?? { reason: null }),
      last_at: last_message_at,
    }));
  });
}

/** The name and the end of a key that nobody revoked. */
export interface KeyEnd {
  readonly public_id: string;
  /** The id of the first key of its line. Two PCs may give their keys one name, so the line identifies the owner of a key. */
  readonly line: string;
  readonly name: string;
  /** Null if it does not end. */
  readonly expires_at: number | null;
}

/** Returns keys that end soon, the first one first. A key whose successor works longer is left out. */
export function endingKeys<Key extends KeyEnd>(keys: readonly Key[], moment: Moment): (Key & { expires_at: number })[] {
  const endOf = ({ expires_at }: KeyEnd) => expires_at ?? Number.POSITIVE_INFINITY;
  const isEnding = (end: number) => !moment.reached(end) && moment.reached(end - KEY_END_DAYS * DAY_MS);
  return keys
    .filter((key): key is Key & { expires_at: number } => isEnding(endOf(key)))
    .filter((key) => !keys.some((other) => other.line === key.line && endOf(other) > endOf(key)))
    .toSorted((a, b) => a.expires_at - b.expires_at);
}
