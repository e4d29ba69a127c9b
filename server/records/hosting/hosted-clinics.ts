import { compareVersions } from "../../../shared/api/upgrade.ts";
import type { BackupState } from "../../../shared/platform/care/backup-state.ts";
import {
  CLINIC_STATES,
  type ClinicState,
  type HostedClinic,
  type HostedSums,
  overQuota,
  type QuotaMeter,
} from "../../dashboard/types/operator.ts";
import { query, type Session } from "../../database/query.ts";
import { limits } from "../../operations/alerts/kinds.ts";
import { agentState } from "../agents/device-state.ts";
import { endOf, type RolloutPc } from "../agents/rollout.ts";
import { isThere } from "../clinics/clinics.ts";
import { arrivedIn } from "./arrived.ts";
import { byClinic } from "./by-clinic.ts";
import { monthOf } from "./meters.ts";
import { readQuotas } from "./quotas.ts";
import { folded } from "../studies/study-search.ts";
import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";

// All clinics of the server with their states, for its operator. The number of queries does not depend on the number of clinics.

/** A clinic with the id of its row. */
export interface ListedClinic {
  readonly id: number;
  readonly shown: HostedClinic;
  /** Whether a roll-out to its PCs is not over. */
  readonly isUpdating: boolean;
}

interface Wanted {
  readonly now: number;
  /** The newest release of the agent on this server; null without one. */
  readonly newest: string | null;
}

const DAY_MS = 86_400_000;

/** Lists all clinics, those that need the operator first. */
export async function listHostedClinics(session: Session, { now, newest }: Wanted): Promise<ListedClinic[]> {
  const clinics = await session.all(all, {});
  const pcsOf = byClinic(await session.all(pcsOfAll, {}));
  const today = byClinic(await session.all(arrivedIn, { since: now - (now % DAY_MS), until: Number.MAX_SAFE_INTEGER }));
  const usage = byClinic(await session.all(usageOfLimited, { month: monthOf(now) }));
  const updating = await updatingClinics(session);
  const listed = clinics.map(({ id, suspended_at, ...clinic }): ListedClinic => {
    const over_quota = usage(id).flatMap((used) => overIn(used, pcsOf(id)));
    const facts = pcFacts(pcsOf(id), { now, newest, isOver: over_quota.length > 0 });
    const shown = {
      ...{ ...clinic, over_quota },
      state: suspended_at === null ? facts.state : "suspended",
      suspended_at: timestampOrNull(suspended_at),
      pcs: facts.pcs,
      last_seen_at: timestampOrNull(facts.lastSeenAt),
      version: facts.version,
      queue_oldest_at: timestampOrNull(facts.queueOldestAt),
      results_today: today(id)[0]?.studies ?? 0,
    };
    return { id, shown, isUpdating: updating.has(id) };
  });
  const rank = ({ shown }: ListedClinic) => CLINIC_STATES.indexOf(shown.state);
  return listed.toSorted((a, b) => rank(a) - rank(b));
}

/** Sums the clinics. The backups are those of the server, which has them all. */
export function sumClinics(
  clinics: readonly ListedClinic[],
  { newest, backups }: Pick<Wanted, "newest"> & { readonly backups: BackupState | null },
): HostedSums {
  const states = Object.fromEntries(CLINIC_STATES.map((state) => [state, 0])) as Record<ClinicState, number>;
  const sums = { pcs: 0, connected: 0, behind: 0, results_today: 0, updating: 0 };
  for (const { shown, isUpdating } of clinics) {
    states[shown.state] += 1;
    sums.pcs += shown.pcs.total;
    sums.connected += shown.pcs.connected;
    sums.behind += shown.pcs.behind;
    sums.results_today += shown.results_today;
    sums.updating += isUpdating ? 1 : 0;
  }
  const { last = null, succeeded = null } = backups ?? {};
  return {
    ...{ clinics: clinics.length, states, ...sums, newest_version: newest },
    last_backup: succeeded && { at: succeeded.at, bytes: succeeded.bytes },
    backup_failed_at: last !== null && last.bytes === null ? last.at : null,
  };
}

/** Selects the clinics of a state whose name has the words; null and an empty text select all. */
export function selectClinics(
  clinics: readonly ListedClinic[],
  { words, state }: { readonly words: string; readonly state: ClinicState | null },
): ListedClinic[] {
  const sought = folded(words);
  return clinics.filter(
    ({ shown }) => (state === null || shown.state === state) && folded(shown.name).includes(sought),
  );
}

interface PcRow {
  readonly received_at: number | null;
  readonly version: string | null;
  readonly faulty_devices: number | null;
  readonly queue_oldest_at: number | null;
  readonly devices: number | null;
}

interface UsageRow {
  readonly quotas: string | null;
  readonly calls: number | null;
  readonly bytes: number | null;
}

function overIn({ quotas, calls, bytes }: UsageRow, pcs: readonly PcRow[]): QuotaMeter[] {
  const devices = pcs.reduce((sum, pc) => sum + (pc.devices ?? 0), 0);
  return overQuota({ devices, api_calls_this_month: calls, storage_bytes: bytes }, readQuotas(quotas));
}

function pcFacts(rows: readonly PcRow[], { now, newest, isOver }: Wanted & { readonly isOver: boolean }) {
  const versions = rows.flatMap(({ version }) => version ?? []).toSorted(compareVersions);
  const pcs = {
    total: rows.length,
    connected: rows.filter(({ received_at }) => agentState(received_at, now) === "running").length,
    behind: newest === null ? 0 : versions.filter((version) => compareVersions(version, newest) < 0).length,
  };
  const waiting = rows.flatMap(({ queue_oldest_at: at }) => at ?? []);
  const queueOldestAt = waiting.length === 0 ? null : Math.min(...waiting);
  const isFaulty = rows.some(({ faulty_devices }) => (faulty_devices ?? 0) > 0);
  return {
    pcs,
    lastSeenAt: rows.reduce<number | null>(
      (last, { received_at: at }) => (at === null ? last : Math.max(last ?? 0, at)),
      null,
    ),
    version: versions[0] ?? null,
    queueOldestAt,
    state: stateOf(pcs, {
      isFaulty,
      isWaiting: queueOldestAt !== null && queueOldestAt <= now - limits.outboxMs,
      isOver,
    }),
  };
}

function stateOf(
  { total, connected, behind }: HostedClinic["pcs"],
  {
    isFaulty,
    isWaiting,
    isOver,
  }: { readonly isFaulty: boolean; readonly isWaiting: boolean; readonly isOver: boolean },
): ClinicState {
  if (connected < total) return "silent";
  if (isFaulty) return "errors";
  if (isWaiting) return "waiting";
  if (isOver) return "over quota";
  if (total === 0) return "no PC";
  return behind > 0 ? "behind" : "well";
}

async function updatingClinics(session: Session): Promise<ReadonlySet<number>> {
  const rows = await session.all(rollouts, {});
  const running = rows.filter(({ version, pcs, started_at: startedAt }) => {
    const rollout = { version, startedAt, stoppedAt: null, pcs: JSON.parse(pcs) as RolloutPc[] };
    return endOf(rollout) === "running";
  });
  return new Set(running.map(({ clinic_id }) => clinic_id));
}

const all = query((db) =>
  db
    .selectFrom("clinic")
    .select(["id", "fp", "name", "suspended_at", "studies_max"])
    .where(isThere)
    .orderBy("name")
    .orderBy("fp"),
);

const pcsOfAll = query((db) =>
  db
    .selectFrom("agent")
    .innerJoin("api_key", "api_key.id", "agent.api_key_id")
    .leftJoin("heartbeat", (join) =>
      join.onRef("heartbeat.api_key_id", "=", "agent.api_key_id").onRef("heartbeat.clinic_id", "=", "agent.clinic_id"),
    )
    .select(["agent.clinic_id", "heartbeat.received_at", "heartbeat.version", "heartbeat.faulty_devices"])
    .select(["heartbeat.queue_oldest_at", "heartbeat.devices"])
    .where("api_key.revoked_at", "is", null),
);

// Only clinics with a soft limit.
const usageOfLimited = query((db, p: { month: string }) =>
  db
    .selectFrom("clinic")
    .leftJoin("api_calls", (join) =>
      join.onRef("api_calls.clinic_id", "=", "clinic.id").on("api_calls.month", "=", p.month),
    )
    .leftJoin("clinic_storage", "clinic_storage.clinic_id", "clinic.id")
    .select(["clinic.id as clinic_id", "clinic.quotas", "api_calls.calls", "clinic_storage.bytes"])
    .where("clinic.quotas", "is not", null),
);

const rollouts = query((db) =>
  db.selectFrom("rollout").select(["clinic_id", "version", "pcs", "started_at"]).where("stopped_at", "is", null),
);
