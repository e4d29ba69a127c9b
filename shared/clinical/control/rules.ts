import type { ControlPoint, JudgedRun, Rule, RuleChoice, Run, Violation } from "./types.ts";

type Side = "high" | "low";
type Found = Omit<Violation, "verdict">;

/** The values in a row that lie beyond a limit on one side; the limit 0 is the mean. */
interface Streak {
  side: Side | null;
  points: string[];
  /** Length of each run's part; of one level all are 1. */
  parts: number[];
}

/** Rules that look back over values in a row: the limit, and how many values there must be. */
const ROWS = [
  { rule: "2-2s", limit: 2, count: 2, overLevels: false },
  { rule: "4-1s", limit: 1, count: 4, overLevels: true },
  { rule: "10x", limit: 0, count: 10, overLevels: true },
] as const;

/**
 * Judges the runs of one analyte on one device, in the order of time, by the rules of Westgard as published:
 *
 * | rule | it is broken by |
 * |---|---|
 * | 1-2s, 1-3s | one value beyond 2 (3) SD |
 * | 2-2s | two values beyond the same 2 SD: of two levels in one run, or of one level twice in a row |
 * | R-4s | one level above +2 SD and another below -2 SD, in one run and never over runs |
 * | 4-1s | four values in a row beyond the same 1 SD: of one level, or of all levels in runs in a row |
 * | 10x | ten values in a row on one side of the mean: of one level, or of all levels in runs in a row |
 *
 * Beyond is strictly greater, and a value on the mean is on neither side. Each rule is tried on each run. With three levels, any two
 * of a run break 2-2s and R-4s, and a row over all levels consists of complete runs, because levels of a run have no order: two runs
 * (six values) for 4-1s, four (twelve values) for 10x. The sets that are published for three levels (2 of 3 2s, 3-1s, 6x, 9x) are
 * other rules and left out, so is the reading of R-4s as a difference of 4 SD.
 *
 * A run that lacks a level ends the rows over all levels; it does not end the row of a level.
 *
 * @param restarts times, ascending, from which all rows start again: a new lot or target, a repair. Milliseconds since 1970
 */
export function judge(runs: readonly Run[], choice: RuleChoice, restarts: readonly number[] = []): JudgedRun[] {
  throw new Error("TODO");
}
