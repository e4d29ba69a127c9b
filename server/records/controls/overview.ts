import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type { JudgedRun } from "../../../shared/clinical/control/types.ts";
import { verdictOf } from "../../../shared/clinical/control/rules.ts";
import { stateAt } from "../../../shared/clinical/control/state.ts";
import { worstQuality } from "../../../shared/clinical/control/study-quality.ts";
import type { ControlledDevice, QualityBody, ShownSeries } from "../../dashboard/types/quality.ts";
import { query, type Session } from "../../database/query.ts";
import { listQuestions } from "./answers.ts";
import { byTime, restartsOfClinic, targetsOfClinic, withTargets } from "./history.ts";
import { type JudgedValue, judgeValues, levelNames, type TargetedSeries } from "./judging.ts";
import { readExplanations, violationId } from "./remarks.ts";
import { currentSeries, isCurrent, type SeriesRow } from "./series.ts";
import { dueAt, maxAgeMs, readSettings } from "./settings.ts";

// The controls of all devices of a clinic as they are now. It reads at most 40 values of each series in use, however long the
// clinic has kept controls.

interface Asked {
  readonly clinicId: number;
  /** IANA name; null if the clinic chose none. */
  readonly timeZone: string | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export async function readQuality(session: Session, asked: Asked): Promise<Omit<QualityBody, "out_of_use">> {
  const { clinicId, now } = asked;
  const { schedules, rules } = await readSettings(session, clinicId);
  const series = withTargets(await session.all(currentSeries, asked), await session.all(targetsOfClinic, asked));
  const values = await session.all(recentValues, asked);
  const oldest = Math.min(now, ...series.flatMap(({ recent_at: at }) => at ?? []));
  const restarts = Map.groupBy(await session.all(restartsOfClinic, { clinicId, from: oldest }), (row) => row.device_id);
  const explained = await readExplanations(session, clinicId, oldest);
  const valuesOf = Map.groupBy(values, ({ series_id }) => series_id);
  const seriesOf = Map.groupBy(series, ({ device_id }) => device_id);
  const names = await deviceNames(session, clinicId);
  const ids = new Set([...seriesOf.keys(), ...schedules.keys()]);
  const devices = [...ids].toSorted().map((deviceId): ControlledDevice => {
    const own = seriesOf.get(deviceId) ?? [];
    const schedule = schedules.get(deviceId);
    const lastAt = latest(own);
    const maxAge = schedule === undefined || lastAt === null ? null : maxAgeMs(schedule.value, lastAt, asked.timeZone);
    const restartsAt = (restarts.get(deviceId) ?? []).map(({ at }) => at);
    const groups = Map.groupBy(own, ({ analyte, unit }) => JSON.stringify([analyte, unit]));
    const shown = [...groups.values()].flatMap((group) => {
      const inOrder = group.flatMap(({ id }) => valuesOf.get(id) ?? []).toSorted(byTime);
      const chosen = rules.get(group[0]?.analyte ?? "")?.value ?? null;
      const judged = judgeValues(inOrder, {
        ...{ series: group, own: chosen, timeZone: asked.timeZone, restarts: restartsAt },
      });
      return group.map((one) => {
        const ownIds = new Set((valuesOf.get(one.id) ?? []).map(({ id }) => String(id)));
        return shownSeries(one, { judged: runsWith(judged, ownIds), explained, maxAgeMs: maxAge, now });
      });
    });
    const due = schedule && dueAt(schedule.value, lastAt ?? schedule.at, asked.timeZone);
    return {
      device_id: deviceId,
      name: names.get(deviceId) ?? deviceId,
      last_at: timestampOrNull(lastAt),
      state: shown.length === 0 ? "none" : worstQuality(lastLots(shown).map(({ state }) => state)),
      // One that never ran is due since its schedule was set.
      schedule:
        schedule === undefined || due === undefined
          ? null
          : { every_days: schedule.value, due_at: new Date(lastAt === null ? schedule.at : due).toISOString() },
      series: shown,
    };
  });
  return { devices, questions: await listQuestions(session, clinicId) };
}

/** The facts of a series at a time. */
interface SeriesFacts {
  /** Runs with values of the series. */
  readonly judged: readonly JudgedRun[];
  readonly explained: ReadonlyMap<string, unknown>;
  /** Null without a schedule. */
  readonly maxAgeMs: number | null;
  readonly now: number;
}

/** Describes a series with its state. */
export function shownSeries(
  series: TargetedSeries,
  { judged, explained, maxAgeMs: age, now }: SeriesFacts,
): ShownSeries {
  const { id, device_id, analyte, unit, material, level, lot, expires, runs, last_at, targets } = series;
  const target = targets.at(-1);
  const state = stateAt(judged, now, { maxAgeMs: age });
  const rejected = judged.flatMap(({ violations }) => violations.filter(({ verdict }) => verdict === "reject"));
  return {
    ...{ id: String(id), device_id, analyte, level, lot, expires, runs, last_at: timestampOrNull(last_at) },
    ...{ unit: unit === "" ? null : unit, material: material === "" ? null : material },
    ...{ state: state.quality, since: timestampOrNull(state.since) },
    target: target === undefined ? null : { mean: target.mean, sd: target.sd },
    unexplained: new Set(rejected.map(violationId).filter((violation) => !explained.has(violation))).size,
  };
}

/** Returns the runs that have one of the values, with these values and what they broke alone. */
export function runsWith(judged: readonly JudgedRun[], ids: ReadonlySet<string>): JudgedRun[] {
  return judged.flatMap((one): JudgedRun[] => {
    const points = one.run.points.filter(({ id }) => ids.has(id));
    if (points.length === 0) return [];
    const violations = one.violations.filter((violation) => violation.points.some((id) => ids.has(id)));
    return [{ run: { at: one.run.at, points }, verdict: verdictOf(violations), violations }];
  });
}

/** Returns of each level the lot that was measured last. The state of the lot before it ended with its controls. */
export function lastLots(series: readonly ShownSeries[]): ShownSeries[] {
  const levels = Map.groupBy(series, levelNames(series));
  return [...levels.values()].flatMap(
    (lots) => lots.toSorted((one, other) => (other.last_at ?? "").localeCompare(one.last_at ?? ""))[0] ?? [],
  );
}

function latest(series: readonly SeriesRow[]): number | null {
  const times = series.flatMap(({ last_at }) => last_at ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** The names of devices, as each was called at its last run. */
async function deviceNames(session: Session, clinicId: number): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const { device_id: deviceId } of await session.all(devicesWithSeries, { clinicId })) {
    const named = await session.first(lastRun, { clinicId, deviceId });
    if (named !== undefined) names.set(deviceId, named.device_name);
  }
  return names;
}

const recentValues = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("control_series as series")
    .innerJoin("control_value", "control_value.series_id", "series.id")
    .select(["control_value.id", "series.id as series_id", "control_value.measured_at"])
    .select(["control_value.value", "control_value.comparator", "control_value.excluded_at"])
    .where("series.clinic_id", "=", p.clinicId)
    .where(isCurrent)
    .whereRef("control_value.measured_at", ">=", "series.recent_at")
    .$castTo<JudgedValue>(),
);

const devicesWithSeries = query((db, p: { clinicId: number }) =>
  db.selectFrom("control_series").select("device_id").distinct().where("clinic_id", "=", p.clinicId),
);

/** The last run of a device, with the name of the device then and the user who typed it. */
export const lastRun = query((db, p: { clinicId: number; deviceId: string }) =>
  db
    .selectFrom("control_run")
    .select(["device_name", "measured_at", "user_id"])
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.deviceId)
    .orderBy("measured_at", "desc")
    .limit(1),
);
