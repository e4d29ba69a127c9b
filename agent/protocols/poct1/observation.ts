import { doubtsIn } from "../remarks.ts";
import { urineAnalyteOf } from "./dialect.ts";
import type { Hello } from "./message.ts";
import type { DeviceResult } from "../../report/report.ts";
import { attribute, child, children, type Element, textOf } from "./xml/xml.ts";

// Reads OBS objects.

/** OBS.status_cd: the observation has no value, and withdraws one sent before. */
const NOT_FINAL: Readonly<Record<string, string>> = { D: "discarded", R: "rejected" };
/** OBS.method_cd of a value that the device did not measure. */
const NOT_MEASURED: Readonly<Record<string, string>> = { C: "calculated", I: "typed in" };
const LOINC = /^\d{1,7}-\d$/;
/** HemoScreen's flags: a note of one character. */
const FLAG_NOTE = /^[*!~^]$/;

export function deviceResult(observation: Element, hello: Hello): DeviceResult {
  const id = child(observation, "OBS.observation_id");
  const names = namesOf(observation);
  const urine = urineAnalyteOf(hello, names);
  const value = child(observation, "OBS.value");
  const unit = attribute(value, "U");
  const limits = child(observation, "OBS.normal_lo-hi_limit");
  const interpretation = textOf(observation, "OBS.interpretation_cd");
  const flagNote = notesOf(observation).find((note) => FLAG_NOTE.test(note));
  return {
    names: urine === null ? names : [urine],
    code: attribute(id, "V"),
    label: attribute(id, "DN"),
    ...valueOf(observation),
    unit,
    range: isUsable(limits, unit) ? attribute(limits, "V") : "",
    flag: [interpretation, flagNote ?? ""].join(" ").trim(),
    notFinal: notFinal(observation),
    withdraws: Object.hasOwn(NOT_FINAL, textOf(observation, "OBS.status_cd")),
    doubt: doubtOf(observation, flagNote),
  };
}

/** Analyte names: LOINC, the device's own code, its translations, and the displayed name. */
export function namesOf(observation: Element): string[] {
  const id = child(observation, "OBS.observation_id");
  const translations = children(id, "TRANSLTN").map((translation) => attribute(translation, "V"));
  const names = [attribute(id, "V"), ...translations, attribute(id, "DN")].filter((name) => name !== "");
  return [...names.filter((name) => LOINC.test(name)), ...names.filter((name) => !LOINC.test(name))];
}

/** Returns the notes that doubt the value. A note of one mark does so without words. */
function doubtOf(observation: Element, mark: string | undefined): string | null {
  const doubts = doubtsIn(notesOf(observation));
  if (doubts.length === 0 && mark !== undefined) return `the device marks the value with ${mark}`;
  return doubts.join("; ") || null;
}

/** A number in the qualitative field may be the rank of a strip's word. It is not a measurement. */
function valueOf(observation: Element): Pick<DeviceResult, "value" | "isWord"> {
  const value = textOf(observation, "OBS.value");
  return value === "" ? { value: textOf(observation, "OBS.qualitative_value"), isWord: true } : { value };
}

function notFinal(observation: Element): string | null {
  const status = textOf(observation, "OBS.status_cd");
  const reason = NOT_FINAL[status];
  return reason === undefined ? null : `${reason} (OBS.status_cd is ${status})`;
}

/** Returns whether the limits have the value's unit and no decimal comma. */
function isUsable(limits: Element | null, unit: string): boolean {
  const own = attribute(limits, "U");
  return (own === "" || own === unit) && !attribute(limits, "V").includes(",");
}

export function observationNotes(observation: Element, { names, unit }: DeviceResult): string[] {
  const name = names[0] ?? "(no code)";
  const method = NOT_MEASURED[textOf(observation, "OBS.method_cd")];
  const normal = child(observation, "OBS.normal_lo-hi_limit");
  const critical = attribute(child(observation, "OBS.critical_lo-hi_limit"), "V");
  return [
    ...(method === undefined ? [] : [`${name} is ${method}`]),
    ...(isUsable(normal, unit) ? [] : [`${name}: the device's range ${written(normal)} is not in the value's unit`]),
    ...(critical === "" ? [] : [`${name}: the device's critical range is ${critical}`]),
  ];
}

/** i-STAT sends a measured and a temperature-corrected value under one code. */
export function twinNotes(results: readonly DeviceResult[]): string[] {
  const names = results.map((result) => result.names[0] ?? "");
  const twins = new Set(names.filter((name, index) => name !== "" && names.indexOf(name) !== index));
  return [...twins].map((name) => `${name} stands more than once: all of its values are kept, in the device's order`);
}

export function notesOf(parent: Element): string[] {
  return children(parent, "NTE")
    .map((note) => [textOf(note, "NTE.text"), child(note, "NTE.text")?.text.trim() ?? ""])
    .map((parts) => parts.filter((part) => part !== "").join(": "))
    .filter((note) => note !== "");
}

function written(field: Element | null): string {
  return [attribute(field, "V"), attribute(field, "U")].join(" ").trim();
}
