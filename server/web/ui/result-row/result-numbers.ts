import type { Result } from "../../../../shared/api/study.ts";
import { sideOf } from "../../../dashboard/types/results/result-value.ts";
import type { Side } from "../../../dashboard/types/results/results.ts";

/** Returns what the bar of a result shows. `number` is null for a bound, for words and for a rank. */
export function resultNumbers(result: Result & { readonly low: number | null; readonly high: number | null }): {
  readonly number: number | null;
  readonly side: Side | null;
} {
  const isMeasured = (result.value_text ?? result.comparator) === undefined;
  return { number: isMeasured ? result.value : null, side: sideOf(result) };
}
