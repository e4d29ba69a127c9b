import type { Quality } from "../../api/quality.ts";
import type { JudgedRun, Rule } from "./types.ts";

/** The state of an analyte's controls on a device at a moment. Times are milliseconds since 1970. */
export interface QualityState {
  readonly quality: Quality;
  /**
   * `failed` and `warning`: the first control of the level that is so without a better one since. `ok`: the control that made it so.
   * `none`: the last control; null if there was none at all.
   */
  readonly since: number | null;
  /** Of `failed` and `warning`: the rule that the control at `since` broke. */
  readonly rule?: Rule;
  /** The first control after the moment that failed before one of its level passed. Absent if the state is `failed` already. */
  readonly afterwards?: { readonly at: number; readonly rule: Rule };
}

/**
 * Returns the state of the controls at a moment, from the runs of one analyte on one device in the order of time. A control of the
 * moment itself counts as before it.
 *
 * - A value fails if it belongs to a violation that rejects; so a value of level 2 passes in a run that level 1 alone fails.
 * - `failed`: the latest value of any level fails. It ends when that level passes, not with time.
 * - `none`: otherwise, if the last run is older than `maxAgeMs`, or there is none.
 * - `warning`: otherwise, if the latest value of any level belongs to a violation that warns.
 *
 * @param options.maxAgeMs how long a control counts by the clinic's schedule; null for as long as it is the last one
 */
export function stateAt(
  judged: readonly JudgedRun[],
  at: number,
  options: { readonly maxAgeMs: number | null },
): QualityState {
  throw new Error(`TODO ${at} ${judged.length} ${options.maxAgeMs}`);
}
