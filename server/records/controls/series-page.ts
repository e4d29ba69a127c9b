import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { changeBefore } from "../../../shared/clinical/control/words.ts";
import { verdictOf } from "../../../shared/clinical/control/rules.ts";
import { outliersOf } from "../../../shared/clinical/control/statistics.ts";
import type { JudgedRun } from "../../../shared/clinical/control/types.ts";
import type {
  SeriesBody,
  ShownDeviceEvent,
  ShownPoint,
  ShownViolation,
  Target,
} from "../../dashboard/types/quality.ts";
import { query, type Session } from "../../database/query.ts";
import { type ControlGroup, controlGroups, type StoredValue } from "./history.ts";
import {
  allowableOf,
  biasOfSeries,
  IN_USE_MS,
  levelNames,
  rulesFor,
  sigmaOfSeries,
  type TargetedSeries,
  zOf,
} from "./judging.ts";
import { readResults } from "../studies/stored-results.ts";
import { runsWith, shownSeries } from "./overview.ts";
import { readExplanations, violationId } from "./remarks.ts";
import { firstAt, firstRuns, type SeriesRow } from "./series.ts";
import { maxAgeMs, readSettings } from "./settings.ts";

// One series with its chart, its target and what broke a rule.

/** Max events on a page. */
const EVENTS_MAX = 500;
/** Max studies that are looked through for one broken rule. */
const STUDIES_MAX = 2000;

interface Asked {
  readonly clinicId: number;
  readonly timeZone: string | null;
  readonly now: number;
  /** Milliseconds since 1970; `to` is included. */
  readonly from: number;
  readonly to: number;
}

export async function readSeries(session: Session, row: SeriesRow, asked: Asked): Promise<SeriesBody> {
  const { clinicId, from, now } = asked;
  const { device_id: deviceId, analyte } = row;
  const groups = await controlGroups(session, { clinicId, deviceId, analyte }, asked);
  const group = groups.find(({ unit }) => unit === row.unit);
  const series = group?.series.find(({ id }) => id === row.id);
  if (group === undefined || series === undefined) throw new Error(`series ${row.id} left its group`);
  const { schedules, rules } = await readSettings(session, clinicId);
  const schedule = schedules.get(deviceId);
  const own = group.values.filter(({ series_id }) => series_id === row.id);
  const judged = runsWith(group.judged, new Set(own.map(({ id }) => String(id))));
  const explained = await readExplanations(session, clinicId, Math.min(from, group.values[0]?.measured_at ?? from));
  const age =
    schedule === undefined || row.last_at === null ? null : maxAgeMs(schedule.value, row.last_at, asked.timeZone);
  const chosen = rules.get(analyte);
  const events = await eventsOf(session, group, series, asked);
  const inForce = rulesFor(levelsOf(group, series, now), chosen?.value ?? null, now);
  return {
    series: shownSeries(series, { judged, explained, maxAgeMs: age, now }),
    target: targetOf(series),
    statistics: statisticsOf(series),
    allowable_error: allowableOf(series),
    printed_range: await printedRange(session, row.id),
    proposal: await proposalOf(session, row.id),
    points: own.filter(({ measured_at: at }) => at >= from).map((value) => pointOf(value, series, judged)),
    neighbours: neighboursOf(group, series, from),
    events,
    violations: await violationsOf(session, { group, judged, explained, deviceId, events }, asked),
    rules: { ...inForce, by: chosen?.by ?? null, at: timestampOrNull(chosen?.at ?? null) },
  };
}

/** The series that are judged together with this one: of each level the lot in use. */
function levelsOf({ series }: ControlGroup, own: TargetedSeries, now: number): TargetedSeries[] {
  const levels = new Map<string, TargetedSeries>();
  const levelOf = levelNames(series);
  for (const each of series) {
    const since = levels.get(levelOf(each))?.last_at ?? now - IN_USE_MS;
    if (each.last_at !== null && since < each.last_at) levels.set(levelOf(each), each);
  }
  return [...levels.set(levelOf(own), own).values()];
}

function targetOf({ targets }: TargetedSeries): Target | null {
  const target = targets.at(-1);
  if (target === undefined) return null;
  const { mean, sd, basis, runs, author: by, at } = target;
  return { mean, sd, basis, runs, by, at: new Date(at).toISOString() };
}

function statisticsOf(series: TargetedSeries): SeriesBody["statistics"] {
  const { counted: runs, mean, sd } = series;
  if (mean === null || sd === null) return null;
  const cv = mean > 0 ? (sd / mean) * 100 : null;
  return { runs, mean, sd, cv, bias: biasOfSeries(series), sigma: sigmaOfSeries(series) };
}

async function proposalOf(session: Session, id: number): Promise<SeriesBody["proposal"]> {
  const first = await firstRuns(session, id);
  if (first === null) return null;
  const { mean, sd, runs, values } = first;
  const outliers = outliersOf(values.map(({ value }) => value)).flatMap((index) => values[index] ?? []);
  return { mean, sd, runs, outliers: outliers.map((value) => String(value.id)) };
}

async function printedRange(session: Session, id: number): Promise<SeriesBody["printed_range"]> {
  const row = await session.first(lastPrinted, { id });
  return row?.printed_low == null || row.printed_high === null
    ? null
    : { low: row.printed_low, high: row.printed_high };
}

/** A value of the chart. What it broke is what was found at its own run, not in what came later. */
function pointOf(stored: StoredValue, { targets }: TargetedSeries, judged: readonly JudgedRun[]): ShownPoint {
  const id = String(stored.id);
  const run = judged.find((each) => each.run.points.some((point) => point.id === id));
  const broken = run?.violations.filter(({ points }) => points.includes(id)) ?? [];
  const { excluded_at, excluded_by, excluded_reason } = stored;
  return {
    ...{ id, at: new Date(stored.measured_at).toISOString(), text: stored.text, value: stored.value },
    z: zOf(stored, targets),
    verdict: run === undefined ? null : verdictOf(broken),
    rules: [...new Set(broken.map(({ rule }) => rule))],
    ...{ typed_by: stored.author, comment: stored.comment },
    excluded:
      excluded_at === null
        ? null
        : { by: excluded_by ?? "", at: new Date(excluded_at).toISOString(), reason: excluded_reason ?? "" },
  };
}

function neighboursOf(group: ControlGroup, own: TargetedSeries, from: number): SeriesBody["neighbours"] {
  const others = group.series.filter(
    ({ id, level, material }) => id !== own.id && level === own.level && material === own.material,
  );
  return others.flatMap((other) => {
    const values = group.values.filter(({ series_id, measured_at: at }) => series_id === other.id && at >= from);
    const points = values.map((value) => ({
      at: new Date(value.measured_at).toISOString(),
      z: zOf(value, other.targets),
    }));
    return points.length === 0 ? [] : [{ id: String(other.id), lot: other.lot, points }];
  });
}

/** The events of the device, and the first runs of lots that follow others. */
async function eventsOf(
  session: Session,
  group: ControlGroup,
  own: TargetedSeries,
  asked: Asked,
): Promise<ShownDeviceEvent[]> {
  const rows = await session.all(deviceEvents, { ...asked, deviceId: own.device_id });
  const sent = rows.map(({ fp: id, at, author: by, ...event }) => ({
    id,
    at: new Date(at).toISOString(),
    ...event,
    by,
  }));
  const lots: { at: number; series: TargetedSeries }[] = [];
  for (const series of group.series.filter(({ level }) => level === own.level)) {
    const at = await firstAt(session, series.id);
    if (at !== null) lots.push({ at, series });
  }
  const changes = lots
    .toSorted((one, other) => one.at - other.at)
    .slice(1)
    .filter(({ at }) => at >= asked.from && at <= asked.to)
    .map(({ at, series: { id, material, lot, expires } }): ShownDeviceEvent => {
      const subject = material === "" ? null : material;
      return {
        id: `lot-${id}`,
        at: new Date(at).toISOString(),
        event: "lot",
        subject,
        lot,
        expires,
        text: null,
        by: null,
      };
    });
  return [...sent, ...changes].toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

interface Broken {
  readonly group: ControlGroup;
  readonly judged: readonly JudgedRun[];
  readonly explained: Awaited<ReturnType<typeof readExplanations>>;
  readonly deviceId: string;
  readonly events: readonly ShownDeviceEvent[];
}

async function violationsOf(session: Session, broken: Broken, asked: Asked): Promise<ShownViolation[]> {
  const { group, judged, explained } = broken;
  const events = broken.events.map(({ at, event }) => ({ at: Date.parse(at), event }));
  const texts = new Map(group.values.map(({ id, text }) => [String(id), text]));
  const shown = new Map<string, ShownViolation>();
  for (const { run, violations } of judged) {
    if (run.at < asked.from) continue;
    for (const violation of violations) {
      const id = violationId(violation);
      if (shown.has(id)) continue;
      const { rule, scope, verdict, side, points } = violation;
      const before = group.judged.map((each) => each.run).filter(({ at }) => at <= run.at);
      const patients = verdict === "warn" ? 0 : await patientsBetween(session, broken, run.at, asked);
      shown.set(id, {
        ...{ id, at: new Date(run.at).toISOString(), rule, scope, verdict, side, patients },
        change: changeBefore(violation, before, events),
        points: points.map((point) => texts.get(point) ?? ""),
        explained: explained.get(id) ?? null,
      });
    }
  }
  return [...shown.values()];
}

/** Counts the studies of patients with the analyte between the last good control before a failed one and the next good one. */
async function patientsBetween(
  session: Session,
  { group, judged, deviceId }: Broken,
  failedAt: number,
  { clinicId, now }: Asked,
): Promise<number> {
  const good = judged.filter(({ verdict }) => verdict !== "reject").map(({ run }) => run.at);
  const from = good.findLast((at) => at < failedAt) ?? failedAt;
  const to = good.find((at) => at > failedAt) ?? now;
  const code = group.series[0]?.analyte ?? "";
  const names = [code, analyteByCode(code)?.api_code ?? code];
  const studies = await session.all(studiesBetween, { clinicId, from, to });
  return studies.filter(({ source, results }) => {
    if ((JSON.parse(source ?? "{}") as { device_id?: string }).device_id !== deviceId) return false;
    return readResults(results).some(({ analyte }) => names.includes(analyte));
  }).length;
}

const lastPrinted = query((db, p: { id: number }) =>
  db
    .selectFrom("control_value")
    .select(["printed_low", "printed_high"])
    .where("series_id", "=", p.id)
    .where("printed_low", "is not", null)
    .where("printed_high", "is not", null)
    .orderBy("measured_at", "desc")
    .limit(1),
);

/** Counters are left out: they change with every sample. */
const deviceEvents = query((db, p: { clinicId: number; deviceId: string; from: number; to: number }) =>
  db
    .selectFrom("device_event")
    .select(["fp", "at", "event", "subject", "lot", "expires", "text", "author"])
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.deviceId)
    .where("at", ">=", p.from)
    .where("at", "<=", p.to)
    .where("event", "<>", "counter")
    .orderBy("at", "desc")
    .limit(EVENTS_MAX),
);

const studiesBetween = query((db, p: { clinicId: number; from: number; to: number }) =>
  db
    .selectFrom("study")
    .select(["source", "results"])
    .where("clinic_id", "=", p.clinicId)
    .where("acquired_at", ">", p.from)
    .where("acquired_at", "<", p.to)
    .where("patient_id", "is not", null)
    .limit(STUDIES_MAX),
);
