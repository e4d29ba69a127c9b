import type { PatientHint } from "../../../shared/api/study.ts";
import { sampleId } from "../field-text.ts";
import { readValue } from "../../../shared/clinical/value.ts";
import { DocumentSplitter } from "./document-splitter.ts";
import { type Hello, type Message, readMessage, type UnreadableDocument } from "./message.ts";
import type { Poct1Profile } from "./profile.ts";
import type { DeviceResult, ReadContext, Reading } from "../../report/report.ts";
import { hintText, readSamples, type Sample } from "../../report/specimen.ts";
import { readDate, readTime } from "../../report/device-time.ts";
import { all, type Element, find, short } from "./xml.ts";

// Reads POCT1-A observations into samples, without those that are not for patients.

/** PT.patient_id of a device on which no identifier was typed. */
const NOBODY = /^unknown$/i;
/** OBS.status_cd: the observation has no value, and withdraws one sent before. */
const NOT_FINAL: Readonly<Record<string, string>> = { D: "discarded", R: "rejected" };
/** OBS.method_cd of a value that the device did not measure. */
const NOT_MEASURED: Readonly<Record<string, string>> = { C: "calculated", I: "typed in" };
/** Max time that a set clock is ahead. A clock further ahead, or before CLOCK_BEGINS, was never set. */
const CLOCK_AHEAD_MAX_MS = 24 * 60 * 60_000;
const CLOCK_BEGINS = "2000-01-01T00:00:00.000Z";
const LOINC = /^\d{1,7}-\d$/;
/** HemoScreen's flags: a note of one character. */
const FLAG_NOTE = /^[*!~^]$/;

/** Reads a HELLO and the document behind it. */
export function readPoct1(bytes: Uint8Array, profile: Poct1Profile, context: ReadContext): Reading {
  const { hello, document } = split(bytes);
  if (hello?.is !== "hello" || document === undefined) {
    return { is: "quarantined", reason: "no HELLO before the document: unknown device" };
  }
  const message = readMessage(document);
  if (message.is === "unreadable") return { is: "quarantined", reason: message.problem };
  if (message.is === "query") return { is: "not-for-patients", reason: "the device asks for a patient" };
  if (message.is !== "observations") return { is: "not-for-patients", reason: short(message.root.name) };
  return readObservations(message, hello.hello, profile, context);
}

/** Reads a patient query. @returns null without one */
export function readPoct1Query(bytes: Uint8Array): (Message & { readonly is: "query" }) | null {
  const { document } = split(bytes);
  const message = document === undefined ? null : readMessage(document);
  return message?.is === "query" ? message : null;
}

function split(bytes: Uint8Array): {
  readonly hello: Message | UnreadableDocument | null;
  readonly document?: Uint8Array;
} {
  const splitter = new DocumentSplitter();
  const [first, document] = [...splitter.receive(bytes), ...splitter.close()].flatMap((found) =>
    "bytes" in found ? [found.bytes] : [],
  );
  return { hello: first === undefined ? null : readMessage(first), ...(document === undefined ? {} : { document }) };
}

/**
 * Returns whether a message holds all of a cut one: the same bytes of the same device behind a new header. A cut before
 * the time names no measurement.
 */
export function continues(message: Uint8Array, incomplete: Uint8Array): boolean {
  const [whole, part] = [message, incomplete].map((bytes) => Buffer.from(bytes).toString("latin1"));
  const [device, rest] = [deviceOf(message), behindHeader(part!)];
  return (
    device !== null && device === deviceOf(incomplete) && TIMED.test(rest) && behindHeader(whole!).startsWith(rest)
  );
}

const TIMED = /<SVC\.observation_dttm\s[^<>]*>/;

/** Returns the text behind the second document's header, in which a resend differs. */
function behindHeader(message: string): string {
  const [, , body = ""] = message.split("</HDR>", 3);
  return body;
}

function deviceOf(message: Uint8Array): string | null {
  const { hello } = split(message);
  return hello?.is === "hello" ? hello.hello.name : null;
}

function readObservations(message: Message, hello: Hello, profile: Poct1Profile, context: ReadContext): Reading {
  const services = children(message.root, "SVC");
  if (services.length === 0) return { is: "quarantined", reason: "no SVC: unknown measurement" };
  const controls = services.map((service) => controlReason(message.root, service));
  const samples = services.flatMap((service, index) =>
    controls[index] === null
      ? children(service, "PT").map((patient) => sampleOf(service, patient, hello, context))
      : [],
  );
  const notes = [...new Set(controls.filter((reason) => reason !== null))];
  const reading = readSamples(samples, notes, { ...profile, decimalComma: false }, context);
  if (reading !== null) return reading;
  return { is: "not-for-patients", reason: notes.length > 0 ? notes.join("; ") : "no results" };
}

/**
 * Returns why the service is not for a patient; null if it is. Root, subject and role all have to indicate a patient:
 * some devices contradict themselves, and a control lot may look like a patient id.
 */
function controlReason(root: Element, service: Element): string | null {
  const roles = all(service, "SVC.role_cd").map((role) => attribute(role, "V"));
  const [control] = all(service, "CTC");
  const reasons = [
    ...(root.name === "OBS.R01" ? [] : [short(root.name)]),
    ...roles.filter((role) => role !== "" && role !== "OBS").map((role) => `role ${short(role)}`),
    ...(control === undefined ? [] : [`control material, lot ${short(text(control, "CTC.lot_number"))}`]),
    ...(control === undefined && children(service, "PT").length === 0 ? ["no patient"] : []),
  ];
  return reasons.length === 0 ? null : `not of a patient: ${reasons.join(", ")}`;
}

function sampleOf(service: Element, patient: Element, hello: Hello, context: ReadContext): Sample {
  const [identifier, sequence] = [text(patient, "PT.patient_id"), text(service, "SVC.sequence_nbr")];
  const specimen = [text(service, "SPC.specimen_id"), text(service, "ORD.order_id")];
  const observations = children(patient, "OBS");
  const times = [
    text(service, "SVC.observation_dttm"),
    ...observations.map((observation) => text(observation, "OBS.observation_dttm")),
    text(service, "SPC.specimen_dttm"),
  ];
  const results = observations.map(deviceResult);
  const specimenType = text(service, "SPC.type_cd"); // HL7 table 0070
  return {
    device_name: [hello.model, hello.serial].join(" ").trim().slice(0, 200) || "POCT1-A device",
    identifier: NOBODY.test(identifier) ? null : hintText(identifier),
    otherIdentifiers: specimen.filter((id) => id !== ""),
    sampleIds: specimen.map((id) => sampleId([id])),
    patient_hint: patientHint(patient, identifier),
    // Several devices may share a port, and a sequence number counts per device.
    patient: [identifier, hello.name, sequence],
    specimen,
    times: { results: [...new Set(times.map(compactTime))], order: [], sent: "" },
    urine: /^UR/i.test(specimenType),
    blood: /^(?:BL|WB|SER|PLAS)/i.test(specimenType),
    results,
    notes: [
      ...clockNotes(times, context),
      ...statusNotes(service),
      ...observations.flatMap((observation, index) => observationNotes(observation, results[index]!)),
      ...twinNotes(results),
    ],
    comments: comments(service),
  };
}

function deviceResult(observation: Element): DeviceResult {
  const value = child(observation, "OBS.value");
  const unit = attribute(value, "U");
  const limits = child(observation, "OBS.normal_lo-hi_limit");
  const interpretation = text(observation, "OBS.interpretation_cd");
  const flagNote = notesOf(observation).find((note) => FLAG_NOTE.test(note));
  return {
    names: namesOf(observation),
    value: valueOf(observation, interpretation),
    unit,
    range: isUsable(limits, unit) ? attribute(limits, "V") : "",
    flag: [interpretation, flagNote ?? ""].join(" ").trim(),
    notFinal: notFinal(observation),
    withdraws: Object.hasOwn(NOT_FINAL, text(observation, "OBS.status_cd")),
  };
}

/** Analyte names: LOINC, the device's own code, its translations, and the displayed name. */
function namesOf(observation: Element): string[] {
  const id = child(observation, "OBS.observation_id");
  const translations = children(id, "TRANSLTN").map((translation) => attribute(translation, "V"));
  const names = [attribute(id, "V"), ...translations, attribute(id, "DN")].filter((name) => name !== "");
  return [...names.filter((name) => LOINC.test(name)), ...names.filter((name) => !LOINC.test(name))];
}

/** Returns the value with its bound, which may be in the value or in the interpretation. */
function valueOf(observation: Element, interpretation: string): string {
  const value = text(observation, "OBS.value");
  if (value === "") return text(observation, "OBS.qualitative_value");
  const isBound = (interpretation === "<" || interpretation === ">") && /^[\d.]/.test(value);
  return isBound ? interpretation + value : value;
}

function notFinal(observation: Element): string | null {
  const status = text(observation, "OBS.status_cd");
  const reason = NOT_FINAL[status];
  if (reason !== undefined) return `${reason} (OBS.status_cd is ${status})`;
  const qualitative = text(observation, "OBS.value") === "" ? text(observation, "OBS.qualitative_value") : "";
  // A strip's word may be its rank. A number in the qualitative field is not a measurement.
  return readValue(qualitative, { decimalComma: false }).is === "number"
    ? `only a qualitative value ${JSON.stringify(qualitative)}`
    : null;
}

/** Returns whether the limits have the value's unit and no decimal comma. */
function isUsable(limits: Element | null, unit: string): boolean {
  const own = attribute(limits, "U");
  return (own === "" || own === unit) && !attribute(limits, "V").includes(",");
}

function observationNotes(observation: Element, { names, unit }: DeviceResult): string[] {
  const name = names[0] ?? "(no code)";
  const method = NOT_MEASURED[text(observation, "OBS.method_cd")];
  const normal = child(observation, "OBS.normal_lo-hi_limit");
  const critical = attribute(child(observation, "OBS.critical_lo-hi_limit"), "V");
  return [
    ...(method === undefined ? [] : [`${name} is ${method}`]),
    ...(isUsable(normal, unit) ? [] : [`${name}: the device's range ${written(normal)} is not in the value's unit`]),
    ...(critical === "" ? [] : [`${name}: the device's critical range is ${critical}`]),
  ];
}

/** i-STAT sends a measured and a temperature-corrected value under one code. */
function twinNotes(results: readonly DeviceResult[]): string[] {
  const names = results.map((result) => result.names[0] ?? "");
  const twins = new Set(names.filter((name, index) => name !== "" && names.indexOf(name) !== index));
  return [...twins].map((name) => `${name} stands more than once: all of its values are kept, in the device's order`);
}

function clockNotes(times: readonly string[], { timeZone, receivedAt }: ReadContext): string[] {
  const latest = new Date(receivedAt + CLOCK_AHEAD_MAX_MS).toISOString();
  return times.flatMap((time) => {
    const at = readTime(compactTime(time), timeZone);
    return at !== null && (at < CLOCK_BEGINS || at > latest) ? [`the device's clock is suspect: ${time}`] : [];
  });
}

function statusNotes(service: Element): string[] {
  const status = text(service, "SVC.status_cd");
  return status === "" || status === "NRM" ? [] : [`the measurement has status ${short(status)}`];
}

/** Comments for the Report: reagents, notes and prompts. */
function comments(service: Element): string[] {
  const reagents = all(service, "RGT").map(
    (reagent) => `reagent ${text(reagent, "RGT.name")} lot ${text(reagent, "RGT.lot_number")}`,
  );
  const prompts = all(service, "RSN").map((prompt) =>
    [text(prompt, "RSN.apoc_prompt"), text(prompt, "RSN.apoc_content")].join(": "),
  );
  const about = all(service, "OBS").flatMap((observation) =>
    notesOf(observation).map((note) => `${namesOf(observation)[0] ?? "(no code)"}: ${note}`),
  );
  return [...reagents, ...prompts, ...notesOf(service), ...about];
}

function notesOf(parent: Element): string[] {
  return children(parent, "NTE")
    .map((note) => [text(note, "NTE.text"), child(note, "NTE.text")?.text.trim() ?? ""])
    .map((parts) => parts.filter((part) => part !== "").join(": "))
    .filter((note) => note !== "");
}

function patientHint(patient: Element, identifier: string): PatientHint {
  const name = child(patient, "PT.name");
  const [family, given] = [attribute(child(name, "FAM"), "V"), attribute(child(name, "GIV"), "V")];
  // As in PID-5: two parts are owner and patient, a single one is the patient.
  const two = family !== "" && given !== "";
  const weight = child(patient, "PT.weight");
  const kilograms = readValue(attribute(weight, "V"), { decimalComma: false });
  return {
    identifier: hintText(identifier),
    name: hintText(two ? given : family || given || attribute(name, "V")),
    species: null, // POCT1-A has no species
    breed: null,
    sex: hintText(text(patient, "PT.gender_cd")),
    owner: two ? hintText(family) : null,
    date_of_birth: readDate(compactTime(text(patient, "PT.birth_date"))),
    weight_kg: /^kg$/i.test(attribute(weight, "U")) && kilograms.is === "number" ? kilograms.value : null,
  };
}

/**
 * Converts `2026-05-04T08:55:10.25+02:00` to `20260504085510.25+0200`, the form of the other protocols. An invalid time
 * stays as sent.
 */
function compactTime(time: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?$/.exec(time);
  if (parts === null) return time;
  const [, date = "", clock = "", fraction = "", offset = ""] = parts;
  return `${date.replaceAll("-", "")}${(clock + fraction + offset.replace("Z", "+0000")).replaceAll(":", "")}`;
}

function written(field: Element | null): string {
  return [attribute(field, "V"), attribute(field, "U")].join(" ").trim();
}

/** Returns a field's value. Fields of SVC are in it or in its objects (SPC, ORD), a patient's observations are not. */
function text(parent: Element | null, name: string): string {
  return parent === null ? "" : attribute(find(parent, name), "V");
}

function attribute(element: Element | null, name: string): string {
  return element?.attributes[name]?.trim() ?? "";
}

function child(parent: Element | null, name: string): Element | null {
  return parent?.children.find((each) => each.name === name) ?? null;
}

function children(parent: Element | null, name: string): readonly Element[] {
  return parent?.children.filter((each) => each.name === name) ?? [];
}
