import type { Quality } from "../../api/study.ts";
import type { JudgedRun, Rule } from "./types.ts";

/** The state of an analyte's controls on a device at a moment. Times are milliseconds since 1970. */
export interface QualityState {
  readonly quality: Quality;
  /**
   * `failed`, `warning`: since when a level that is so now has been so without a break; the earliest of the levels. `ok`: since when
   * no level warns or fails and no control was missing. `none`: the last control; null if there was none at all.
   */
  readonly since: number | null;
  /** Present for `failed` and `warning`: the rule that the control at `since` broke. */
  readonly rule?: Rule;
  /** The first control after the moment that failed before one of its level passed. Absent if the state is `failed` already. */
  readonly afterwards?: Failure;
}

interface Failure {
  readonly at: number;
  readonly rule: Rule;
}

/** The rule that the latest value of a level broke, and since when the level has been so. */
interface LevelState {
  readonly verdict: "warn" | "reject";
  readonly since: number;
  readonly rule: Rule;
}

/**
 * Returns the state of the controls at a moment, from the runs of one analyte on one device in the order of time. A control of the
 * moment itself counts as before it.
 *
 * - A value fails if it belongs to a violation that rejects: in a run that level 1 alone fails, the value of level 2 passes.
 * - `failed`: the latest value of any level fails. It ends when that level passes, not with time.
 * - `none`: otherwise, if the last run is older than `maxAgeMs`, or there is none.
 * - `warning`: otherwise, if the latest value of any level belongs to a violation that warns.
 *
 * A warning passes. A rejected value that a person excludes as a handling mistake is left out before, so that it fails nothing; that is
 * also the way out of a level that failed and that the clinic never runs again.
 *
 * @param options.maxAgeMs how long a control counts by the clinic's schedule; null for as long as it is the last one
 */
export function stateAt(
  judged: readonly JudgedRun[],
  at: number,
  { maxAgeMs }: { readonly maxAgeMs: number | null },
): QualityState {
  const levels = new Map<string, LevelState>();
  const maxAge = maxAgeMs ?? Number.POSITIVE_INFINITY;
  let last: number | null = null;
  let okSince: number | null = null;
  for (const one of judged) {
    if (one.run.at > at) break;
    enter(levels, one);
    const isAfterGap = last === null || one.run.at - last > maxAge;
    if (levels.size > 0) okSince = null;
    else if (isAfterGap) okSince = one.run.at;
    else okSince ??= one.run.at;
    last = one.run.at;
  }
  const failed = firstOf(levels, "reject");
  if (failed !== null) return { quality: "failed", since: failed.since, rule: failed.rule };
  const later = failureAfter(judged, at);
  const afterwards = later === null ? {} : { afterwards: later };
  if (last === null || at - last > maxAge) return { quality: "none", since: last, ...afterwards };
  const warning = firstOf(levels, "warn");
  if (warning !== null) return { quality: "warning", since: warning.since, rule: warning.rule, ...afterwards };
  return { quality: "ok", since: okSince, ...afterwards };
}

/** Enters the values of a run: a level without a violation has no state. */
function enter(levels: Map<string, LevelState>, judged: JudgedRun): void {
  for (const { id, level } of judged.run.points) {
    const broken = brokenBy(judged, id);
    const before = levels.get(level);
    if (broken === null) levels.delete(level);
    else if (before?.verdict !== broken.verdict) levels.set(level, { ...broken, since: judged.run.at });
  }
}

/** @returns the first rule that a value of a run broke, a rejection before a warning; null if it passes */
function brokenBy({ violations }: JudgedRun, id: string): Pick<LevelState, "verdict" | "rule"> | null {
  const own = violations.filter(({ points }) => points.includes(id));
  return own.find(({ verdict }) => verdict === "reject") ?? own[0] ?? null;
}

function firstOf(levels: ReadonlyMap<string, LevelState>, verdict: LevelState["verdict"]): LevelState | null {
  const those = [...levels.values()].filter((level) => level.verdict === verdict);
  return those.toSorted((one, other) => one.since - other.since)[0] ?? null;
}

/** Returns the first failure after a moment of a level that did not pass in between. */
function failureAfter(judged: readonly JudgedRun[], at: number): Failure | null {
  const passed = new Set<string>();
  for (const one of judged) {
    if (one.run.at <= at) continue;
    for (const { id, level } of one.run.points) {
      const broken = brokenBy(one, id);
      if (broken?.verdict !== "reject") passed.add(level);
      else if (!passed.has(level)) return { at: one.run.at, rule: broken.rule };
    }
  }
  return null;
}
