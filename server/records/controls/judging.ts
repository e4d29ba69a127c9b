import { allowableErrorOf } from "../../../shared/clinical/control/allowable-error.ts";
import { type ChosenRules, chooseRules } from "../../../shared/clinical/control/choose.ts";
import { judge } from "../../../shared/clinical/control/rules.ts";
import { biasOf, OWN_TARGET_RUNS, sigmaOf } from "../../../shared/clinical/control/statistics.ts";
import type { ControlPoint, JudgedRun, RuleChoice, Run } from "../../../shared/clinical/control/types.ts";
import type { Target } from "../../dashboard/types/quality.ts";
import { wallTime } from "../../dashboard/types/wall-time.ts";
import type { SeriesRow } from "./series.ts";

// Judges the values of one analyte in one unit on one device. Pure: the same values give the same judgement in any order of arrival.

/** Values of one run are measured within this time. */
const RUN_MS = 2 * 3_600_000;

/** A level of which a clinic has run no control for so long counts as given up. */
export const IN_USE_MS = 90 * 86_400_000;

/** A target in force from a time of measurement on. */
export interface TargetRow extends Pick<Target, "mean" | "sd" | "basis" | "runs"> {
  readonly series_id: number;
  readonly from_at: number;
  readonly author: string | null;
  readonly at: number;
}

/** A value, as it is judged. */
export interface JudgedValue {
  readonly id: number;
  readonly series_id: number;
  readonly measured_at: number;
  readonly value: number | null;
  readonly comparator: string | null;
  readonly excluded_at: number | null;
}

/** A series with its targets in the order of their times. */
export interface TargetedSeries extends SeriesRow {
  readonly targets: readonly TargetRow[];
}

export interface JudgingFacts {
  readonly series: readonly TargetedSeries[];
  /** The rules that the clinic chose; null for those of the server. */
  readonly own: RuleChoice | null;
  /** IANA name; null for UTC. A run does not go over midnight. */
  readonly timeZone: string | null;
  /** Times of calibrations and maintenance, ascending. All rows start again there, and no run goes over one. */
  readonly restarts: readonly number[];
}

/** The target of a series at a time. */
function targetAt(targets: readonly TargetRow[], at: number): TargetRow | undefined {
  return targets.findLast(({ from_at }) => from_at <= at);
}

/** @returns the distance from the target in SDs; null for a value that counts for nothing */
export function zOf({ value, comparator, excluded_at, measured_at }: JudgedValue, targets: readonly TargetRow[]) {
  if (value === null || comparator !== null || excluded_at !== null) return null;
  const target = targetAt(targets, measured_at);
  return target === undefined ? null : (value - target.mean) / target.sd;
}

/** A value of a run, with the series and target that its row depends on. */
interface Placed {
  readonly point: ControlPoint;
  readonly series: TargetedSeries;
  readonly target: TargetRow;
  readonly at: number;
}
interface PlacedRun {
  readonly at: number;
  readonly day: string;
  /** The number of restarts before it. */
  readonly restarted: number;
  readonly placed: Placed[];
}

/** Judges the values, which are in the order of measurement. A new lot, a new target or a repair starts all rows again. */
export function judgeValues(values: readonly JudgedValue[], facts: JudgingFacts): JudgedRun[] {
  const inUse = new Map<string, Placed>();
  const choices = new Map<Run, RuleChoice>();
  const asRun = ({ at, placed }: PlacedRun): Run => {
    for (const each of placed) inUse.set(each.point.level, each);
    const last = Math.max(...placed.map((each) => each.at));
    const used = [...inUse.values()].filter((each) => each.at > at - IN_USE_MS).map(({ series }) => series);
    const run = { at, points: placed.map(({ point }) => point) };
    choices.set(run, rulesFor(used, facts.own, last).choice);
    return run;
  };
  const choiceOf = (run: Run) => choices.get(run) ?? {};
  return segmentsOf(runsOf(values, facts)).flatMap((segment) => judge(segment.map(asRun), choiceOf, facts.restarts));
}

type Level = Pick<SeriesRow, "analyte" | "level" | "lot"> & Record<"unit" | "material", string | null>;

/**
 * Names the levels of a device among all its materials. A level of which one lot has two materials is one level, whose material was
 * renamed: the control that passes under the new name answers the one that failed under the old name.
 */
export function levelNames(series: readonly Level[]): (of: Level) => string {
  const renamed = new Map<string, string>();
  const nameOf = (key: string): string => {
    const other = renamed.get(key);
    return other === undefined ? key : nameOf(other);
  };
  const keyOf = ({ analyte, unit, material, level }: Level) => JSON.stringify([analyte, unit, level, material ?? ""]);
  for (const lots of Map.groupBy(series, ({ analyte, unit, level, lot }) =>
    JSON.stringify([analyte, unit, level, lot]),
  ).values()) {
    const names = new Set(lots.map((one) => nameOf(keyOf(one))));
    // The first name by the alphabet, so that the order of arrival decides nothing.
    const [first = "", ...others] = [...names].toSorted();
    for (const other of others) renamed.set(other, first);
  }
  return (of) => nameOf(keyOf(of));
}

/** Groups values into runs: of the clinic's day, at most two hours apart, at most one of each level. */
function runsOf(values: readonly JudgedValue[], { series, timeZone, restarts }: JudgingFacts): PlacedRun[] {
  const byId = new Map(series.map((each) => [each.id, each]));
  const levelOf = levelNames(series);
  const runs: PlacedRun[] = [];
  let restarted = 0;
  for (const value of values) {
    const own = byId.get(value.series_id);
    const z = own === undefined ? null : zOf(value, own.targets);
    const target = own && targetAt(own.targets, value.measured_at);
    if (own === undefined || target === undefined || z === null) continue;
    const { measured_at: at } = value;
    while ((restarts[restarted] ?? Number.POSITIVE_INFINITY) <= at) restarted += 1;
    const day = wallTime(at, timeZone ?? "UTC").date;
    const level = levelOf(own);
    const placed = { point: { id: String(value.id), level, z }, series: own, target, at };
    const isOpen = (run: PlacedRun) => run.day === day && run.restarted === restarted && at - run.at <= RUN_MS;
    const open = runs.slice(-20).find((run) => isOpen(run) && run.placed.every(({ point }) => point.level !== level));
    if (open === undefined) runs.push({ at, day, restarted, placed: [placed] });
    else open.placed.push(placed);
  }
  return runs;
}

/** Cuts the runs where a level gets a lot or a target that it did not have before. */
function segmentsOf(runs: readonly PlacedRun[]): PlacedRun[][] {
  const targets = new Map<string, Set<TargetRow>>();
  const segments: PlacedRun[][] = [[]];
  for (const run of runs) {
    let isNew = false;
    for (const { point, target } of run.placed) {
      const known = targets.get(point.level);
      if (known !== undefined && !known.has(target)) isNew = true;
      targets.set(point.level, (known ?? new Set()).add(target));
    }
    if (isNew) segments.push([]);
    segments.at(-1)?.push(run);
  }
  return segments;
}

/**
 * The rules in force at a time for the controls of an analyte, and why. Runs that come later do not change them.
 * @param series of each level in use the lot
 */
export function rulesFor(
  series: readonly TargetedSeries[],
  own: RuleChoice | null,
  at: number,
): { choice: RuleChoice; why: ChosenRules["why"] | "clinic" } {
  if (own !== null) return { choice: own, why: "clinic" };
  const isFull = series.every(({ full_at: full }) => full !== null && full <= at);
  const known = series.map((each) => sigmaAt(each, at)).filter((sigma) => sigma !== null);
  return chooseRules({
    levels: new Set(series.map(levelNames(series))).size,
    runs: isFull ? OWN_TARGET_RUNS : 0,
    sigma: known.length === 0 ? null : Math.min(...known),
  });
}

/** The published allowable error at the target of a series. */
export function allowableOf({ analyte, unit, targets }: TargetedSeries): ReturnType<typeof allowableErrorOf> {
  const mean = targets.at(-1)?.mean;
  return mean === undefined ? null : allowableErrorOf(analyte, "analyzer", { mean, unit: unit === "" ? null : unit });
}

/** @returns the bias in percent of an outside target: that of a sheet, or of the device */
export function biasOfSeries({ mean, targets }: TargetedSeries): number | null {
  const target = targets.at(-1);
  const isOutside = target?.basis === "sheet" || target?.basis === "device";
  return mean === null || target === undefined || !isOutside ? null : biasOf(mean, target.mean);
}

export function sigmaOfSeries(series: TargetedSeries): number | null {
  const { mean, sd } = series;
  const cv = mean === null || sd === null || mean <= 0 ? null : (sd / mean) * 100;
  return sigmaOf({ allowable: allowableOf(series)?.percent ?? null, bias: biasOfSeries(series), cv });
}

/** Sigma of the first 20 runs by the target at a time, so that no later run changes which rules were in force. */
function sigmaAt(series: TargetedSeries, at: number): number | null {
  const { full_mean: mean, full_sd: sd } = series;
  return sigmaOfSeries({ ...series, mean, sd, targets: series.targets.filter(({ from_at: from }) => from <= at) });
}
