import type { Result, Snapshot } from "../../../shared/api/study.ts";
import type { QualityState } from "../../../shared/clinical/control/state.ts";
import { stateAt } from "../../../shared/clinical/control/state.ts";
import { markText, type QualityMark, type StudyQuality } from "../../../shared/clinical/control/study-quality.ts";
import type { JudgedRun } from "../../../shared/clinical/control/types.ts";
import { analyteOf } from "../../../shared/clinical/units/shown-result.ts";
import { rowFor } from "../studies/stored-results.ts";

// The marks of a study, from the controls of its device. Pure: the order in which controls and studies arrived changes nothing.

/** The controls of one device. Times are milliseconds since 1970. */
export interface DeviceControls {
  /** The judged runs of each analyte that has any, by its code of the catalogue, in the order of time. */
  readonly judged: ReadonlyMap<string, readonly JudgedRun[]>;
  /** How long a control counts by the clinic's schedule; null without one. */
  readonly maxAgeMs: number | null;
}

/** What of a study its marks depend on. */
export interface MeasuredStudy {
  readonly modality: string;
  readonly acquiredAt: number;
  readonly results: readonly Result[];
  readonly snapshot: Snapshot | null;
}

/** Returns the states of a device's controls. They are the same between two runs, and computed once. */
export function statesOf({ judged, maxAgeMs }: DeviceControls): (analyte: string, at: number) => QualityState {
  const known = new Map<string, QualityState>();
  return (analyte, at) => {
    const runs = judged.get(analyte) ?? [];
    const place = placeOf(runs, at);
    const last = runs[place - 1]?.run.at;
    const isOld = last !== undefined && maxAgeMs !== null && at - last > maxAgeMs;
    const key = `${place} ${isOld} ${analyte}`;
    const state = known.get(key) ?? stateAt(runs, at, { maxAgeMs });
    known.set(key, state);
    return state;
  };
}

/** The number of runs up to a moment. */
function placeOf(runs: readonly JudgedRun[], at: number): number {
  let [from, to] = [0, runs.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((runs[middle]?.run.at ?? 0) <= at) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Returns the quality of a study, with the release that it had. Null if it was measured before the first control of its device: the
 * clinic kept none then.
 */
export function studyQuality(
  study: MeasuredStudy,
  firstAt: number,
  stateOf: (analyte: string, at: number) => QualityState,
  before: StudyQuality | null,
): StudyQuality | null {
  if (study.acquiredAt < firstAt) return null;
  const marks = new Map<string, QualityMark>();
  for (const [index, result] of study.results.entries()) {
    const row = rowFor(result, study.snapshot?.rows[index]);
    // The API has one code for an analyte of blood and of urine. The catalogue and the controls have two.
    const code = analyteOf({ modality: study.modality, result, row })?.code ?? result.analyte;
    const at = row?.measured_at === undefined ? study.acquiredAt : Date.parse(row.measured_at);
    const { quality, since, rule, afterwards } = stateOf(code, at);
    if (quality === "ok" && afterwards === undefined) continue;
    const mark: QualityMark = {
      ...{ analyte: result.analyte, quality },
      // A state that is in order says nothing but that the next control failed.
      since: quality === "ok" ? null : since,
      ...(rule === undefined ? {} : { rule }),
      ...(afterwards === undefined ? {} : { afterwards }),
    };
    marks.set(markText(mark), mark);
  }
  return {
    marks: [...marks.values()],
    ...(before?.released === undefined ? {} : { released: before.released }),
  };
}

/** The first control of any analyte; null without any. */
export function firstControl({ judged }: DeviceControls): number | null {
  const first = [...judged.values()].flatMap(([run]) => run?.run.at ?? []);
  return first.length === 0 ? null : Math.min(...first);
}

/** Runs before a change in which a level counts as in use. */
const IN_USE_RUNS = 40;

/**
 * Returns the time from which studies may have other marks, if controls of an analyte changed from `from` on: that of the last good
 * control before, of the level that has the oldest one. A level that the clinic stopped using counts for nothing.
 */
export function markedFrom(runs: readonly JudgedRun[], from: number): number {
  const place = placeOf(runs, from - 1);
  const inUse = new Set(
    runs.slice(Math.max(0, place - IN_USE_RUNS)).flatMap(({ run }) => run.points.map(({ level }) => level)),
  );
  let start = from;
  for (const level of inUse) {
    const good = runs.slice(0, place).findLast((judged) => isGood(judged, level));
    start = Math.min(start, good?.run.at ?? Number.MIN_SAFE_INTEGER);
  }
  return start;
}

function isGood({ run, violations }: JudgedRun, level: string): boolean {
  const point = run.points.find((each) => each.level === level);
  if (point === undefined) return false;
  return !violations.some(({ verdict, points }) => verdict === "reject" && points.includes(point.id));
}
