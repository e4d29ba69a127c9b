import { labelOf } from "../../report/sample.ts";
import { agreedSpecies, filled, flagsOf, given } from "../field-text.ts";
import { isSpeciesAlone, readSpecies } from "../../../shared/clinical/species.ts";
import { doubtsIn, isControlRow, isPicture, isRunRow, isSpeciesRow } from "../remarks.ts";
import type { AstmProfile, FieldNumbers, ResultStatus } from "./profile.ts";
import type { AstmRecord } from "./records.ts";
import type { DeviceResult } from "../../report/report.ts";

// Reads R records.

/** R-9 (LIS02-A2 §9.9): the record has no final value. */
const NOT_FINAL: Readonly<Record<string, string>> = {
  I: "pending in the instrument",
  N: "awaits information",
  P: "preliminary",
  S: "partial",
  X: "cannot be done",
};

/** R-9 of a result that withdraws the earlier value. */
const WITHDRAWS = ["X"];

/** Components of R-3 in the order of trust: the device's own code and its name, then the universal name and code. */
const OWN_CODES = [4, 5, 2, 1];

const LOINC = /^\d{1,7}-\d$/;

export function deviceResult(
  result: AstmRecord,
  profile: AstmProfile,
  { resultStatus }: Pick<FieldNumbers, "resultStatus">,
  notes: readonly string[] = [],
): DeviceResult {
  const letter = result.field(resultStatus).trim().toUpperCase();
  const declared = profile.statuses?.[letter];
  const status = declared ?? standardStatus(letter);
  const flags = flagsOf(result.repeats(7)); // R-7 may repeat: `H\HH`
  const [own = "", ...others] = ownCodes(result);
  const names = namesOf(result, profile);
  return {
    names,
    code: profile.code === undefined ? own : (names.at(-1) ?? ""),
    label: others.find((other) => /\p{L}{2}/u.test(other)) ?? "", // Radiometer's M is not a name
    value: valueOf(result, profile),
    unit: given(profile.unit?.(result) ?? result.field(5)),
    range: result.field(6),
    flag: flags.join(" "),
    notFinal: isNotFinal(status) ? `${status.notFinal} (R-${resultStatus} is ${letter})` : null,
    // `""` deletes the earlier value (LIS02-A2 §5.4.9).
    withdraws: (declared === undefined && WITHDRAWS.includes(letter)) || result.raw(4).trim() === '""',
    doubt: [...doubtsOf(result, status, flags, profile), ...doubtsIn(notes)].join("; ") || null,
  };
}

/** Units of a cut-off index. */
const INDEX_UNIT = /^(?:COI|S\/?CO|INDEX)$/i;

/** Returns the grade before a cut-off index, `-1^0.282`; "" for other values. Mindray writes the index first: `1.2^Positive(+)`. */
function gradeOf(result: AstmRecord): string {
  const [first, second] = indexParts(result);
  return second === "" ? "" : isIndexFirst(result) ? second : first;
}

/** Returns the first two components of the value of a cut-off index; without a second one they are empty. */
function indexParts(result: AstmRecord): readonly [string, string] {
  const [first = "", second = ""] = result.components(4).map(given);
  return second !== "" && INDEX_UNIT.test(result.field(5).trim()) ? [first, second] : ["", ""];
}

function isIndexFirst(result: AstmRecord): boolean {
  const [first, second] = indexParts(result);
  return /\d/.test(first) && /\p{L}/u.test(second);
}

/**
 * Returns the value of R-4 without the doubt marks before it. GeneXpert may leave the first component empty and put the
 * number into the second. Two values stay as sent, which is not a number.
 */
function valueOf(result: AstmRecord, { doubtMarks = {} }: AstmProfile): string {
  if (gradeOf(result) !== "") return given(result.component(4, isIndexFirst(result) ? 1 : 2));
  const repeats = filled(result.repeats(4), "^");
  const value = repeats.length > 1 ? given(result.field(4)) : (repeats[0] ?? "");
  const mark = Object.keys(doubtMarks).find((each) => value.length > each.length && value.startsWith(each));
  return mark === undefined ? value : value.slice(mark.length);
}

/** Roche's code, dilution and pre-dilution: `8/1/not`. */
const DILUTED = /^(\w+)\/\d*\/\w*$/;

/**
 * Returns the names of R-3: LOINC, then the device's own code (component 4), its name (5), the universal name (2) and code (1). A
 * code with a dilution is also tried without. Later components are not codes: Architect's aspect P (its raw signal) would be read
 * as phosphate.
 */
function standardNames(result: AstmRecord): readonly string[] {
  const loinc = [1, 2, 4, 5].map((part) => given(result.component(3, part))).filter((name) => LOINC.test(name));
  const own = ownCodes(result).flatMap((code) => [code, DILUTED.exec(code)?.[1] ?? code]);
  return [...new Set([...loinc, ...own])];
}

/** Returns the result's name for a sentence. */
export function resultTitle(result: AstmRecord, profile: AstmProfile): string {
  return labelOf(namesOf(result, profile));
}

/**
 * Returns the kind of a record. A remark describes the sample, a run row the run or the patient. `isControl`: all records of the
 * order are a control's.
 */
export function kindOf(
  result: AstmRecord,
  profile: AstmProfile,
  isControl = false,
): "result" | "remark" | "run" | "data" {
  const names = [...namesOf(result, profile), ...ownCodes(result)];
  if (isRunRow("", names)) return "run";
  if (isPicture(names)) return "data";
  const isOfControl = !isControl && isControlRow(names, result.field(4));
  return profile.isRemark?.(result) === true || isOfControl ? "remark" : "result";
}

/**
 * Returns the word for a species where no profile says its place: in P-10, race, in the special field P-16 (LIS02-A2 §7), or in a row of
 * its own; "" without any. P-16 may be an owner instead, whom P-15 names on a VetScan: Can Demir is not a dog.
 */
export function speciesIn(patient: AstmRecord | null, results: readonly AstmRecord[], owner: string): string {
  const text = (field: number) => given(patient?.field(field).replaceAll("^", " ").trim() ?? "");
  const special = [text(16)].filter((words) => words !== owner && isSpeciesAlone(words));
  const rows = results.filter((result) => isSpeciesRow(ownCodes(result))).map((result) => given(result.field(4)));
  return agreedSpecies([text(10), ...special, ...rows].filter((words) => readSpecies(words) !== null));
}

/** Returns the text that a record adds to the comments: a complete remark, or the grade before an index. */
export function remarkOf(result: AstmRecord, profile: AstmProfile, isControl = false): string {
  const [value = "", unit = "", flag = ""] = [result.field(4), result.field(5), result.component(7, 1)].map(given);
  const grade = gradeOf(result);
  const title = resultTitle(result, profile);
  if (kindOf(result, profile, isControl) === "result") return grade === "" ? "" : `${title}: grade ${grade}`;
  const text = [value, unit, flag === "" || flag === "N" ? "" : `(${flag})`].filter(Boolean).join(" ");
  return text === "" ? title : `${title}: ${text}`;
}

/**
 * Returns the filled components of R-3 without LOINC codes, or else those. Roche ends its codes with a slash. Mindray's F or I beside
 * number and name is the kind of the result, `501^Test X^^F`; another letter may be the code, as K.
 */
function ownCodes(result: AstmRecord): string[] {
  const [number, name, kind] = [1, 2, 4].map((part) => given(result.component(3, part)));
  const isKind = number !== "" && name !== "" && /^[FI]$/.test(kind ?? "");
  const codes = OWN_CODES.filter((part) => part !== 4 || !isKind)
    .map((part) => given(result.component(3, part)).replace(/\/$/, ""))
    .filter(Boolean);
  const own = codes.filter((code) => !LOINC.test(code));
  return own.length > 0 ? [...new Set(own)] : codes;
}

function namesOf(result: AstmRecord, profile: AstmProfile): string[] {
  return (profile.code ?? standardNames)(result)
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** R-9 of a value whose validity is questionable. */
const QUESTIONABLE = "W";

function standardStatus(letter: string): ResultStatus {
  if (letter === QUESTIONABLE) return { doubt: "the device holds the value for questionable (R-9 is W)" };
  const notFinal = NOT_FINAL[letter];
  return notFinal === undefined ? "final" : { notFinal };
}

function isNotFinal(status: ResultStatus): status is { readonly notFinal: string } {
  return typeof status === "object" && "notFinal" in status;
}

/** Returns why the device doubts the value: by its status, its flags, or marks next to the value. */
function doubtsOf(
  result: AstmRecord,
  status: ResultStatus,
  flags: readonly string[],
  { doubtFlags = {}, doubtMarks = {} }: AstmProfile,
): string[] {
  const value = given(result.component(4, 1));
  const reasons = [
    ...(typeof status === "object" && "doubt" in status ? [status.doubt] : []),
    ...flags.flatMap((flag) => doubtFlags[flag] ?? []),
    ...Object.entries(doubtMarks).flatMap(([mark, words]) =>
      value.startsWith(mark) || value.endsWith(mark) ? [words] : [],
    ),
  ];
  return [...new Set(reasons)];
}
