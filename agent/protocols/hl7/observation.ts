import type { DeviceResult } from "../../report/report.ts";
import { flagsOf, given } from "../field-text.ts";
import { doubtsIn, isControlRow, isPicture, isRunRow } from "../remarks.ts";
import type { Hl7Profile } from "./profile.ts";
import type { Segment } from "./message/segment.ts";

// Rows of results: OBX segments and their notes.

/** OBX-11 and OBR-25 (tables 0085 and 0123): the row has no final value. */
const NOT_FINAL: Readonly<Record<string, string>> = {
  D: "deleted",
  I: "pending in the instrument",
  N: "not requested",
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

/** Names of coding systems (table 0396). */
const CODING_SYSTEM = /^(99\w*|HL7\d{4}|LN|L|SCT|SNM3?|I9C?|I10|JC10)$/i;

/** Local coding systems: the code is the device's own word, `Negative^^L`. */
const LOCAL_SYSTEM = /^(99\w*|L)$/i;

const LOINC = /^\d{1,7}-\d$/;

export interface ObservationRow {
  readonly obx: Segment;
  readonly is: "result" | "remark" | "run" | "data";
  readonly notes: string[];
}

/**
 * Returns the kind of a row. Remarks are rows that the profile lists, alarms (coded rows with T or F), and rows of a control
 * among a patient's. `isControl`: all rows of the order are a control's. A run row describes the run or the patient.
 */
export function kindOf(obx: Segment, { remarks, speciesRow }: Hl7Profile, isControl = false): ObservationRow["is"] {
  if (DATA_TYPES.includes(valueType(obx))) return "data";
  const code = obx.field(3);
  const names = [...obx.components(3), ...obx.components(4)].map(given);
  if (isRunRow(code, names)) return "run";
  if (isPicture(names)) return "data";
  const isKnown = remarks?.test(code) === true || speciesRow?.test(code) === true;
  const isAlarm = valueType(obx) === "IS" && /^[TF]$/i.test(valueOf(obx));
  return isKnown || isAlarm || (!isControl && isControlRow(names, valueOf(obx))) ? "remark" : "result";
}

/** Returns whether the row is the patient's weight, which practices send as an observation. */
export function isWeight(obx: Segment): boolean {
  return obx.component(3, 1) === "3141-9";
}

/** Returns the row's name for a sentence. */
export function title(obx: Segment): string {
  const [code = "", name = ""] = obx.components(3).map(given);
  return name || (isNumber(code) ? given(obx.component(4, 1)) || code : code) || "(no code)";
}

/** @param legend the order's notes that explain marks: one note may explain every row */
export function deviceResult(
  { obx, notes }: ObservationRow,
  order: Segment | null,
  profile: Hl7Profile,
  legend: readonly string[],
): DeviceResult {
  // `""` is HL7's null: it deletes the earlier value.
  const { reason, isWithdrawn } = statusOf(obx, order, profile);
  const withheld = profile.withheld?.(obx) ?? "";
  const ownValue = valueOf(obx);
  const noted = ownValue === "" ? notes.map((note) => profile.noteValue?.(note)).find((each) => each != null) : null;
  const { names, code, label } = nameOf(obx, profile);
  const marks = marksOf(obx);
  return {
    names,
    code,
    label,
    value: noted?.value ?? ownValue,
    unit: unitOf(obx) || (noted?.unit ?? ""),
    range: obx.field(7),
    flag: marks
      .map((mark) => profile.flags?.[mark] ?? mark)
      .filter(Boolean)
      .join(" "),
    notFinal: reason ?? (withheld === "" ? null : withheld),
    withdraws: isWithdrawn || (profile.nullIsEmpty !== true && obx.raw(5).trim() === '""'),
    doubt: [...new Set(doubtsOf(obx, { marks, notes, legend }, profile))].join("; ") || null,
  };
}

/** Reads OBX-11, else OBR-25. `reason`: why there is no final value; null for a final one. */
function statusOf(obx: Segment, order: Segment | null, { finalStatuses }: Hl7Profile) {
  const own = given(obx.component(11, 1));
  const [field, sent] = own === "" ? ["OBR-25", given(order?.component(25, 1) ?? "")] : ["OBX-11", own];
  const status = sent.toUpperCase();
  const words = finalStatuses?.test(status) === true ? undefined : NOT_FINAL[status];
  return {
    reason: words === undefined ? null : `${words} (${field} is ${sent})`,
    isWithdrawn: words !== undefined && WITHDRAWS.includes(status),
  };
}

/** Reads OBX-8. `~A`: the first repetition is high, low or normal and may be empty. */
function marksOf(obx: Segment): string[] {
  return flagsOf(obx.repetitions(8));
}

/** Codes of table 0078 in any version. A device gives other marks a meaning of its own. */
const ABNORMAL_FLAGS: ReadonlySet<string> = new Set(
  (
    "< > A AA AC B CAR D DET E EXP EX H HH HM HU HX I IE IND L LL LU LX MS N ND NEG NR NS NULL OBX POS QCF R RR S SDD SYN-R SYN-S " +
    "TOX U UNE VS W WR"
  ).split(" "),
);

/** OBX-13, user defined access checks, of a value that a person changed at the device. */
const EDITED = /^[em]$|edit|manual|modif|correct|adjust|overrid|\bhand\b/i;

/**
 * Returns why the device doubts the value: marks of the profile, marks outside table 0078 that a note explains, the notes of the row,
 * and a value that was changed by hand.
 */
function doubtsOf(
  obx: Segment,
  { marks, notes, legend }: { marks: readonly string[]; notes: readonly string[]; legend: readonly string[] },
  { doubts = {}, flags = {}, commentRows, noteValue }: Hl7Profile,
): string[] {
  // Rows that comment on others hold lots and codes, which the profile reads.
  const own = commentRows === undefined ? notes.filter((note) => noteValue?.(note) == null) : [];
  const explained = marks.flatMap((mark) => {
    if (ABNORMAL_FLAGS.has(mark.toUpperCase()) || Object.hasOwn(doubts, mark) || Object.hasOwn(flags, mark)) return [];
    const about = [...own, ...legend.filter((note) => note.startsWith(mark))];
    return about.filter((note) => /\p{L}{2}/u.test(note));
  });
  const check = given(obx.component(13, 1));
  const edited = EDITED.test(check) ? [`the value was changed by hand (OBX-13 is ${check})`] : [];
  return [...marks.flatMap((mark) => doubts[mark] ?? []), ...explained, ...doubtsIn(own), ...edited];
}

/**
 * Reads the unit: `mg/L^milligram per liter^UCUM`. In `10^9/L` and `x10^9/L`, which many analyzers send, the caret is not a
 * delimiter.
 */
function unitOf(obx: Segment): string {
  const [code = "", text = ""] = obx.components(6).map(given);
  return /^[x×*]? ?10 ?[x×*]?$/i.test(code) ? given(obx.field(6)) : code || text;
}

/** Returns OBX-5 as one text. Two values keep their delimiters, so they are not a number. */
export function valueOf(obx: Segment): string {
  const type = valueType(obx);
  if (type !== "SN" && !CODED_TYPES.includes(type)) return given(obx.field(5));
  const texts = obx.repetitions(5).map((parts) => (type === "SN" ? structured(parts) : coded(parts)));
  return texts.filter(Boolean).join("~");
}

/** Comparator, number, separator, number: `<^0.2`, `^2^+`, `^2^-^4`. */
function structured(parts: readonly string[]): string {
  return parts.map(given).join("");
}

/** The text of a coded value is the result. Bionote writes the result in place of the coding system. */
function coded(parts: readonly string[]): string {
  const [first = "", second = "", third = ""] = parts.map(given);
  const isWord = LOCAL_SYSTEM.test(third) && /\D/.test(first);
  if (second !== "" || isWord) return second || first;
  if (!CODING_SYSTEM.test(third)) return third || first;
  // A code without its text stays as sent: it is neither a word nor a measured number. A system alone is not a value.
  return first === "" ? "" : `${first}^^${third}`;
}

function valueType(obx: Segment): string {
  return given(obx.component(2, 1)).toUpperCase();
}

/** Returns the analyte names, and the device's code and name of the test. */
function nameOf(obx: Segment, profile: Hl7Profile): Required<Pick<DeviceResult, "names" | "code" | "label">> {
  const stated = profile.code?.(obx).map(given).filter(isNewName);
  if (stated !== undefined) return { names: stated, code: stated[0] ?? "", label: otherThan(stated[0], stated[1]) };
  const [code = "", name = "", , otherCode = "", otherName = ""] = obx.components(3).map(given);
  // A device without codes of its own writes `0` or a running number in OBX-3, and the name in OBX-4, the sub-id.
  const hasName = [name, code, otherCode, otherName].some((text) => !isNumber(text));
  const subIds = hasName
    ? []
    : obx
        .components(4)
        .map(given)
        .filter((text) => !isNumber(text));
  const label = [name, otherName, ...subIds, code].find((text) => !isNumber(text)) ?? "";
  const shown = isNumber(code) && label !== "" ? label : code;
  const analyte = profile.analytes?.[shown];
  const names = standardNames(obx).filter(isNewName);
  // A number in OBX-3, with the name in OBX-4, counts the rows.
  const own = subIds.length === 0 ? names : [...names.filter((text) => !isNumber(text)), ...subIds];
  return { names: analyte === undefined ? own : [analyte], code: shown, label: otherThan(shown, label) };
}

function isNewName(name: string, index: number, names: readonly string[]): boolean {
  return name !== "" && names.indexOf(name) === index;
}

/** Returns a name of a test; "" if it only repeats the code. */
function otherThan(code: string | undefined, name = ""): string {
  return name === code ? "" : name;
}

/** Returns whether a text names nothing: it is empty or has digits only. */
function isNumber(text: string): boolean {
  return !/[A-Za-z]/.test(text) && !/\p{L}/u.test(text) && !LOINC.test(text);
}

/**
 * Reads OBX-3: code, name and coding system, twice. LOINC is detected by its form, because some devices omit LN. A
 * vendor's code keeps its system. A code is more precise than its name: `HDL^Cholesterol`, `NEU%^Neutrophils`.
 */
function standardNames(obx: Segment): string[] {
  const [code = "", name = "", system = "", otherCode = "", otherName = ""] = obx.components(3).map(given);
  const codes = [code, otherCode];
  const local = codes.filter((each) => !LOINC.test(each));
  const ofSystem = local[0] === code && system !== "" ? [`${code}^${system}`] : [];
  return [...codes.filter((each) => LOINC.test(each)), ...ofSystem, ...local, name, otherName];
}
