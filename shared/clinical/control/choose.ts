import { OWN_TARGET_RUNS } from "./statistics.ts";
import type { Rule, RuleChoice } from "./types.ts";

/** Rules with the reason: the default, or sigma of the analyte. */
export interface ChosenRules {
  readonly choice: RuleChoice;
  readonly why: "default" | "sigma";
}

/** ASVCP 2013, for every analyte of an analyzer in a clinic. */
const BASE: RuleChoice = { "1-2s": "warn", "1-3s": "reject" };

/** The sigma from which a rule need not reject. */
const SIGMA_STEPS: readonly (readonly [Rule, number])[] = [
  ["2-2s", 6],
  ["R-4s", 6],
  ["4-1s", 5],
  ["10x", 4],
];

/**
 * Chooses the rules of an analyte for which the clinic has chosen none. Everything has 1-3s as rejection and 1-2s as warning (ASVCP
 * 2013). Two levels and 20 runs of the lot add 2-2s and R-4s as rejections; 4-1s and 10x warn of a drift.
 *
 * With a sigma of 20 runs, it decides which rules reject, and the others warn: from 6 on 1-3s alone, from 5 on 2-2s and R-4s too, from
 * 4 on 4-1s too, below all of them. These steps are NOT VERIFIED: they were read in programs that name "Westgard Sigma Rules", not in
 * the publication, which also asks for more values a run below 5. So a step only turns a rejection into a warning, and no rule is off.
 */
export function chooseRules({
  levels,
  runs,
  sigma,
}: {
  /** Levels of the control in use. */
  readonly levels: number;
  /** Runs of the lot that count, of the level with the fewest. */
  readonly runs: number;
  /** The smallest of the levels; null without an allowable error or an outside target. */
  readonly sigma: number | null;
}): ChosenRules {
  if (levels < 2 || runs < OWN_TARGET_RUNS) return { choice: BASE, why: "default" };
  if (sigma === null) {
    return { choice: { ...BASE, "2-2s": "reject", "R-4s": "reject", "4-1s": "warn", "10x": "warn" }, why: "default" };
  }
  const steps = SIGMA_STEPS.map(([rule, from]) => [rule, sigma >= from ? "warn" : "reject"] as const);
  return { choice: { ...BASE, ...Object.fromEntries(steps) }, why: "sigma" };
}
