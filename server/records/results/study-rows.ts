import type { Result, RowSnapshot, Snapshot, Study } from "../../../shared/api/study.ts";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { type ClinicRanges, clinicRangeById, limitById } from "../../../shared/clinical/clinic-ranges.ts";
import { publishedInterval, publishedRow } from "../../../shared/clinical/reference.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import { boundsOf } from "../../../shared/clinical/analytes/value.ts";
import { analyteOfCode, shownResult } from "../../../shared/clinical/units/shown-result.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import { sentValue } from "../../../shared/clinical/units/value-text.ts";
import { sideOf } from "../../dashboard/types/results/result-value.ts";
import type {
  DecidingLimit,
  IntervalSource,
  OutsideValue,
  Side,
  StudyRow,
} from "../../dashboard/types/results/results.ts";

// The rows of a study as a person reads them.

/** Max values outside their intervals in a row of the list. */
const OUTSIDE_MAX = 6;

/** Returns the values outside their intervals and the abnormal words, critical ones first; a file takes more of them than the list. */
export function outsideOf(
  { modality, results }: { modality: string; results: readonly Result[] },
  units: UnitChoice,
  max = OUTSIDE_MAX,
): { outside: OutsideValue[]; outside_total: number } {
  const outside = results.filter(({ flag, abnormal }) => (flag !== null && flag !== "normal") || abnormal === true);
  const inOrder = [
    ...outside.filter(({ flag }) => flag === "critical"),
    ...outside.filter(({ flag }) => flag !== "critical"),
  ];
  return {
    outside: inOrder.slice(0, max).map((result) => {
      const { value, unit } = shownResult({ modality, result }, units);
      return {
        analyte: result.analyte,
        text: `${value} ${unit ?? ""}`.trimEnd(),
        flag: result.flag,
        side: sideOf({ ...result, ...boundsOf(result.reference_range) }),
      };
    }),
    outside_total: outside.length,
  };
}

/** Returns the rows of a study in the reader's units, with their names, intervals and the device's own words. */
export function studyRows(
  { modality, results }: Pick<Study, "modality" | "results">,
  snapshot: Snapshot | null,
  ranges: ClinicRanges | undefined,
  units: UnitChoice,
): StudyRow[] {
  return results.map((result, index) => {
    const kept = snapshot?.rows[index];
    // Rows of another revision's snapshot do not describe this result.
    const row = kept?.analyte === result.analyte ? kept : undefined;
    const shown = shownResult({ modality, result, row, ranges }, units);
    const sent = sentValue(result);
    const printed = row === undefined || row.text === sent.value ? null : row.text;
    const limit = row?.limit_id === undefined ? null : decidingLimit(row, result, ranges);
    return {
      analyte: result.analyte,
      ...nameOf(result, row, modality),
      ...shown,
      printed,
      // The rank of a urine pad and a bound of a value have no place on a scale.
      number: (result.value_text ?? result.comparator) === undefined ? shown.number : null,
      sent,
      flag: result.flag,
      side: sideOf({ ...result, ...boundsOf(result.reference_range) }) ?? limit?.side ?? null,
      ...(result.abnormal === true ? { abnormal: true as const } : {}),
      ...(limit === null ? {} : { limit: limit.limit }),
      device_range: row?.device_range ?? null,
      device_species: row?.device_species ?? null,
      device_flag: row?.device_flag ?? null,
      source: sourceOf(row?.interval_id ?? null, shown, ranges),
      reason: row?.reason ?? null,
      comment: result.comment ?? null,
      code_source: result.code_source ?? null,
      device_code: row?.device_code ?? null,
      measured_at: row?.measured_at ?? null,
    };
  });
}

/** Returns the accepted limit that a snapshot names, and the side on which the value is beyond it. */
function decidingLimit(
  { limit_id = "", code }: RowSnapshot,
  { value, unit }: Result,
  ranges: ClinicRanges | undefined,
): { limit: DecidingLimit; side: Side } | null {
  const limit = ranges && limitById(ranges, limit_id);
  const analyte = analyteByCode(code);
  if (limit === undefined || analyte === undefined || value === null || unit === null) return null;
  const low = limit.low === undefined ? null : convert(analyte, Number(limit.low), limit.unit, unit);
  const side = low !== null && value <= low ? "low" : "high";
  const { source, accepted_by: by, accepted_at: at } = limit;
  const text = `${side === "low" ? `< ${limit.low}` : `> ${limit.high}`} ${unitText(limit.unit)}`;
  return { limit: { text, source, by, at }, side };
}

function nameOf(
  { analyte, code_source }: Result,
  row: RowSnapshot | undefined,
  modality: string,
): Pick<StudyRow, "name" | "name_tr"> {
  if (code_source === "device") return { name: row?.device_label ?? row?.meaning ?? null, name_tr: null };
  if (row?.meaning !== undefined) return { name: row.meaning, name_tr: null };
  const known = row === undefined ? analyteOfCode(modality, analyte) : analyteByCode(row.code);
  return { name: known?.name ?? null, name_tr: known?.name_tr ?? null };
}

function sourceOf(
  id: string | null,
  { reference_range, unit }: Pick<StudyRow, "reference_range" | "unit">,
  ranges: ClinicRanges | undefined,
): IntervalSource | null {
  if (id === null) return null;
  if (id === "device") return { kind: "device", id, title: null, text: null };
  const printed = `${reference_range} ${unit ?? ""}`.trimEnd();
  const differing = (text: string | null) => (text === printed ? null : text);
  const own = ranges && clinicRangeById(ranges, id);
  if (own !== undefined) {
    return {
      kind: "clinic",
      id: own.id,
      title: null,
      text: differing(`${own.low}-${own.high} ${unitText(own.unit)}`.trimEnd()),
    };
  }
  const found = publishedRow(id);
  if (found === null) return { kind: "unknown", id, title: null, text: null };
  const interval = publishedInterval(id);
  const text = interval === null ? null : `${interval.text} ${unitText(interval.unit)}`.trimEnd();
  return { kind: "published", id, title: found.source, text: differing(text) };
}
