import { compareVersions, type Release, type UpgradeReport } from "../../../shared/api/upgrade.ts";
import type { AgentShown } from "../../dashboard/types/devices/devices.ts";
import type {
  LeftWhy,
  RolloutPcState,
  RolloutPcShown,
  RolloutShown,
  UpdatePlan,
} from "../../dashboard/types/devices/rollout.ts";

// A roll-out brings the agents of a clinic to a version, one PC after the other. It stops at the first PC that rolls back, so
// that a bad version reaches one PC alone. A refusal is not a verdict on the version: the agent tries again after a pause, and
// its PC keeps its turn until a user skips it. A roll-out steps with each heartbeat of an agent.

/** Replaces a report that was followed by others: no later one equals it. */
const OTHER = "";

export interface RolloutPc {
  readonly agent: string;
  readonly name: string;
  /** The version before the roll-out. */
  readonly from: string | null;
  readonly state: "waiting" | "offered" | "done" | "rolled back" | "skipped";
  /** Time of the last change. */
  readonly at: number;
  /** The agent's sentence about a rollback. */
  readonly reason: string | null;
  /** The report of the agent when it was offered the version, as JSON: an equal report is of an earlier upgrade. Null before the offer. */
  readonly before: string | null;
}

export interface Rollout {
  readonly version: string;
  readonly startedAt: number;
  /** Time at which a user stopped it. */
  readonly stoppedAt: number | null;
  /** The PCs in the order of their turns. */
  readonly pcs: readonly RolloutPc[];
}

/** The part of a heartbeat about upgrades. */
export interface HeardVersion {
  readonly agent: string;
  readonly version: string | null;
  readonly upgrade: UpgradeReport | null;
}

export type RolloutEnd = "running" | "done" | "stopped" | "rolled back";

export function endOf({ pcs, stoppedAt }: Rollout): RolloutEnd {
  if (pcs.some(({ state }) => state === "rolled back")) return "rolled back";
  if (!pcs.some(isOpen)) return "done";
  return stoppedAt === null ? "running" : "stopped";
}

/** Takes the next step after a heartbeat of one agent. A heartbeat that changes nothing returns the same object. */
export function stepRollout(rollout: Rollout, heard: HeardVersion, now: number): Rollout {
  const pc = rollout.pcs.find(({ agent }) => agent === heard.agent);
  if (pc === undefined) return rollout;
  const settled = settle(pc, heard, rollout.version, now);
  const after = settled === pc ? rollout : replace(rollout, settled);
  if (currentPc(after) !== settled || settled.state !== "waiting") return after;
  if (isAtLeast(heard.version, rollout.version)) return replace(after, { ...settled, state: "done", at: now });
  return replace(after, { ...settled, state: "offered", at: now, before: JSON.stringify(heard.upgrade) });
}

/** @returns the version that the agent should install now; undefined for none */
export function wantedVersion(rollout: Rollout, agent: string): string | undefined {
  const current = currentPc(rollout);
  return current?.agent === agent && current.state === "offered" ? rollout.version : undefined;
}

/** Returns the last upgrade of an agent; null for a failed one whose version, or a later one, runs since. */
export function lastUpgrade(version: string | null, upgrade: UpgradeReport | null): UpgradeReport | null {
  const hasFailed = upgrade?.state === "rolled back" || upgrade?.state === "refused";
  return hasFailed && isAtLeast(version, upgrade.to) ? null : upgrade;
}

/** @returns the PCs on which the version was rolled back, and that have no newer one since */
export function failedPcs({ pcs, version }: Rollout, agents: readonly AgentShown[]): RolloutPc[] {
  const isOlder = (fp: string) => agents.some((agent) => agent.fp === fp && !isAtLeast(agent.version, version));
  return pcs.filter(({ state, agent }) => state === "rolled back" && isOlder(agent));
}

/** @returns undefined if the roll-out has ended */
export function stopRollout(rollout: Rollout, now: number): Rollout | undefined {
  return endOf(rollout) === "running" ? { ...rollout, stoppedAt: now } : undefined;
}

/** Leaves out the PC whose turn it is, so that the next one starts. @returns undefined if it is not the turn of this PC */
export function skipPc(rollout: Rollout, agent: string, now: number): Rollout | undefined {
  const current = currentPc(rollout);
  return current?.agent === agent ? replace(rollout, { ...current, state: "skipped", at: now }) : undefined;
}

/** @returns the PC whose turn it is; undefined at the end */
function currentPc(rollout: Rollout): RolloutPc | undefined {
  return endOf(rollout) === "running" ? rollout.pcs.find(isOpen) : undefined;
}

function isOpen({ state }: RolloutPc): boolean {
  return state === "waiting" || state === "offered";
}

function replace(rollout: Rollout, changed: RolloutPc): Rollout {
  return { ...rollout, pcs: rollout.pcs.map((pc) => (pc.agent === changed.agent ? changed : pc)) };
}

/** Notes how the upgrade of a PC ended, also after a stop: the agent may have started before. */
function settle(pc: RolloutPc, { version, upgrade }: HeardVersion, target: string, now: number): RolloutPc {
  if (pc.before === null) return pc;
  const isNews = upgrade?.to === target && JSON.stringify(upgrade) !== pc.before;
  if (isNews && upgrade.state === "rolled back" && !isAtLeast(version, target)) {
    return pc.state === "rolled back" ? pc : { ...pc, state: "rolled back", at: now, reason: upgrade.reason };
  }
  // The same failure may come twice, so any other report in between is noted.
  if (isNews && upgrade.state !== "done") return pc.before === OTHER ? pc : { ...pc, before: OTHER };
  if (pc.state === "done" || pc.state === "rolled back" || !isAtLeast(version, target)) return pc;
  return { ...pc, state: "done", at: now };
}

function isAtLeast(version: string | null, target: string): boolean {
  return version !== null && compareVersions(version, target) >= 0;
}

/** Finds the newest version, and the PCs that can take it. Running PCs come first, so that none waits for a PC that is off. */
export function planUpdate(agents: readonly AgentShown[], releases: readonly Release[]): UpdatePlan | null {
  const version = releases
    .map((release) => release.version)
    .toSorted(compareVersions)
    .at(-1);
  if (version === undefined) return null;
  const platforms = releases.filter((release) => release.version === version).map(({ platform }) => platform);
  const older = agents.filter((agent) => !agent.is_revoked && agent.fp !== null && !isAtLeast(agent.version, version));
  const ordered = [...older.filter(({ is }) => is === "running"), ...older.filter(({ is }) => is !== "running")];
  const plan: UpdatePlan = { version, pcs: [], left: [] };
  for (const agent of ordered) {
    const { fp, version: from } = agent;
    const { name } = agent.key;
    const why = whyLeft(agent, version, platforms);
    if (why !== null) plan.left.push({ name, from, why });
    else plan.pcs.push({ agent: fp ?? "", name, from });
  }
  return plan;
}

function whyLeft({ platform, upgrade }: AgentShown, version: string, platforms: readonly string[]): LeftWhy | null {
  if (platform === null) return "by hand";
  if (!platforms.includes(platform)) return "no package";
  return upgrade?.to === version && upgrade.state === "rolled back" ? "rolled back" : null;
}

export function startRollout({ version, pcs }: UpdatePlan, now: number): Rollout {
  const waiting = { state: "waiting", at: now, reason: null, before: null } as const;
  return { version, startedAt: now, stoppedAt: null, pcs: pcs.map((pc) => ({ ...pc, ...waiting })) };
}

/** Describes a roll-out with the last reports of its agents. */
export function showRollout(rollout: Rollout, by: string, agents: readonly AgentShown[]): RolloutShown {
  const current = currentPc(rollout);
  const end = endOf(rollout);
  const pcs = rollout.pcs.map((pc): RolloutPcShown => {
    const agent = agents.find(({ fp }) => fp === pc.agent);
    const ended = isOpen(pc) && end !== "running" ? "kept" : pc.state;
    const state = pc === current ? turnOf(pc, rollout.version, agent) : ended;
    const { agent: fp, name, from } = pc;
    const reason = state === "refused" ? (agent?.upgrade?.reason ?? null) : pc.reason;
    return { agent: fp, name, from, reason, state: state === "offered" ? "asked" : state };
  });
  return { version: rollout.version, by, started_at: new Date(rollout.startedAt).toISOString(), is: end, pcs };
}

/** Returns the progress of the PC whose turn it is. */
function turnOf({ state, before }: RolloutPc, version: string, agent: AgentShown | undefined): RolloutPcState {
  if (agent === undefined || agent.is_revoked || agent.is !== "running") return "silent";
  if (state !== "offered") return "waiting";
  if (agent.upgrade?.to !== version || JSON.stringify(agent.upgrade) === before) return "asked";
  const { state: told } = agent.upgrade;
  return told === "trying" || told === "refused" ? told : "preparing";
}
