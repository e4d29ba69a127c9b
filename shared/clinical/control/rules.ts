import type { ControlPoint, JudgedRun, Rule, RuleChoice, Run, Verdict, Violation } from "./types.ts";

type Side = "high" | "low";
type Found = Omit<Violation, "verdict">;

/** The rules that look back: so many values in a row beyond the same limit. The limit 0 is the mean. */
const ROW_RULES = [
  { rule: "2-2s", limit: 2, count: 2, overLevels: false },
  { rule: "4-1s", limit: 1, count: 4, overLevels: true },
  { rule: "10x", limit: 0, count: 10, overLevels: true },
] as const;

/** The end of a row: its last values that lie beyond one limit on one side, by runs. */
interface Row {
  readonly side: Side;
  readonly parts: readonly (readonly string[])[];
}

/** The rows of a rule by level, and that of all levels. */
type Rows = Readonly<Record<(typeof ROW_RULES)[number]["rule"], Map<string | typeof ALL_LEVELS, Row>>>;

const ALL_LEVELS = Symbol("all levels");

const newRows = (): Rows => ({ "2-2s": new Map(), "4-1s": new Map(), "10x": new Map() });

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
 * (six values) for 4-1s, four (twelve values) for 10x. The sets that are published for three levels (2 of 3 2s, 3-1s, 6x) are other
 * rules and left out; so is the reading of R-4s as a difference of 4 SD.
 *
 * A run that lacks a level of the run before starts the rows over all levels again; it does not end the row of a level.
 *
 * @param choice the rules in force, or those of each run
 * @param restarts times, ascending, from which all rows start again: a new lot or target, a repair. Milliseconds since 1970
 * @returns the runs with the violations of the rules in force, each by the run with its last value
 */
export function judge(
  runs: readonly Run[],
  choice: RuleChoice | ((run: Run) => RuleChoice),
  restarts: readonly number[] = [],
): JudgedRun[] {
  let rows = newRows();
  let before: Run | undefined;
  let next = 0;
  return runs.map((run) => {
    for (; (restarts[next] ?? Number.POSITIVE_INFINITY) <= run.at; next += 1) rows = newRows();
    if (before !== undefined && !hasLevelsOf(run, before))
      for (const row of Object.values(rows)) row.delete(ALL_LEVELS);
    before = run;
    const inForce = typeof choice === "function" ? choice(run) : choice;
    return judged(run, [...ofValues(run), ...ofRun(run), ...ofRows(run, rows)], inForce);
  });
}

function judged(run: Run, found: readonly Found[], choice: RuleChoice): JudgedRun {
  const violations = found.flatMap((violation): Violation[] => {
    const verdict = choice[violation.rule];
    return verdict === undefined ? [] : [{ ...violation, verdict }];
  });
  return { run, verdict: verdictOf(violations), violations };
}

/** Returns the verdict on a run or a value that broke these rules in force. */
export function verdictOf(violations: readonly Violation[]): Verdict {
  if (violations.some(({ verdict }) => verdict === "reject")) return "reject";
  return violations.length > 0 ? "warn" : "accept";
}

function ofValues({ points }: Run): Found[] {
  const beyond = (rule: Rule, limit: number) =>
    points.flatMap((point): Found[] => {
      const side = sideOf([point], limit);
      return side === null ? [] : [{ rule, scope: "level", side, points: [point.id] }];
    });
  return [...beyond("1-2s", 2), ...beyond("1-3s", 3)];
}

function ofRun({ points }: Run): Found[] {
  const on = (side: Side) => points.filter((point) => sideOf([point], 2) === side);
  const shifted = (["high", "low"] as const).flatMap((side): Found[] => {
    const beyond = on(side);
    return beyond.length < 2 ? [] : [{ rule: "2-2s", scope: "run", side, points: beyond.map(({ id }) => id) }];
  });
  if (on("high").length === 0 || on("low").length === 0) return shifted;
  const scattered = points.filter((point) => sideOf([point], 2) !== null).map(({ id }) => id);
  return [...shifted, { rule: "R-4s", scope: "run", side: "both", points: scattered }];
}

/** Continues the rows of each level and the row of all levels by a run. */
function ofRows({ points }: Run, rows: Rows): Found[] {
  const found: Found[] = [];
  for (const { rule, limit, count, overLevels } of ROW_RULES) {
    const continued = (name: string | typeof ALL_LEVELS, scope: Found["scope"], part: readonly ControlPoint[]) => {
      const side = sideOf(part, limit);
      const before = rows[rule].get(name);
      if (side === null) {
        if (before !== undefined) rows[rule].delete(name);
        return;
      }
      const parts = before?.side === side ? before.parts : [];
      const row = { side, parts: [...parts, part.map(({ id }) => id)].slice(-Math.ceil(count / part.length)) };
      rows[rule].set(name, row);
      if (row.parts.length * part.length >= count) found.push({ rule, scope, side, points: row.parts.flat() });
    };
    for (const point of points) continued(point.level, "level", [point]);
    if (overLevels && points.length > 1) continued(ALL_LEVELS, "levels", points);
  }
  return found;
}

function hasLevelsOf({ points }: Run, other: Run): boolean {
  return (
    points.length === other.points.length &&
    points.every(({ level }) => other.points.some((point) => point.level === level))
  );
}

/** @returns the side on which all values lie beyond the limit, strictly; null if they do not */
function sideOf(points: readonly ControlPoint[], limit: number): Side | null {
  if (points.every(({ z }) => z > limit)) return "high";
  return points.every(({ z }) => z < -limit) ? "low" : null;
}
