import { compareVersions, RELEASE_WORD_CHARS_MAX } from "../../api/upgrade.ts";

// Decides which version of the program runs. The launcher stores the decisions and carries them out.

/** The content of current.json. */
export interface Versions {
  /** The version of the last upgrade that stayed. Null for the version of the package. */
  readonly current: string | null;
  /** The upgrade that has not run for its probation yet. */
  readonly pending: Pending | null;
  /** An upgrade was rolled back, and the version before has not run since. Its start takes the database back. */
  readonly rolledBack: boolean;
}

export interface Pending {
  readonly version: string;
  /** Starts that no probation ended: a power cut, or a killed service. */
  readonly starts: number;
  readonly expects: Expectation;
}

/** The state that a new version has to reach. The version before could do no more, so an unplugged device stops no upgrade. */
export interface Expectation {
  /** Whether the server has to respond to a heartbeat. */
  readonly heartbeat: boolean;
  /** The problems that existed before, by `what` of a problem. */
  readonly known: readonly string[];
}

/** The state of a running program, as it reports it to the launcher. */
export interface Health {
  readonly problems: readonly { readonly what: string; readonly reason: string }[];
  /** Whether the server has responded to a heartbeat since the start. */
  readonly heartbeat: boolean;
}

/** One upgrade that ended. */
export interface UpgradeRecord {
  readonly from: string;
  readonly to: string;
  /** ISO time of the end. */
  readonly at: string;
  readonly outcome: "done" | "rolled back" | "refused";
  readonly reason: string | null;
}

export const NO_UPGRADE: Versions = { current: null, pending: null, rolledBack: false };

/** Starts of a new version that end without a verdict, after which it counts as failed. */
const STARTS_MAX = 3;
const RECORDS_MAX = 50;
const REASON_CHARS_MAX = 1_000;

/** The version to start next. */
export interface Choice {
  readonly version: string;
  /** The upgrade that this start tries; null for the version in force. */
  readonly trial: Pending | null;
}

/**
 * `own` is the version of the package, `unpacked` are those of the versions folder. A lower version than the package's is not
 * chosen, because it could not open a database of a newer schema.
 */
export function choose(own: string, versions: Versions, unpacked: readonly string[]): Choice {
  const inForce = versionInForce(own, versions, unpacked);
  const { pending } = versions;
  const isTried = pending !== null && unpacked.includes(pending.version) && isNewer(pending.version, inForce);
  return isTried ? { version: pending.version, trial: pending } : { version: inForce, trial: null };
}

/** Returns the version of the last upgrade, or the package's own if that is newer. */
export function versionInForce(own: string, { current }: Versions, unpacked: readonly string[]): string {
  return current !== null && unpacked.includes(current) && isNewer(current, own) ? current : own;
}

/** @returns why an ordered upgrade can no longer be tried; null if it can, or if there is none */
export function obstacle(own: string, versions: Versions, unpacked: readonly string[]): string | null {
  const { pending } = versions;
  if (pending === null || choose(own, versions, unpacked).trial !== null) return null;
  const isOvertaken = !isNewer(pending.version, versionInForce(own, versions, unpacked));
  return isOvertaken
    ? "a package brought this version or a later one"
    : "its files are missing: order the upgrade again";
}

/** @returns the reason why an upgrade is refused, or null */
export function refusal(to: string, running: string, records: readonly UpgradeRecord[]): string | null {
  const difference = compareVersions(to, running);
  if (Number.isNaN(difference)) return `${to} is not a version: expected three numbers, such as 0.2.0`;
  if (difference === 0) return `version ${to} runs already`;
  if (difference < 0) return `version ${to} is older than ${running}, which runs: an upgrade never goes back`;
  const failed = records.findLast((record) => record.to === to && record.outcome === "rolled back");
  if (failed === undefined) return null;
  return `version ${to} was rolled back before (${failed.reason ?? "no reason known"}): take a later version`;
}

export function order(versions: Versions, version: string, expects: Expectation): Versions {
  return { ...versions, pending: { version, starts: 0, expects }, rolledBack: false };
}

/** Counts a start of the new version. Null if it was started too often without a verdict. */
export function countStart(versions: Versions, trial: Pending): Versions | null {
  return trial.starts >= STARTS_MAX ? null : { ...versions, pending: { ...trial, starts: trial.starts + 1 } };
}

/** Takes the count of a start back that somebody ended on purpose. */
export function discountStart(versions: Versions): Versions {
  const { pending } = versions;
  return pending === null
    ? versions
    : { ...versions, pending: { ...pending, starts: Math.max(0, pending.starts - 1) } };
}

/** Keeps the new version. */
export function accept(trial: Pending): Versions {
  return { current: trial.version, pending: null, rolledBack: false };
}

/** Goes back to the version before. */
export function rollBack(versions: Versions): Versions {
  return { ...versions, pending: null, rolledBack: true };
}

/** Goes back from a damaged version to the package's own. */
export function leave(versions: Versions): Versions {
  return { ...versions, current: null, rolledBack: true };
}

/** @returns why a new version has not passed its probation, or null if it has */
export function fault(health: Health | null, { heartbeat, known }: Expectation): string | null {
  if (health === null) return "it did not become ready in time";
  const unknown = health.problems.find(({ what }) => !known.includes(what));
  if (unknown !== undefined) return `it was not ready: ${unknown.what}: ${unknown.reason}`;
  if (heartbeat && !health.heartbeat) return "the server responded to none of its heartbeats";
  return null;
}

/** Adds a record. The same refusal, repeated, is one record with its last time. */
export function recorded(records: readonly UpgradeRecord[], record: UpgradeRecord): UpgradeRecord[] {
  const to = record.to.slice(0, RELEASE_WORD_CHARS_MAX);
  const bounded = { ...record, to, reason: record.reason?.slice(0, REASON_CHARS_MAX) ?? null };
  const last = records.at(-1);
  const isRepeated = last?.outcome === "refused" && last.to === bounded.to && last.reason === bounded.reason;
  return [...(isRepeated ? records.slice(0, -1) : records), bounded].slice(-RECORDS_MAX);
}

function isNewer(one: string, other: string): boolean {
  return compareVersions(one, other) > 0;
}
