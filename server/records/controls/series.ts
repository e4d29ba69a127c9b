import { sql } from "kysely";
import { hasAllowableError } from "../../../shared/clinical/control/allowable-error.ts";
import { OWN_TARGET_RUNS, statisticsOf } from "../../../shared/clinical/control/statistics.ts";
import { query, type Session } from "../../database/query.ts";
import type { ControlSeriesKey } from "../../database/schema.ts";

// Series of control values: their rows, and what is derived from their values at each write.

/** Number of latest values of a series that the overview judges: four times what the longest rule looks back. */
const RECENT_VALUES = 40;

/** Controls of a device that a write changed, for the marks of studies. */
export interface ChangedControls {
  readonly deviceId: string;
  /** Codes of the analytes. */
  readonly analytes: readonly string[];
  /** Times of the first and the last changed run, ms since 1970. */
  readonly from: number;
  readonly to: number;
}

export interface SeriesRow extends ControlSeriesKey {
  readonly id: number;
  readonly expires: string | null;
  readonly runs: number;
  readonly counted: number;
  readonly mean: number | null;
  readonly sd: number | null;
  readonly last_at: number | null;
  readonly recent_at: number | null;
  readonly full_at: number | null;
  readonly full_mean: number | null;
  readonly full_sd: number | null;
}

/** Finds or makes the series of a control's analyte. An expiry that was unknown is filled in. @returns its id */
export async function seriesFor(
  session: Session,
  clinicId: number,
  key: ControlSeriesKey & { readonly expires: string | null },
): Promise<number> {
  const wanted = { ...key, clinic_id: clinicId };
  const known = await session.first(byKey, wanted);
  if (known !== undefined) {
    if (known.expires === null && key.expires !== null) {
      await session.all(setExpires, { id: known.id, clinicId, expires: key.expires });
    }
    return known.id;
  }
  await session.all(insert, wanted);
  return (await session.first(byKey, wanted))?.id ?? 0;
}

/** Finds a series of the clinic by the id of a path or body. */
export async function findSeries(session: Session, clinicId: number, id: string): Promise<SeriesRow | undefined> {
  return /^[1-9]\d{0,14}$/.test(id) ? session.first(byId, { clinicId, id: Number(id) }) : undefined;
}

/**
 * Derives numbers, statistics and the target of series from their values. Run it at the end of each write.
 * @returns the controls that are judged otherwise by it: a value among the first 20 changes the target and the rules of others
 */
export async function refreshSeries(
  session: Session,
  clinicId: number,
  ids: Iterable<number>,
): Promise<ChangedControls[]> {
  const changed: ChangedControls[] = [];
  for (const id of ids) {
    const before = await session.first(byId, { clinicId, id });
    if (before === undefined || (await removeEmpty(session, clinicId, id))) continue;
    const targetBefore = await session.first(derivedTarget, { id });
    const all = await session.first(totals, { id });
    const counted = all?.counted ?? 0;
    const mean = counted < 2 ? null : (all?.mean ?? null);
    // E[v²] - E[v]² loses digits, and a control's CV of 0.1 % leaves ten of them.
    const variance = mean === null ? 0 : (((all?.squares ?? 0) - mean * mean) * counted) / (counted - 1);
    const recent = await session.first(nthLast, { id });
    const first = await firstRuns(session, id);
    const [lastAt, firstTime] = [all?.last_at ?? null, await firstAt(session, id)];
    await session.all(setTotals, {
      ...{ id, clinicId, counted, mean, sd: mean === null ? null : Math.sqrt(Math.max(0, variance)) },
      ...{ runs: all?.runs ?? 0, lastAt, recentAt: recent?.measured_at ?? all?.first_at ?? null },
      ...{ fullAt: first?.at ?? null, fullMean: first?.mean ?? null, fullSd: first?.sd ?? null },
    });
    await deriveTarget(session, id, first);
    const target = await session.first(derivedTarget, { id });
    const isNewTarget = target?.mean !== targetBefore?.mean || target?.sd !== targetBefore?.sd;
    const span = isNewTarget ? { from: firstTime ?? 0, to: LAST } : rulesSpan(before, first);
    if (span !== null) changed.push({ deviceId: before.device_id, analytes: [before.analyte], ...span });
  }
  return changed;
}

const LAST = Number.MAX_SAFE_INTEGER;

/** The time in which other rules are in force by other first runs; null if none. */
function rulesSpan(before: SeriesRow, first: FirstRuns | null): { from: number; to: number } | null {
  const [old, now] = [before.full_at ?? LAST, first?.at ?? LAST];
  // Only an analyte with a published allowable error has a sigma, which the first runs decide for all later ones.
  const isOtherSigma = hasAllowableError(before.analyte) && before.full_mean !== (first?.mean ?? null);
  if (old === now && !isOtherSigma) return null;
  return { from: Math.min(old, now), to: isOtherSigma ? LAST : Math.max(old, now) };
}

/** Removes a series that a corrected answer left without values, unless a person set its target. @returns whether it did */
async function removeEmpty(session: Session, clinicId: number, id: number): Promise<boolean> {
  if ((await firstAt(session, id)) !== null || (await session.first(ofPerson, { id })) !== undefined) return false;
  await session.all(removeDerived, { id });
  await session.all(removeSeries, { id, clinicId });
  return true;
}

/**
 * Derives the target of a series for which no person set one: what the device printed with its first run, else mean and SD of the
 * first runs. It follows the order of measurement, so that runs may arrive in any order.
 */
async function deriveTarget(session: Session, id: number, first: FirstRuns | null): Promise<void> {
  if ((await session.first(ofPerson, { id })) !== undefined) return;
  await session.all(removeDerived, { id });
  const printed = await session.first(firstPrinted, { id });
  if (printed !== undefined) {
    const { printed_mean: mean, printed_sd: sd, measured_at: at } = printed;
    if (mean !== null && sd !== null)
      await session.all(insertDerived, { id, mean, sd, basis: "device", runs: null, at });
    return;
  }
  if (first === null || first.sd <= 0) return;
  const { mean, sd, runs, at } = first;
  await session.all(insertDerived, { id, mean, sd, runs, basis: "provisional", at });
}

/** Returns the time of the first value of a series, ms since 1970; null without any. */
export async function firstAt(session: Session, id: number): Promise<number | null> {
  return (await session.first(firstOfSeries, { id }))?.at ?? null;
}

interface FirstRuns {
  readonly mean: number;
  readonly sd: number;
  readonly runs: number;
  /** Time of the last one. */
  readonly at: number;
  /** The values in the order of measurement. */
  readonly values: readonly { readonly id: number; readonly value: number }[];
}

/** Mean and SD of the first 20 values of a series that count; null before. */
export async function firstRuns(session: Session, id: number): Promise<FirstRuns | null> {
  const rows = await session.all(firstCounted, { id });
  const values = rows.flatMap((row) => (row.value === null ? [] : [{ id: row.id, value: row.value }]));
  const statistics = values.length < OWN_TARGET_RUNS ? null : statisticsOf(values.map(({ value }) => value));
  if (statistics === null) return null;
  return { mean: statistics.mean, sd: statistics.sd, runs: values.length, at: rows.at(-1)?.measured_at ?? 0, values };
}

const columns = [
  ...(["id", "device_id", "analyte", "unit", "material", "level", "lot", "expires"] as const),
  ...(["runs", "counted", "mean", "sd", "last_at", "recent_at"] as const),
  ...(["full_at", "full_mean", "full_sd"] as const),
] as const;

type Key = ControlSeriesKey & { readonly clinic_id: number };

const byKey = query((db, p: Key) =>
  db
    .selectFrom("control_series")
    .select(["id", "expires"])
    .where("clinic_id", "=", p.clinic_id)
    .where("device_id", "=", p.device_id)
    .where("analyte", "=", p.analyte)
    .where("unit", "=", p.unit)
    .where("material", "=", p.material)
    .where("level", "=", p.level)
    .where("lot", "=", p.lot),
);

const byId = query((db, p: { clinicId: number; id: number }) =>
  db.selectFrom("control_series").select(columns).where("clinic_id", "=", p.clinicId).where("id", "=", p.id),
);

/** Lists the series of an analyte on a device. */
export const seriesOfAnalyte = query((db, p: { clinicId: number; deviceId: string; analyte: string }) =>
  db
    .selectFrom("control_series")
    .select(columns)
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.deviceId)
    .where("analyte", "=", p.analyte)
    .orderBy("id"),
);

/** A lot that ended this long before the last run of a newer one of its level is left out of the overview. */
const OVERLAP_MS = 30 * 86_400_000;

/** Returns for each level, also one whose material was renamed, the lot that was measured last, and those that overlap it. A lot without runs is one to come. */
export const isCurrent = sql<boolean>`(series.last_at is null or not exists (
  select 1 from control_series as newer
  where newer.clinic_id = series.clinic_id and newer.device_id = series.device_id and newer.analyte = series.analyte
    and newer.unit = series.unit and newer.level = series.level
    and (newer.material = series.material or exists (
      select 1 from control_series as renamed
      where renamed.clinic_id = series.clinic_id and renamed.device_id = series.device_id and renamed.analyte = series.analyte
        and renamed.unit = series.unit and renamed.level = series.level and renamed.lot = series.lot
        and renamed.material = newer.material))
    and newer.last_at > series.last_at + ${sql.lit(OVERLAP_MS)}))`;

/** Lists the current series of a clinic. */
export const currentSeries = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("control_series as series")
    .select(columns.map((column) => `series.${column}` as const))
    .where("series.clinic_id", "=", p.clinicId)
    .where(isCurrent)
    .orderBy("series.device_id")
    .orderBy("series.analyte")
    .orderBy("series.level")
    .orderBy("series.id"),
);

const insert = query(
  (db, p: Key & { readonly expires: string | null }) =>
    db
      .insertInto("control_series")
      .values({
        ...{ clinic_id: p.clinic_id, device_id: p.device_id, analyte: p.analyte, unit: p.unit },
        ...{ material: p.material, level: p.level, lot: p.lot, expires: p.expires },
      })
      .onConflict((conflict) => conflict.doNothing()),
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);

const setExpires = query(
  (db, p: { id: number; clinicId: number; expires: string }) =>
    db.updateTable("control_series").set({ expires: p.expires }).where("id", "=", p.id),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

/** Values that count: neither words, nor bounds, nor excluded. */
const totals = query((db, p: { id: number }) =>
  db
    .selectFrom("control_value")
    .select((select) => [
      select.fn.countAll<number>().as("runs"),
      select.fn.min("measured_at").as("first_at"),
      select.fn.max("measured_at").as("last_at"),
      sql<number>`count(case when comparator is null then value end)`.as("counted"),
      sql<number | null>`avg(case when comparator is null then value end)`.as("mean"),
      sql<number | null>`avg(case when comparator is null then value * value end)`.as("squares"),
    ])
    .where("series_id", "=", p.id)
    .where("excluded_at", "is", null),
);

const nthLast = query((db, p: { id: number }) =>
  db
    .selectFrom("control_value")
    .select("measured_at")
    .where("series_id", "=", p.id)
    .orderBy("measured_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .offset(RECENT_VALUES - 1),
);

// The version of the clinic also notifies open pages. No response of the read API shows a control.
const setTotals = query(
  (
    db,
    p: {
      id: number;
      clinicId: number;
      runs: number;
      counted: number;
      mean: number | null;
      sd: number | null;
      lastAt: number | null;
      recentAt: number | null;
      fullAt: number | null;
      fullMean: number | null;
      fullSd: number | null;
    },
  ) =>
    db
      .updateTable("control_series")
      .set({
        ...{ runs: p.runs, counted: p.counted, mean: p.mean, sd: p.sd },
        ...{ last_at: p.lastAt, recent_at: p.recentAt },
        ...{ full_at: p.fullAt, full_mean: p.fullMean, full_sd: p.fullSd },
      })
      .where("id", "=", p.id),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const derivedTarget = query((db, p: { id: number }) =>
  db
    .selectFrom("control_target")
    .select(["mean", "sd"])
    .where("series_id", "=", p.id)
    .where("user_id", "is", null)
    .limit(1),
);

const ofPerson = query((db, p: { id: number }) =>
  db
    .selectFrom("control_target")
    .select("from_at")
    .where("series_id", "=", p.id)
    .where("user_id", "is not", null)
    .limit(1),
);

const removeDerived = query(
  (db, p: { id: number }) => db.deleteFrom("control_target").where("series_id", "=", p.id).where("user_id", "is", null),
  () => ({}),
);

const removeSeries = query(
  (db, p: { id: number; clinicId: number }) => db.deleteFrom("control_series").where("id", "=", p.id),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const insertDerived = query(
  (db, p: { id: number; mean: number; sd: number; basis: "device" | "provisional"; runs: number | null; at: number }) =>
    db.insertInto("control_target").values({
      ...{ series_id: p.id, from_at: 0, mean: p.mean, sd: p.sd, basis: p.basis, runs: p.runs },
      ...{ author: null, user_id: null, at: p.at },
    }),
  () => ({}),
);

const firstOfSeries = query((db, p: { id: number }) =>
  db
    .selectFrom("control_value")
    .select((select) => select.fn.min("measured_at").as("at"))
    .where("series_id", "=", p.id),
);

const firstPrinted = query((db, p: { id: number }) =>
  db
    .selectFrom("control_value")
    .select(["printed_mean", "printed_sd", "measured_at"])
    .where("series_id", "=", p.id)
    .where("excluded_at", "is", null)
    .where("printed_mean", "is not", null)
    .where("printed_sd", "is not", null)
    .orderBy("measured_at")
    .orderBy("printed_mean")
    .limit(1),
);

const firstCounted = query((db, p: { id: number }) =>
  db
    .selectFrom("control_value")
    .select(["id", "value", "measured_at"])
    .where("series_id", "=", p.id)
    .where("excluded_at", "is", null)
    .where("comparator", "is", null)
    .where("value", "is not", null)
    .orderBy("measured_at")
    .orderBy("value")
    .limit(OWN_TARGET_RUNS),
);
