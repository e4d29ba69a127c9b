import type { DeviceResult } from "../../report/report.ts";
import { given } from "../field-text.ts";
import type { Hl7Profile } from "./profile.ts";
import type { Segment } from "./segment.ts";

// Rows of results: OBX segments and their notes.

/** OBX-11 and OBR-25 (tables 0085 and 0123): the row has no final value. */
const NOT_FINAL: Readonly<Record<string, string>> = {
  D: "deleted",
  I: "pending in the instrument",
  N: "not asked for",
  O: "ordered only",
  P: "preliminary",
  R: "not verified",
  S: "partial",
  W: "the value sent before is wrong",
  X: "cannot be done",
};

/** Statuses that withdraw the value sent before. */
const WITHDRAWS = ["D", "W", "X"];

/** OBX-2 of pictures, histograms and curves. They stay in the stored message. */
const DATA_TYPES = ["ED", "RP", "NA", "MA"];

const CODED_TYPES = ["CE", "CF", "CNE", "CWE"];

/** Names of coding systems (table 0396). A code without its text is no result. */
const CODING_SYSTEM = /^(99\w*|HL7\d{4}|LN|L|SCT|SNM3?|I9C?|I10|JC10)$/i;

const LOINC = /^\d{1,7}-\d$/;

/** An OBX and its notes. */
export interface ObservationRow {
  readonly obx: Segment;
  readonly is: "result" | "remark" | "data";
  readonly notes: string[];
}

/**
 * Returns the kind of a row. Remarks are rows that the profile lists, the patient's weight, and alarms (coded rows with
 * T or F).
 */
export function kindOf(obx: Segment, { remarks, speciesRow }: Hl7Profile): ObservationRow["is"] {
  if (DATA_TYPES.includes(valueType(obx))) return "data";
  const code = obx.field(3);
  const isKnown = remarks?.test(code) === true || speciesRow?.test(code) === true || isWeight(obx);
  return isKnown || (valueType(obx) === "IS" && /^[TF]$/i.test(valueOf(obx))) ? "remark" : "result";
}

/** Returns whether the row is the patient's weight, which practices send as an observation. */
export function isWeight(obx: Segment): boolean {
  return obx.component(3, 1) === "3141-9";
}

/** Returns the row's name for a sentence. */
export function title(obx: Segment): string {
  const [code = "", name = ""] = obx.components(3).map(given);
  return name || code || "(no code)";
}

export function deviceResult({ obx, notes }: ObservationRow, order: Segment | null, profile: Hl7Profile): DeviceResult {
  const ownStatus = given(obx.component(11, 1));
  const [field, status] = ownStatus === "" ? ["OBR-25", given(order?.component(25, 1) ?? "")] : ["OBX-11", ownStatus];
  const notFinal = NOT_FINAL[status.toUpperCase()];
  // `""` is HL7's null: it deletes the earlier value.
  const withdraws = WITHDRAWS.includes(status.toUpperCase()) || obx.raw(5).trim() === '""';
  const ownValue = valueOf(obx);
  const noted = ownValue === "" && profile.noteValue !== undefined ? notedValue(notes, profile.noteValue) : undefined;
  return {
    names: namesOf(obx, profile),
    value: noted?.value ?? ownValue,
    unit: unitOf(obx) || (noted?.unit ?? ""),
    range: obx.field(7),
    // `~A`: the first repetition is high, low or normal and may be empty.
    flag: obx
      .repetitions(8)
      .map(([first = ""]) => given(first))
      .filter(Boolean)
      .join(" "),
    notFinal: notFinal === undefined ? null : `${notFinal} (${field} is ${status})`,
    withdraws,
  };
}

function notedValue(notes: readonly string[], pattern: RegExp): { value?: string; unit?: string } | undefined {
  return notes.map((note) => pattern.exec(note)?.groups).find((groups) => groups !== undefined);
}

/**
 * Reads the unit: `mg/L^milligram per liter^UCUM`. In `10^9/L`, which many analyzers send, the caret is not a
 * delimiter.
 */
function unitOf(obx: Segment): string {
  const [code = "", text = ""] = obx.components(6).map(given);
  return code === "10" ? given(obx.field(6)) : code || text;
}

/** Returns OBX-5 as one text. Two values keep their delimiters, so they are not a number. */
export function valueOf(obx: Segment): string {
  const type = valueType(obx);
  const [first = "", second = "", third = ""] = obx.components(5).map(given);
  // Comparator, number, separator, number: `<^0.2`, `^2^+`.
  if (type === "SN") return obx.components(5).map(given).join("");
  // The text of a coded value is the result. Bionote writes the result in place of the coding system.
  if (CODED_TYPES.includes(type)) return second || (CODING_SYSTEM.test(third) ? "" : third || first);
  return given(obx.field(5));
}

function valueType(obx: Segment): string {
  return given(obx.component(2, 1)).toUpperCase();
}

function namesOf(obx: Segment, profile: Hl7Profile): string[] {
  return (profile.code?.(obx) ?? standardNames(obx)).map(given).filter((name) => name !== "");
}

/**
 * Reads OBX-3: code, name and coding system, twice. LOINC is detected by its form, because some devices omit LN. A
 * vendor's code keeps its system.
 */
function standardNames(obx: Segment): string[] {
  const [code = "", name = "", system = "", otherCode = "", otherName = ""] = obx.components(3).map(given);
  const codes = [code, otherCode];
  const local = codes.filter((each) => !LOINC.test(each));
  const ofSystem = local[0] === code && system !== "" ? [`${code}^${system}`] : [];
  return [...codes.filter((each) => LOINC.test(each)), ...ofSystem, name, ...local, otherName];
}
