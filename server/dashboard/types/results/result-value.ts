import type { Result } from "../../../../shared/api/study.ts";
import type { Side } from "./results.ts";

// The side of the interval on which a result lies.

/**
 * Returns the side of the interval on which a value lies for certain: `<3` is below 3, `<12` may be anywhere below 12. The flag
 * comes first, because the printed bounds are rounded. Null within the interval, and without one.
 */
export function sideOf({
  flag,
  value,
  comparator,
  low,
  high,
}: Pick<Result, "flag" | "value" | "comparator"> & { low: number | null; high: number | null }): Side | null {
  if (flag === "low" || flag === "high") return flag;
  if (flag === "normal" || value === null) return null;
  const isUpper = comparator === "<" || comparator === "<=";
  const isLower = comparator === ">" || comparator === ">=";
  if (low !== null && !isLower && (value < low || (value === low && comparator === "<"))) return "low";
  if (high !== null && !isUpper && (value > high || (value === high && comparator === ">"))) return "high";
  return null;
}
