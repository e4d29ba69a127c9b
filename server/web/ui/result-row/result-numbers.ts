import type { Result } from "../../../../shared/api/study.ts";
import { boundsOf } from "../../../../shared/clinical/analytes/value.ts";
import { sideOf } from "../../../dashboard/types/results/result-value.ts";
import type { Side } from "../../../dashboard/types/results/results.ts";

/** Returns what the bar of a result shows. `number` is null for a bound, for words and for a rank. */
export function resultNumbers(result: Result): {
  readonly number: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly side: Side | null;
} {
  const bounds = boundsOf(result.reference_range);
  const isMeasured = (result.value_text ?? result.comparator) === undefined;
  return { number: isMeasured ? result.value : null, ...bounds, side: sideOf({ ...result, ...bounds }) };
}
