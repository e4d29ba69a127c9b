import type { TargetValues } from "../../dashboard/types/quality.ts";
import { targetOfRange } from "../../../shared/clinical/control/statistics.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { query, type Session } from "../../database/query.ts";
import type { ControlSeriesKey, Tables } from "../../database/schema.ts";
import { type ChangedControls, firstAt, firstRuns, refreshSeries, type SeriesRow, seriesFor } from "./series.ts";

// Targets that people set: of a sheet, or of the first runs. A target stays until a person sets another one.

/** Why values are not a target; null if they are. */
export function targetFault(target: TargetValues): "bounds" | "not_positive" | null {
  if ("low" in target) return target.low < target.high ? null : "bounds";
  return target.sd > 0 ? null : "not_positive";
}

export function meanAndSd(target: TargetValues): { readonly mean: number; readonly sd: number } {
  return "low" in target ? targetOfRange(target, target.factor) : target;
}

/**
 * Sets the target of a series from its sheet; the series need not have runs yet. Needs a transaction.
 * @param since `lot` for all its runs, `now` for those from now on
 */
export async function setTarget(
  session: Session,
  {
    key,
    values,
    since,
  }: { key: ControlSeriesKey & { expires: string | null }; values: TargetValues; since: "lot" | "now" },
  actor: Required<AuditActor>,
): Promise<{ id: number; changed: ChangedControls }> {
  const id = await seriesFor(session, actor.clinicId, key);
  const from = since === "lot" ? 0 : actor.now;
  await storeTarget(session, id, { ...meanAndSd(values), basis: "sheet", runs: null, from }, actor);
  await refreshSeries(session, actor.clinicId, [id]);
  return { id, changed: await changedSince(session, { ...key, id }, from, actor.now) };
}

/**
 * Accepts mean and SD of the first runs. They hold for all runs where they were in force provisionally, and from now on in place of
 * another target. Needs a transaction. @returns undefined if the proposal is another one by now
 */
export async function acceptProposal(
  session: Session,
  series: SeriesRow,
  accepted: { readonly mean: number; readonly sd: number },
  actor: Required<AuditActor>,
): Promise<ChangedControls | undefined> {
  const proposal = await firstRuns(session, series.id);
  if (proposal?.mean !== accepted.mean || proposal.sd !== accepted.sd) return undefined;
  const target = await session.first(lastTarget, { id: series.id });
  const from = target === undefined || target.basis === "provisional" ? 0 : actor.now;
  const { mean, sd, runs } = proposal;
  await storeTarget(session, series.id, { mean, sd, runs, basis: "own", from }, actor);
  return changedSince(session, series, from, actor.now);
}

/** A target for all runs changes those since the first one. */
async function changedSince(
  session: Session,
  { id, device_id, analyte }: Pick<SeriesRow, "id" | "device_id" | "analyte">,
  from: number,
  now: number,
): Promise<ChangedControls> {
  const first = from === 0 ? ((await firstAt(session, id)) ?? now) : from;
  return { deviceId: device_id, analytes: [analyte], from: first, to: Number.MAX_SAFE_INTEGER };
}

/** Stores a target from a time on. One for all runs replaces the others. */
async function storeTarget(
  session: Session,
  id: number,
  target: { mean: number; sd: number; basis: "sheet" | "own"; runs: number | null; from: number },
  actor: Required<AuditActor>,
): Promise<void> {
  await session.all(removeSince, { id, from: target.from, clinicId: actor.clinicId });
  await session.all(insert, {
    ...{ series_id: id, from_at: target.from, mean: target.mean, sd: target.sd, basis: target.basis },
    ...{ runs: target.runs, author: actor.by, user_id: actor.userId, at: actor.now },
  });
  await auditCommand(session, `control target ${target.mean} ${target.sd} ${target.basis}`, [String(id)], actor);
}

const lastTarget = query((db, p: { id: number }) =>
  db.selectFrom("control_target").select(["basis"]).where("series_id", "=", p.id).orderBy("from_at", "desc").limit(1),
);

const removeSince = query(
  (db, p: { id: number; from: number; clinicId: number }) =>
    db.deleteFrom("control_target").where("series_id", "=", p.id).where("from_at", ">=", p.from),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const insert = query(
  (db, p: Tables["control_target"]) =>
    db.insertInto("control_target").values({
      ...{ series_id: p.series_id, from_at: p.from_at, mean: p.mean, sd: p.sd, basis: p.basis },
      ...{ runs: p.runs, author: p.author, user_id: p.user_id, at: p.at },
    }),
  () => ({}),
);
