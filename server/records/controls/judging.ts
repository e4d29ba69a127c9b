import { allowableErrorOf } from "../../../shared/clinical/control/allowable-error.ts";
import { type ChosenRules, chooseRules } from "../../../shared/clinical/control/choose.ts";
import { judge } from "../../../shared/clinical/control/rules.ts";
import { biasOf, sigmaOf } from "../../../shared/clinical/control/statistics.ts";
import type { ControlPoint, JudgedRun, RuleChoice, Run } from "../../../shared/clinical/control/types.ts";
import type { Target } from "../../dashboard/types/quality.ts";
import { wallTime } from "../../dashboard/types/wall-time.ts";
import type { SeriesRow } from "./series.ts";

// Judges the values of one analyte in one unit on one device. Pure: the same values give the same judgement in any order of arrival.

/** Values of one run are measured within this time. */
const RUN_MS = 2 * 3_600_000;

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
}

/** Groups items by the key of each, in their order. */
export function grouped<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
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
}
interface PlacedRun {
  readonly at: number;
  readonly day: string;
  readonly placed: Placed[];
}

/** Judges the values, which are in the order of measurement. A new lot or target starts all rows again, with the rules of its runs. */
export function judgeValues(values: readonly JudgedValue[], facts: JudgingFacts): JudgedRun[] {
  const runs = runsOf(values, facts);
  const judged: JudgedRun[] = [];
  for (const segment of segmentsOf(runs)) {
    const used = new Set(segment.flatMap(({ placed }) => placed.map(({ series }) => series)));
    const { choice } = rulesFor([...used], facts.own);
    const asRuns = segment.map(({ at, placed }): Run => ({ at, points: placed.map(({ point }) => point) }));
    judged.push(...judge(asRuns, choice));
  }
  return judged;
}

/** Groups values into runs: of the clinic's day, at most two hours apart, at most one of each level. */
function runsOf(values: readonly JudgedValue[], { series, timeZone }: JudgingFacts): PlacedRun[] {
  const byId = new Map(series.map((each) => [each.id, each]));
  const runs: PlacedRun[] = [];
  for (const value of values) {
    const own = byId.get(value.series_id);
    const z = own === undefined ? null : zOf(value, own.targets);
    const target = own && targetAt(own.targets, value.measured_at);
    if (own === undefined || target === undefined || z === null) continue;
    const { measured_at: at } = value;
    const day = wallTime(at, timeZone ?? "UTC").date;
    const placed = { point: { id: String(value.id), level: own.level, z }, series: own, target };
    const open = runs.slice(-20).find((run) => run.day === day && at - run.at <= RUN_MS && lacks(run, own.level));
    if (open === undefined) runs.push({ at, day, placed: [placed] });
    else open.placed.push(placed);
  }
  return runs;
}

function lacks({ placed }: PlacedRun, level: string): boolean {
  return placed.every(({ point }) => point.level !== level);
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

/** The rules in force for the controls of an analyte, and why. */
export function rulesFor(
  series: readonly TargetedSeries[],
  own: RuleChoice | null,
): { choice: RuleChoice; why: ChosenRules["why"] | "clinic" } {
  if (own !== null) return { choice: own, why: "clinic" };
  const sigmas = series.map(sigmaOfSeries);
  const known = sigmas.filter((sigma) => sigma !== null);
  return chooseRules({
    levels: new Set(series.map(({ level }) => level)).size,
    runs: series.length === 0 ? 0 : Math.min(...series.map(({ counted }) => counted)),
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
