import type { Result, RowSnapshot, Snapshot, Study } from "../../../shared/api/study.ts";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { type ClinicRange, type ClinicRanges, clinicRangeById } from "../../../shared/clinical/clinic-ranges.ts";
import { whyContext, whyInterval } from "../../../shared/clinical/passport/why-interval.ts";
import { publishedRow } from "../../../shared/clinical/reference.ts";
import { isExpectedWord } from "../../../shared/clinical/result-words.ts";
import {
  analyteOf,
  analyteOfCode,
  shownResult,
  type StudyResult,
} from "../../../shared/clinical/units/shown-result.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import { sentValue } from "../../../shared/clinical/units/value-text.ts";
import { decidingLimit, sideIn } from "../comparison/result-side.ts";
import { rowFor } from "../studies/stored-results.ts";
import type { OutsideValue, Passport, StudyRow } from "../../dashboard/types/results/results.ts";

// The rows of a study as a person reads them.

/** Max values outside their intervals in a row of the list. */
const OUTSIDE_MAX = 6;

/** Returns the values outside their intervals and the abnormal words, critical ones first; a file takes more of them than the list. */
export function outsideOf(
  results: readonly StudyResult[],
  units: UnitChoice,
  max = OUTSIDE_MAX,
): { outside: OutsideValue[]; outside_total: number } {
  const outside = results.filter(
    ({ result: { flag, abnormal } }) => (flag !== null && flag !== "normal") || abnormal === true,
  );
  const inOrder = [
    ...outside.filter(({ result: { flag } }) => flag === "critical"),
    ...outside.filter(({ result: { flag } }) => flag !== "critical"),
  ];
  return {
    outside: inOrder.slice(0, max).map((each) => {
      const { result } = each;
      const { value, unit } = shownResult(each, units);
      return {
        analyte: result.analyte,
        text: `${value} ${unit ?? ""}`.trimEnd(),
        flag: result.flag,
        side: sideIn(each),
      };
    }),
    outside_total: outside.length,
  };
}

/**
 * Returns the rows of a study in the reader's units, with their names, intervals and the device's own words. Another clinic does not learn who accepted
 * an interval, nor the notes on it.
 */
export function studyRows(
  { modality, results, acquired_at }: Pick<Study, "modality" | "results" | "acquired_at">,
  snapshot: Snapshot | null,
  ranges: ClinicRanges | undefined,
  { units, isOwn }: { units: UnitChoice; isOwn: boolean },
): StudyRow[] {
  const context = whyContext(snapshot, acquired_at);
  return results.map((result, index) => {
    const row = rowFor(result, snapshot?.rows[index]);
    const shown = shownResult({ modality, result, row, ranges }, units);
    const sent = sentValue(result);
    const printed = row === undefined || row.text === sent.value ? null : row.text;
    const limit = decidingLimit({ result, row, ranges });
    return {
      analyte: result.analyte,
      ...nameOf(result, row, modality),
      ...shown,
      printed,
      // The rank of a urine pad and a bound of a value have no place on a scale.
      number: (result.value_text ?? result.comparator) === undefined ? shown.number : null,
      sent,
      flag: result.flag,
      side: sideIn({ result, row, ranges }),
      ...(result.abnormal === true ? { abnormal: true as const } : {}),
      ...(isExpectedWord(analyteOf({ modality, result, row }), result) ? { expected: true as const } : {}),
      ...(limit === null ? {} : { limit: limit.limit }),
      device_range: row?.device_range ?? null,
      device_species: row?.device_species ?? null,
      device_flag: row?.device_flag ?? null,
      source: sourceOf(row, shown, ranges, isOwn),
      why: row === undefined ? [] : whyInterval(row, ranges, context),
      reason: row?.reason ?? null,
      comment: result.comment ?? null,
      code_source: result.code_source ?? null,
      device_code: row?.device_code ?? null,
      measured_at: row?.measured_at ?? null,
    };
  });
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

/** Returns the source of a range. */
function sourceOf(
  row: RowSnapshot | undefined,
  { reference_range, unit }: Pick<StudyRow, "reference_range" | "unit">,
  ranges: ClinicRanges | undefined,
  isOwn: boolean,
): StudyRow["source"] {
  const id = row?.interval_id ?? null;
  if (id === null) return null;
  if (id === "device") return { kind: "device", id, title: null, text: null };
  const printed = `${reference_range} ${unit ?? ""}`.trimEnd();
  const differing = (text: string | null) => (text === printed ? null : text);
  const own = ranges && clinicRangeById(ranges, id);
  if (own !== undefined) {
    const text = differing(intervalOf(own));
    return { kind: "clinic", id: own.id, title: null, text, passport: passportOf(own, isOwn) };
  }
  const found = publishedRow(id);
  if (found === null) return { kind: "unknown", id, title: null, text: null };
  const { row: published, source: title, method } = found;
  if (published === null) return { kind: "published", id, title, text: null };
  const { n, quality: grade, kind: made, note } = published;
  const passport = {
    ...(n === undefined ? {} : { n }),
    ...(method === null ? {} : { method }),
    ...(note === undefined ? {} : { note }),
    ...{ grade, made },
  };
  return { kind: "published", id, title, text: differing(intervalOf(published)), passport };
}

/** The bounds with the digits of the row. */
function intervalOf({ low, high, unit }: { low: string; high: string; unit: string }): string {
  return `${low}-${high} ${unitText(unit)}`.trimEnd();
}

function passportOf(row: ClinicRange, isOwn: boolean): Passport {
  const { source, n, method, effective_from: in_force_from, accepted_by, note } = row;
  return {
    ...(source === undefined ? {} : { source }),
    ...(n === undefined ? {} : { n }),
    ...(method === undefined ? {} : { method }),
    in_force_from,
    ...(accepted_by === undefined || !isOwn ? {} : { accepted_by }),
    ...(note === undefined || !isOwn ? {} : { note }),
  };
}
