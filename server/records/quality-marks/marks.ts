import type { Result, Snapshot } from "../../../shared/api/study.ts";
import type { QualityState } from "../../../shared/clinical/control/state.ts";
import { markText, type QualityMark, type StudyQuality } from "../../../shared/clinical/control/study-quality.ts";
import type { JudgedRun } from "../../../shared/clinical/control/types.ts";
import { analyteOf } from "../../../shared/clinical/units/shown-result.ts";
import { IN_USE_MS } from "../controls/judging.ts";
import { rowFor } from "../studies/stored-results.ts";

// The marks of a study, from the states of its device's controls. Pure: the order in which controls and studies came changes nothing.

/** The parts of a study on which its marks depend. */
export interface MeasuredStudy {
  readonly modality: string;
  readonly results: readonly Result[];
  readonly snapshot: Snapshot | null;
  /** Milliseconds since 1970. */
  readonly acquiredAt: number;
}

/** A value that was measured: its analyte as the study names it, its code of the catalogue, and its time. */
export interface MeasuredValue {
  readonly analyte: string;
  readonly code: string;
  readonly at: number;
}

/** Lists the values of a study. Results that were collected from several messages have their own times. */
export function measuredValues({ modality, results, snapshot, acquiredAt }: MeasuredStudy): MeasuredValue[] {
  return results.map((result, index) => {
    const row = rowFor(result, snapshot?.rows[index]);
    return {
      analyte: result.analyte,
      // The API has one code for an analyte of blood and of urine. The catalogue and the controls have two.
      code: analyteOf({ modality, result, row })?.code ?? result.analyte,
      at: row?.measured_at === undefined ? acquiredAt : Date.parse(row.measured_at),
    };
  });
}

/** Returns the quality of a study whose values were measured in these states, with the release that it had. */
export function studyQuality(
  measured: readonly { readonly analyte: string; readonly state: QualityState }[],
  before: StudyQuality | null,
): StudyQuality {
  const marks = new Map<string, QualityMark>();
  for (const { analyte, state } of measured) {
    const { quality, since, rule, afterwards } = state;
    if (quality === "ok" && afterwards === undefined) continue;
    const mark: QualityMark = {
      ...{ analyte, quality },
      // A state that is in order says nothing but that the next control failed.
      since: quality === "ok" ? null : since,
      ...(rule === undefined ? {} : { rule }),
      ...(afterwards === undefined ? {} : { afterwards: { at: afterwards.at, rule: afterwards.rule } }),
    };
    marks.set(markText(mark), mark);
  }
  const released = before?.released;
  return { marks: [...marks.values()], ...(released === undefined ? {} : { released }) };
}

/** The number of runs up to a moment. */
export function placeOf(runs: readonly JudgedRun[], at: number): number {
  let [from, to] = [0, runs.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((runs[middle]?.run.at ?? 0) <= at) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Returns the time from which studies may have other marks, if controls of an analyte changed from `from` on: that of the last good
 * control before, of the level that has the oldest one. Null if a level has none among these runs.
 */
export function markedFrom(runs: readonly JudgedRun[], from: number): number | null {
  const before = runs.slice(0, placeOf(runs, from - 1));
  const oldest = Math.min(from - IN_USE_MS, before.at(-1)?.run.at ?? from);
  const inUse = runs.filter(({ run }) => run.at >= oldest).flatMap(({ run }) => run.points);
  let start = from;
  for (const level of new Set(inUse.map((point) => point.level))) {
    const good = before.findLast((judged) => isGood(judged, level));
    if (good === undefined) return null;
    start = Math.min(start, good.run.at);
  }
  return start;
}

/** Values of a level after which no rule looks back: a row of 10x. */
const ROW_VALUES = 10;

/**
 * Returns the time up to which studies may have other marks, if controls of an analyte changed up to `to`: each level has then as many
 * values as a rule looks back, and one that breaks none. Null if these runs do not reach so far.
 * @param levels those that have values since the change
 */
export function markedUntil(runs: readonly JudgedRun[], to: number, levels: readonly string[]): number | null {
  const left = new Map(levels.map((level) => [level, ROW_VALUES + 1]));
  let until = to;
  for (const { run, violations } of runs.slice(placeOf(runs, to))) {
    if (left.size === 0) break;
    until = run.at;
    for (const { id, level } of run.points) {
      const count = (left.get(level) ?? 0) - 1;
      const isBroken = violations.some(({ points }) => points.includes(id));
      if (count > 0) left.set(level, count);
      else if (!isBroken) left.delete(level);
    }
  }
  return left.size === 0 ? until : null;
}

function isGood({ run, violations }: JudgedRun, level: string): boolean {
  const point = run.points.find((each) => each.level === level);
  if (point === undefined) return false;
  return !violations.some(({ verdict, points }) => verdict === "reject" && points.includes(point.id));
}
