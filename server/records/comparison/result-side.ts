import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import { boundsOf } from "../../../shared/clinical/analytes/value.ts";
import { limitById } from "../../../shared/clinical/clinic-ranges.ts";
import type { StudyResult } from "../../../shared/clinical/units/shown-result.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import { sideOf } from "../../dashboard/types/results/result-value.ts";
import type { DecidingLimit, Side } from "../../dashboard/types/results/results.ts";

// The side on which a stored result lies, which every page prints alike.

/** Returns the side on which a result lies outside its interval, or beyond the accepted limit that decided its flag. */
export function sideIn(of: Omit<StudyResult, "modality">): Side | null {
  return sideOf({ ...of.result, ...boundsOf(of.result.reference_range) }) ?? decidingLimit(of)?.side ?? null;
}

/** Returns the accepted limit that a snapshot names, and the side on which the value is beyond it. */
export function decidingLimit({
  result: { value, unit },
  row,
  ranges,
}: Omit<StudyResult, "modality">): { limit: DecidingLimit; side: Side } | null {
  if (row?.limit_id === undefined) return null;
  const limit = ranges && limitById(ranges, row.limit_id);
  const analyte = analyteByCode(row.code);
  if (limit === undefined || analyte === undefined || value === null || unit === null) return null;
  const low = limit.low === undefined ? null : convert(analyte, Number(limit.low), limit.unit, unit);
  const side = low !== null && value <= low ? "low" : "high";
  const { source, accepted_by: by, accepted_at: at } = limit;
  const text = `${side === "low" ? `< ${limit.low}` : `> ${limit.high}`} ${unitText(limit.unit)}`;
  return { limit: { text, source, by, at }, side };
}
