import type { JudgedRun } from "../../../shared/clinical/control/types.ts";
import { query, type Session } from "../../database/query.ts";
import { type JudgedValue, judgeValues, levelNames, type TargetedSeries, type TargetRow } from "./judging.ts";
import { type SeriesRow, seriesOfAnalyte } from "./series.ts";
import { readSettings } from "./settings.ts";

// The judged controls of an analyte on a device over a time.

/** Values of each series before the time: more than any rule looks back, so that its first run is judged as with all before it. */
const VALUES_BEFORE = 15;

/** An analyte on a device: all levels and lots in one unit. */
export interface ControlGroup {
  readonly unit: string;
  readonly series: readonly TargetedSeries[];
  /** In the order of measurement, with those before the time that the rules look back to. */
  readonly values: readonly StoredValue[];
  readonly judged: readonly JudgedRun[];
}

export type StoredValue = JudgedValue & {
  readonly text: string;
  readonly excluded_by: string | null;
  readonly excluded_reason: string | null;
  readonly author: string | null;
  readonly comment: string | null;
};

/**
 * Returns the judged runs of an analyte on a device, all levels and lots in the order of time. Runs before `from` that its rules and
 * the state at `from` need come first.
 * @param analyte the code of the catalogue, or the device's own
 * @param from ms since 1970, as `to`, which is included
 */
export async function controlHistory(
  session: Session,
  clinicId: number,
  deviceId: string,
  analyte: string,
  from: number,
  to: number,
): Promise<JudgedRun[]> {
  const groups = await controlGroups(session, { clinicId, deviceId, analyte }, { from, to });
  const runs = groups.flatMap(({ judged }) => judged);
  return groups.length < 2 ? runs : runs.toSorted((one, other) => one.run.at - other.run.at);
}

/** Reads the controls of an analyte on a device by unit. */
export async function controlGroups(
  session: Session,
  of: { readonly clinicId: number; readonly deviceId: string; readonly analyte: string },
  time: { readonly from: number; readonly to: number },
): Promise<ControlGroup[]> {
  const all = await session.all(seriesOfAnalyte, of);
  if (all.length === 0) return [];
  const targets = await session.all(targetsOfAnalyte, of);
  const { rules } = await readSettings(session, of.clinicId);
  const { time_zone: timeZone = null } = (await session.first(zoneOf, of)) ?? {};
  const groups: ControlGroup[] = [];
  for (const [unit, rows] of Map.groupBy(all, (row) => row.unit)) {
    const series = withTargets(rows, targets);
    const values: StoredValue[] = [];
    for (const row of neededSeries(series, time.from)) values.push(...(await valuesOf(session, row, time)));
    const inOrder = values.toSorted(byTime);
    const restarts = await restartsOf(session, { ...of, from: inOrder[0]?.measured_at ?? time.to, to: time.to });
    const facts = { series, own: rules.get(of.analyte)?.value ?? null, timeZone, restarts };
    groups.push({ unit, series, values: inOrder, judged: judgeValues(inOrder, facts) });
  }
  return groups;
}

export function withTargets(series: readonly SeriesRow[], targets: readonly TargetRow[]): TargetedSeries[] {
  const bySeries = Map.groupBy(targets, ({ series_id }) => series_id);
  return series.map((row) => ({ ...row, targets: bySeries.get(row.id) ?? [] }));
}

/** The order of measurement. Equal times are in the order of their values, so that the order of arrival decides nothing. */
export function byTime(one: JudgedValue, other: JudgedValue): number {
  return (
    one.measured_at - other.measured_at ||
    one.series_id - other.series_id ||
    (one.value ?? 0) - (other.value ?? 0) ||
    one.id - other.id
  );
}

/** The series measured since the time, and of each level the last one before. */
function neededSeries(series: readonly TargetedSeries[], from: number): TargetedSeries[] {
  const since = series.filter(({ last_at: last }) => last !== null && last >= from);
  const before = series.filter(({ last_at: last }) => last !== null && last < from);
  const latest = [...Map.groupBy(before, levelNames(series)).values()].flatMap(
    (level) => level.toSorted((one, other) => (other.last_at ?? 0) - (one.last_at ?? 0))[0] ?? [],
  );
  return [...since, ...latest];
}

async function valuesOf(
  session: Session,
  { id, recent_at: recent }: SeriesRow,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<StoredValue[]> {
  const isRecent = recent !== null && recent <= from;
  const before = isRecent ? undefined : await session.first(valueBefore, { id, from });
  return session.all(valuesBetween, { id, from: isRecent ? recent : (before?.measured_at ?? 0), to });
}

/** Kinds of events after which no rule looks back. */
export const RESTARTS = ["calibration", "maintenance"] as const;

async function restartsOf(
  session: Session,
  during: { readonly clinicId: number; readonly deviceId: string; readonly from: number; readonly to: number },
): Promise<number[]> {
  return (await session.all(restarts, during)).map(({ at }) => at);
}

const restarts = query((db, p: { clinicId: number; deviceId: string; from: number; to: number }) =>
  db
    .selectFrom("device_event")
    .select("at")
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.deviceId)
    .where("at", ">=", p.from)
    .where("at", "<=", p.to)
    .where("event", "in", RESTARTS)
    .orderBy("at"),
);

export const restartsOfClinic = query((db, p: { clinicId: number; from: number }) =>
  db
    .selectFrom("device_event")
    .select(["device_id", "at"])
    .where("clinic_id", "=", p.clinicId)
    .where("at", ">=", p.from)
    .where("event", "in", RESTARTS)
    .orderBy("at"),
);

const zoneOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select("time_zone").where("clinic_id", "=", p.clinicId),
);

const targetColumns = [
  ...(["control_target.series_id", "control_target.from_at", "control_target.mean", "control_target.sd"] as const),
  ...(["control_target.basis", "control_target.runs", "control_target.author", "control_target.at"] as const),
] as const;

const targetsOfAnalyte = query((db, p: { clinicId: number; deviceId: string; analyte: string }) =>
  db
    .selectFrom("control_target")
    .innerJoin("control_series", "control_series.id", "control_target.series_id")
    .select(targetColumns)
    .where("control_series.clinic_id", "=", p.clinicId)
    .where("control_series.device_id", "=", p.deviceId)
    .where("control_series.analyte", "=", p.analyte)
    .orderBy("control_target.series_id")
    .orderBy("control_target.from_at"),
);

export const targetsOfClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("control_target")
    .innerJoin("control_series", "control_series.id", "control_target.series_id")
    .select(targetColumns)
    .where("control_series.clinic_id", "=", p.clinicId)
    .orderBy("control_target.series_id")
    .orderBy("control_target.from_at"),
);

const valueBefore = query((db, p: { id: number; from: number }) =>
  db
    .selectFrom("control_value")
    .select("measured_at")
    .where("series_id", "=", p.id)
    .where("measured_at", "<", p.from)
    .orderBy("measured_at", "desc")
    .limit(1)
    .offset(VALUES_BEFORE - 1),
);

const valuesBetween = query((db, p: { id: number; from: number; to: number }) =>
  db
    .selectFrom("control_value")
    .innerJoin("control_run", "control_run.id", "control_value.run_id")
    .select(["control_value.id", "control_value.series_id", "control_value.measured_at"])
    .select(["control_value.value", "control_value.comparator", "control_value.text"])
    .select(["control_value.excluded_at", "control_value.excluded_by", "control_value.excluded_reason"])
    .select(["control_run.author", "control_run.comment"])
    .$narrowType<{ series_id: number }>()
    .where("control_value.series_id", "=", p.id)
    .where("control_value.measured_at", ">=", p.from)
    .where("control_value.measured_at", "<=", p.to)
    .orderBy("control_value.measured_at")
    .orderBy("control_value.id"),
);
