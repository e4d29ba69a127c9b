import { type Modality, type NotReported, RESULTS_MAX } from "../../shared/api/study.ts";
import type { PrintedTarget } from "../../shared/api/quality.ts";
import {
  type Analyte,
  analyteByCode,
  findAnalyte,
  foldName,
  isUrineOnly,
  type NameContext,
  unitInName,
} from "../../shared/clinical/analytes/analytes.ts";
import { impossibleValue } from "./possible.ts";
import type { Measurement } from "../../shared/clinical/results.ts";
import { isSameUnit, isUnitSpelling } from "../../shared/clinical/analytes/unit-spellings.ts";
import { readUnit } from "../../shared/clinical/analytes/units.ts";
import { readRange, readValue, type ReadValue, WORDS_MAX } from "../../shared/clinical/analytes/value.ts";
import type { DeviceResult, ReadContext } from "./report.ts";
import { isAbsentAlone } from "../../shared/clinical/result-words.ts";
import { labelOf, NO_CODE, type Sample, type SampleProfile } from "./sample.ts";

// The rows of a sample: each result becomes a row under an analyte of the catalogue or under the device's own code, or a reason.

export interface FoundRow {
  /** Null for a code outside the catalogue. */
  readonly modality: Modality | null;
  readonly row: Measurement;
  /** Present for a control's value. */
  readonly target?: PrintedTarget;
}

export interface SampleRows {
  readonly found: FoundRow[];
  readonly withdrawn: { readonly modality: Modality | null; readonly analyte: string }[];
  /** Codes that became rows without an analyte of the catalogue. */
  readonly unmapped: string[];
  readonly leftOut: string[];
  /** `modality` is null for a code outside the catalogue. */
  readonly notReported: { readonly modality: Modality | null; readonly gap: NotReported }[];
  readonly notes: string[];
  /** Texts that are too long for a value. */
  readonly comments: string[];
}

/** A comma that may separate thousands: 1,234 U/L of ALP is thousands for one laboratory, 1,025 of specific gravity is not. */
const THOUSANDS = /^\D*[1-9],\d{3}\D*$/;

/** Max characters of a number with its unit and flag. */
const VALUE_MAX = 64;
/** Max characters of a device's code and name for a test. */
const [CODE_MAX, LABEL_MAX] = [64, 200];

/** Facts that all results of a sample share. */
interface SampleFacts {
  readonly profile: SampleProfile;
  /** The specimen that the device declares; null without a declaration. */
  readonly declared: "urine" | "blood" | null;
  /** The specimen is urine, as the device declares or another result shows. */
  readonly urine: boolean;
  readonly species: string | null;
  readonly context: ReadContext;
}

/** Reads every result into a row, or into a reason why it has none. */
export function readRows(
  sample: Sample,
  profile: SampleProfile,
  species: string | null,
  context: ReadContext,
): SampleRows {
  const { urine: isUrine, blood, results } = sample;
  const declared = isUrine ? "urine" : blood === true ? "blood" : null;
  const isSaid = () => results.some(({ names }) => names.some((name) => saysUrine(name, profile)));
  const facts = { profile, declared, urine: isUrine || (blood !== true && isSaid()), species, context } as const;
  const rows: SampleRows = {
    ...{ found: [], withdrawn: [], unmapped: [], leftOut: [], notReported: [], notes: [], comments: [] },
  };
  for (const result of results) readResult(result, facts, rows);
  const rest = rows.found.splice(RESULTS_MAX).length;
  if (rest > 0) rows.leftOut.push(`${rest} results after the first ${RESULTS_MAX} stay in the message alone`);
  return rows;
}

/** A number or a range with text after it, which may be its unit: `71.5fL`, `8.1 10^9/L`. */
const WITH_TEXT = [/^(.*\d)\s*(\D+)$/su, /^(.*?\d)\s+(\S+)$/su] as const;
/** Flags next to a number: `12.3 H`, `12.3 (H)`, `↑ 612`. `L2` may be a grade or a place. */
const FLAG_AFTER = /^(.*[\d\s*])[([]?(HH?|LL?|N|[↑↓]{1,2})[)\]]?$/su;
const FLAG_BEFORE = /^((?:HH?|LL?|N)(?=\s)|[↑↓]{1,2})\s*([\d<>≤≥.].*)$/su;

/**
 * Returns the result with the number alone as its value: some devices repeat unit and flag beside it, or write them only there.
 * Chinese devices may write full-width characters.
 */
function apart(result: DeviceResult): DeviceResult {
  const written = result.value.trim();
  if (written.length > VALUE_MAX || !/[\d\uff10-\uff19]/.test(written)) return result;
  const ascii = written.replace(/[\uff01-\uff5e]/g, (char) => char.normalize("NFKC"));
  const [, before = "", unflagged = ascii] = FLAG_BEFORE.exec(ascii) ?? [];
  const [, number = unflagged, mark = ""] = FLAG_AFTER.exec(unflagged) ?? [];
  // 1.2 L is a volume if the unit's field has litres.
  const [bare, after] = isSameUnit(mark, result.unit) ? [unflagged, ""] : [number, mark];
  const { text, unit } = withoutUnit(bare.trim(), result.unit);
  if (readValue(text, { decimalComma: true }).is !== "number") return { ...result, value: ascii };
  const flags = result.flag.split(/\s+/);
  const marks = [before, after].filter((flag) => !flags.includes(flag));
  return { ...result, value: text, unit, flag: [result.flag, ...marks].filter(Boolean).join(" ") };
}

/** Returns the result with the unit that its name has, `HGB (g/L)`, if the field of the unit is empty. */
function withUnitOfName(result: DeviceResult): DeviceResult {
  if (result.unit.trim() !== "") return result;
  const unit = result.names.map(unitInName).find((found) => found !== "");
  return unit === undefined ? result : { ...result, unit };
}

/** Splits the unit from a number or a range: the unit of its field, or a known one if the field is empty. */
function withoutUnit(written: string, field: string): { readonly text: string; readonly unit: string } {
  for (const pattern of WITH_TEXT) {
    const [, text = "", unit = ""] = pattern.exec(written) ?? [];
    const isUnit = unit !== "" && (field.trim() === "" ? isUnitSpelling(unit) : isSameUnit(unit, field));
    if (isUnit) return { text, unit: field.trim() || unit };
  }
  return { text: written, unit: field };
}

/** Adds a result to the rows, or the reason why it is left out. */
function readResult(
  sent: DeviceResult,
  { profile, declared, urine, species, context }: SampleFacts,
  rows: SampleRows,
): void {
  const result = withUnitOfName(apart(sent));
  const printed = readValue(result.value, {
    decimalComma: profile.decimalComma ?? true,
    ...(profile.valueSuffix === undefined ? {} : { suffix: profile.valueSuffix }),
  });
  // The unit of a word or a grade does not decide the analyte: a strip prints `norm` with mg/dL.
  const unit = printed.is === "number" ? result.unit : "";
  const match = analyteOf(result, { modality: profile.modality, urine, unit }, declared, context);
  const value = valueFor(printed, result, match?.analyte);
  const modality = match === null ? profile.modality : (profile.modality ?? match.analyte.modality);
  if (result.withdraws === true) {
    // The withdrawn value may be stored under the device's own code, if it was a word.
    const codes = [deviceCode(result), ...(match === null ? [] : [match.analyte.api_code])];
    rows.withdrawn.push(...codes.map((analyte) => ({ modality, analyte })));
  }
  const target = result.target === undefined ? {} : { target: result.target };
  const label = match?.analyte.api_code ?? labelOf(result.names);
  const code = match?.analyte.api_code ?? deviceCode(result);
  if (result.notFinal !== null) {
    rows.leftOut.push(`${labelOf(result.names)} has no final value: ${result.notFinal}`);
    if (result.withdraws !== true) rows.notReported.push({ modality, gap: gapOf(code, "not_final", result) });
  } else if (value.is === "none") {
    rows.leftOut.push(`${label} has no value: ${value.reason}`);
    const isPlaceholder = result.value.trim() !== "" && result.value.length <= WORDS_MAX;
    if (isPlaceholder) rows.notReported.push({ modality, gap: gapOf(code, "no_value", result) });
    if (/\p{L}{3}/u.test(result.value) && result.value.length > WORDS_MAX)
      rows.comments.push(`${label}: ${result.value}`);
  } else if (match === null || !fits(value, match.analyte)) {
    rows.unmapped.push(result.names.join("^") || NO_CODE);
    const row = rowOfDevice(value, deviceFields(result, value, species));
    rows.found.push({ modality: profile.modality, row, ...target });
  } else {
    const device = deviceFields(result, value, species);
    const { row, warning } = rowOfAnalyte(match, value, result.unit, device);
    rows.notes.push(...[match.note, warning].filter((note) => note !== null));
    rows.found.push({ modality, row, ...target });
  }
}

/** `analyte`: the code under which a value would be a row. */
function gapOf(analyte: string, code: NotReported["code"], { value }: DeviceResult): NotReported {
  return { analyte, code, text: value.trim().slice(0, LABEL_MAX) };
}

/** Abnormal flags of a value beyond the measuring range (LIS02-A2 §9.7, HL7 table 0078). They may repeat: `H >`. */
const [BELOW, ABOVE] = ["<", ">"] as const;

/** Returns the value that the device means: its flag may bound the number, and thousands or a grade are not a measured number. */
function valueFor(
  value: ReadValue,
  { value: sent, flag, isWord }: DeviceResult,
  analyte: Analyte | undefined,
): ReadValue {
  // A strip reader writes `-` for negative, or a word for it in the language of its screen.
  const isPad = analyte?.value_type === "ordinal";
  if (isPad && /^[-\u2212\uff0d]$/.test(sent.trim())) return { is: "ordinal", rank: 0, text: sent.trim() };
  if (isPad && value.is === "word" && isAbsentAlone(value.text)) return { ...value, is: "ordinal", rank: 0 };
  if (value.is !== "number") return value;
  if (isWord === true || ((analyte?.decimals ?? 0) < 3 && THOUSANDS.test(sent)))
    return { is: "word", text: value.text };
  const marks = flag.split(/\s+/);
  const bounds = [BELOW, ABOVE].filter((mark) => marks.includes(mark));
  return value.comparator === null && bounds.length === 1 ? { ...value, comparator: bounds[0] ?? null } : value;
}

/** Returns whether a name means a urine sample. BIL on a chemistry analyzer names no pad. */
function saysUrine(name: string, { modality }: SampleProfile): boolean {
  return isUrineOnly(name) && findAnalyte([name], { modality, urine: false }) !== null;
}

interface AnalyteMatch {
  readonly analyte: Analyte;
  readonly note: string | null;
  readonly source?: "clinic";
}

/**
 * Finds the analyte of a result: by the clinic's codes of the device, then by the catalogue. An analyte of another specimen than
 * the declared one does not match, even by its LOINC code.
 */
function analyteOf(
  result: DeviceResult,
  names: NameContext,
  declared: "urine" | "blood" | null,
  { codes }: ReadContext,
): AnalyteMatch | null {
  const mapped =
    codes === undefined ? undefined : [deviceCode(result), ...result.names].map((name) => codes.get(foldName(name)));
  const analyte = mapped?.find((code) => code !== undefined);
  const known = analyte === undefined ? undefined : analyteByCode(analyte);
  if (known !== undefined) return { analyte: known, note: null, source: "clinic" };
  const match = findAnalyte(result.names, names);
  if (match === null || declared === null) return match;
  return (match.analyte.specimen === "urine") === (declared === "urine") ? match : null;
}

type PrintedValue = Exclude<ReadValue, { readonly is: "none" }>;

/** Returns whether the value is of the analyte's kind. A pad may also print a word without an amount, such as Positive. */
function fits(value: PrintedValue, { value_type }: Analyte): boolean {
  switch (value_type) {
    case "numeric":
      return value.is === "number";
    case "ordinal":
    case "word":
      return value.is !== "number";
  }
}

type DeviceFields = Pick<
  Measurement,
  "text" | "unit" | "device_range" | "device_flag" | "device_code" | "device_label" | "comment"
>;

/** Returns the fields that the device decides. */
function deviceFields(result: DeviceResult, value: PrintedValue, species: string | null): DeviceFields {
  const range = readRange(withoutUnit(result.range.slice(0, VALUE_MAX + 1).trim(), result.unit).text);
  const doubt = doubtOf(result, value);
  return {
    text: value.text,
    unit: result.unit.trim().slice(0, 32) || null,
    device_range: range === null ? null : { ...range, species },
    device_flag: result.flag || null,
    device_code: deviceCode(result),
    device_label: (result.label ?? result.names[1] ?? "").slice(0, LABEL_MAX) || null,
    ...(doubt === null ? {} : { comment: doubt.slice(0, 200) }),
  };
}

/** Returns why the device doubts the value: its reader's words, or the marks that the reader does not know. */
function doubtOf({ doubt = null }: DeviceResult, value: PrintedValue): string | null {
  if (doubt !== null || value.is !== "number" || value.marks === undefined) return doubt;
  return `the device marks the value with ${value.marks}`;
}

function deviceCode({ code, names }: DeviceResult): string {
  return (code || names[0] || NO_CODE).slice(0, CODE_MAX);
}

function rowOfDevice(value: PrintedValue, device: DeviceFields): Measurement {
  return {
    code: device.device_code ?? NO_CODE,
    codeSource: "device",
    ...device,
    value: value.is === "number" ? value.value : null,
    comparator: value.is === "number" ? value.comparator : null,
    ordinal: false,
  };
}

function rowOfAnalyte(
  { analyte, source }: AnalyteMatch,
  value: PrintedValue,
  sentUnit: string,
  device: DeviceFields,
): { row: Measurement; warning: string | null } {
  const own = { code: analyte.code, ...(source === undefined ? {} : { codeSource: source }), ...device };
  if (value.is !== "number") {
    const rank = value.is === "ordinal" && analyte.value_type === "ordinal" ? value.rank : null;
    return { row: { ...own, value: rank, comparator: null, ordinal: rank !== null, unit: null }, warning: null };
  }
  const { unit, warning, doubt } = readUnit(analyte, sentUnit, value.value);
  const problem = doubt ?? (value.comparator === null ? impossibleValue(analyte, value.value, unit) : null);
  return {
    row: {
      ...own,
      value: value.value,
      comparator: value.comparator,
      ordinal: false,
      unit: unit ?? device.unit,
      ...(problem === null ? {} : { comment: [device.comment, problem].filter(Boolean).join("; ").slice(0, 200) }),
    },
    warning,
  };
}
