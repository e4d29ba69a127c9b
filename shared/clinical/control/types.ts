// The words of quality control. z = (value - mean) / SD of the series' target.

/** The rules of Westgard, as published; see rules.ts. */
export type Rule = "1-2s" | "1-3s" | "2-2s" | "R-4s" | "4-1s" | "10x";

export type Verdict = "accept" | "warn" | "reject";

/** One value of a level, in the order of measurement. Values that count for nothing (excluded, `<`, no target) are left out before. */
export interface ControlPoint {
  /** Names the value to the caller. */
  readonly id: string;
  readonly level: string;
  readonly z: number;
}

/** The values of one analyte that a device measured together: at most one of each level. */
export interface Run {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly points: readonly ControlPoint[];
}

export interface Violation {
  readonly rule: Rule;
  /** Over the levels of one run, or over runs of one or all levels. */
  readonly scope: "run" | "level" | "levels";
  /** The verdict of the rules in force. */
  readonly verdict: "warn" | "reject";
  readonly side: "high" | "low" | "both";
  /** The points that together broke it, the last one last. */
  readonly points: readonly string[];
}

export interface JudgedRun {
  readonly run: Run;
  /** The verdict of the rules in force. */
  readonly verdict: Verdict;
  readonly violations: readonly Violation[];
}

/** Which rules a clinic uses for an analyte: each rule rejects, warns, or is off (absent). */
export type RuleChoice = Readonly<Partial<Record<Rule, "warn" | "reject">>>;
