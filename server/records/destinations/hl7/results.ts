import type { Language } from "../../../../shared/api/language.ts";
import type { Result, RowSnapshot, Snapshot, Study } from "../../../../shared/api/study.ts";
import type { Analyte } from "../../../../shared/clinical/analytes/analytes.ts";
import { loincOf } from "../../../../shared/clinical/analytes/loinc.ts";
import { ucumOf } from "../../../../shared/clinical/analytes/unit-spellings.ts";
import { boundsOf } from "../../../../shared/clinical/analytes/value.ts";
import { meaningOf } from "../../../../shared/clinical/result-words.ts";
import { analyteOf, analyteOfCode } from "../../../../shared/clinical/units/shown-result.ts";
import type { OruResult } from "./oru.ts";
import { intervalWords } from "./words.ts";

// The results of a study as observations: value types, codes, units and flags of HL7. Pure.

/** The facts of a study that its observations need. */
export interface Measured {
  readonly study: Pick<Study, "results" | "acquired_at" | "modality">;
  readonly snapshot: Snapshot | null;
  readonly device: string | null;
  readonly language: Language;
}

/** The observations of a study: its results, then what the device could not measure or has not finished. */
export function observationsOfStudy({ study, snapshot, device, language }: Measured): OruResult[] {
  const { modality, acquired_at } = study;
  const acquiredAt = Date.parse(acquired_at);
  const animal = snapshot?.animal?.species ?? null;
  const measured = study.results.map((result, index): OruResult => {
    const row = snapshot?.rows[index];
    const analyte = analyteOf({ modality, result, row });
    const analysedAt = row?.measured_at === undefined ? null : Date.parse(row.measured_at);
    const interval = result.reference_range === null ? null : intervalWords(row?.interval_id ?? null, animal, language);
    return {
      ...codeOf(result.analyte, analyte, { unit: result.unit, label: row?.device_label }),
      value: valueOf(result, row),
      unit: result.unit === null ? null : unitOf(result.unit),
      range: result.reference_range,
      flag: flagOf(result, row),
      ...{ at: acquiredAt, analysedAt: analysedAt === acquiredAt ? null : analysedAt, device },
      notes: [[interval, result.comment].flatMap((text) => text ?? []).join(" ")].filter((text) => text !== ""),
    };
  });
  const missing = (snapshot?.not_reported ?? []).map(({ analyte, code, text }): OruResult => {
    const known = analyteOfCode(modality, analyte);
    return {
      // Without a value there is no unit. That of the catalogue has the code which most results of the analyte get.
      ...codeOf(analyte, known, { unit: known?.canonical_unit ?? null, label: undefined }),
      value: { type: "none", isPending: code === "not_final" },
      ...{ unit: null, range: null, flag: null, at: acquiredAt, analysedAt: null, device },
      notes: code === "no_value" && text !== "" ? [text] : [],
    };
  });
  return [...measured, ...missing];
}

function codeOf(
  code: string,
  analyte: Analyte | undefined,
  { unit, label }: { readonly unit: string | null; readonly label: string | undefined },
) {
  return { loinc: analyte ? loincOf(analyte, unit) : null, code, name: analyte?.name ?? label ?? code };
}

/** A plain number, a bound or a ratio (SN), a word for present or absent (CWE), or a text. */
function valueOf({ value, value_text: text, comparator }: Result, row: RowSnapshot | undefined): OruResult["value"] {
  if (text !== undefined) {
    const ratio = /^(\d+(?:\.\d+)?)\s*([:/-])\s*(\d+(?:\.\d+)?)$/.exec(text.trim());
    if (value === null && ratio !== null)
      return { type: "SN", parts: ["", ratio[1] ?? "", ratio[2] ?? "", ratio[3] ?? ""] };
    const isFinding = value === null && !/\bnorm/i.test(text);
    const finding = isFinding ? FINDINGS.get(meaningOf(text)) : undefined;
    return finding === undefined ? { type: "ST", text } : { type: "CWE", ...finding, printed: text };
  }
  if (value === null) return { type: "none", isPending: false };
  const number = printedNumber(value, row);
  return comparator === undefined ? { type: "NM", number } : { type: "SN", parts: [comparator, number] };
}

/** SNOMED CT: the two qualifiers of a finding. */
const FINDINGS: ReadonlyMap<string, { readonly code: string; readonly name: string }> = new Map([
  ["present", { code: "10828004", name: "Positive" }],
  ["absent", { code: "260385009", name: "Negative" }],
]);

/** The number with the digits that the device printed, since 1.40 is more exact than 1.4. */
function printedNumber(value: number, row: RowSnapshot | undefined): string {
  const printed = row?.text.trim().replace(",", ".") ?? "";
  if (/^[+-]?\d+(?:\.\d+)?$/.test(printed) && Number(printed) === value) return printed;
  // Never an exponent, which NM does not have.
  return /e/i.test(String(value)) ? value.toFixed(20).replace(/0+$/, "").replace(/\.$/, "") : String(value);
}

function unitOf(unit: string): OruResult["unit"] {
  const ucum = ucumOf(unit);
  return { text: ucum ?? unit, isUcum: ucum !== null };
}

/** OBX-8 (table 0078). Null if no interval applies, which is not N. */
function flagOf(
  { value, flag, reference_range: range, abnormal }: Result,
  row: RowSnapshot | undefined,
): string | null {
  if (abnormal === true) return "A";
  const deviceFlag = row?.device_flag?.trim();
  if (flag === null) return deviceFlag === "<" || deviceFlag === ">" ? deviceFlag : null;
  if (flag === "normal") return "N";
  if (flag !== "critical") return flag === "low" ? "L" : "H";
  const { low, high } = boundsOf(range);
  if (value !== null && high !== null && value > high) return "HH";
  if (value !== null && low !== null && value < low) return "LL";
  return "AA";
}
