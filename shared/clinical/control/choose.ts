import type { RuleChoice } from "./types.ts";

/** Rules with the reason: `default`, or `sigma` of the analyte. */
export interface ChosenRules {
  readonly choice: RuleChoice;
  readonly why: "default" | "sigma";
}

/**
 * Chooses the rules of an analyte for which the clinic has chosen none. Everything has 1-3s as rejection and 1-2s as warning (ASVCP
 * 2013). Two levels and 20 runs of the lot add 2-2s and R-4s; 4-1s and 10x then warn of a drift. A sigma of 20 runs changes what
 * rejects. The steps by sigma (6: 1-3s; 5: 2-2s and R-4s too; 4: 4-1s too; below: all) are not verified.
 */
export function chooseRules(of: {
  /** Levels of the control in use. */
  readonly levels: number;
  /** Runs of the lot that count, of the level with the fewest. */
  readonly runs: number;
  /** The smallest of the levels; null without an allowable error or an outside target. */
  readonly sigma: number | null;
}): ChosenRules {
  throw new Error(`TODO ${of.levels}`);
}
