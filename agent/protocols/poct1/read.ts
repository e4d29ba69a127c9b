import type { PatientHint } from "../../../shared/api/study.ts";
import { readValue } from "../../../shared/clinical/analytes/value.ts";
import type { Sample } from "../../report/sample.ts";
import { controlName, identifier, sampleId } from "../field-text.ts";
import { saysCalibration } from "../remarks.ts";
import { urineAnalyteOf } from "./dialect.ts";
import { eventsOf, peopleOf } from "./events.ts";
import { DocumentSplitter } from "./xml/document-splitter.ts";
import { type Hello, type Message, readMessage, type UnreadableDocument } from "./message.ts";
import { deviceResult, namesOf, notesOf, observationNotes, twinNotes } from "./observation.ts";
import type { Poct1Profile } from "./profile.ts";
import type { ReadContext, Reading } from "../../report/report.ts";
import { withEvents } from "../../report/device-event.ts";
import { hintText, readSamples } from "../../report/specimen.ts";
import { readDate } from "../../report/device-time.ts";
import { all, attribute, child, children, type Element, guessedCharset, textOf, values } from "./xml/xml.ts";
import { short } from "../file/layouts/xml-tree.ts";

// Reads POCT1-A observations into samples of patients and of control material. Other observations are left out.

/** PT.patient_id of a device on which no identifier was typed. */
const NOBODY = /^unknown$/i;

const NOBODYS = "results without a patient (PT) and a control (CTC): whose are they?";

/** SVC.role_cd of liquid and electronic controls. The others are of calibrations and of schemes between laboratories. */
const MATERIAL_ROLES = ["LQC", "EQC"];

/** Reads a HELLO and the document after it. */
export function readPoct1(bytes: Uint8Array, profile: Poct1Profile, context: ReadContext): Reading {
  const { hello, document } = split(bytes);
  if (hello?.is !== "hello" || document === undefined) {
    return { is: "quarantined", reason: "no HELLO before the document: unknown device" };
  }
  const message = readMessage(document);
  if (message.is === "unreadable") return { is: "quarantined", reason: message.problem };
  if (message.is === "query") return { is: "not-for-patients", reason: "the device asks for a patient" };
  if (message.is !== "observations") return { is: "not-for-patients", reason: short(message.root.name) };
  const charset = guessedCharset(document);
  const charsetNotes = charset === null ? [] : [`texts are ${charset}, which the document does not declare`];
  const reading = readObservations(message, hello.hello, profile, context, charsetNotes);
  const origin = { deviceName: deviceName(hello.hello), people: peopleOf(message.root) };
  return withEvents(reading, origin, eventsOf(message.root, hello.hello), context);
}

function deviceName({ model, serial }: Hello): string {
  return [model, serial].join(" ").trim().slice(0, 200) || "POCT1-A device";
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
 * Returns whether a message holds all of a cut one: the same bytes of the same device after a new header. A cut before
 * the time names no measurement.
 */
export function continues(message: Uint8Array, incomplete: Uint8Array): boolean {
  const [whole, part] = [message, incomplete].map((bytes) => Buffer.from(bytes).toString("latin1"));
  const [device, rest] = [deviceOf(message), afterHeader(part!)];
  return device !== null && device === deviceOf(incomplete) && TIMED.test(rest) && afterHeader(whole!).startsWith(rest);
}

const TIMED = /<SVC\.observation_dttm\s[^<>]*>/;

/** Returns the text after the second document's header, in which a resend differs. */
function afterHeader(message: string): string {
  const [, , body = ""] = message.split("</HDR>", 3);
  return body;
}

function deviceOf(message: Uint8Array): string | null {
  const { hello } = split(message);
  return hello?.is === "hello" ? hello.hello.name : null;
}

function readObservations(
  message: Message,
  hello: Hello,
  profile: Poct1Profile,
  context: ReadContext,
  documentNotes: readonly string[],
): Reading {
  const services = children(message.root, "SVC");
  if (services.length === 0) return { is: "quarantined", reason: "no SVC: unknown measurement" };
  const controls = services.map((service) => controlReason(message.root, service));
  // The other services of the document name their patients themselves.
  const isNobodys = services.some(
    (service, index) =>
      controls[index] === null && children(service, "PT").length === 0 && all(service, "OBS").length > 0,
  );
  const nobodys = isNobodys ? [NOBODYS] : [];
  const samples = services.flatMap((service, index) => {
    const control = controls[index];
    if (control === null || control === undefined) {
      return children(service, "PT").flatMap((patient) =>
        specimensOf(patient, hello).map((observations) => sampleOf(service, patient, observations, hello)),
      );
    }
    return control.isMaterial ? [controlSampleOf(service, hello)] : [];
  });
  const notes = [...documentNotes, ...nobodys, ...new Set(controls.flatMap((control) => control?.reason ?? []))];
  return readSamples(samples, notes, { ...profile, decimalComma: false }, context, (_, found) => {
    if (isNobodys) return { is: "quarantined", reason: NOBODYS };
    return { is: "not-for-patients", reason: found.length > 0 ? found.join("; ") : "no results" };
  });
}

/** Makes the sample of control material. Its observations are in CTC, or in PT if the device sends them as a patient's. */
function controlSampleOf(service: Element, hello: Hello): Sample {
  const [material] = all(service, "CTC");
  const subject = material ?? child(service, "PT") ?? service;
  const text = (field: string) => textOf(subject, `CTC.${field}`);
  const sample = sampleOf(service, subject, all(service, "OBS"), hello);
  const control = {
    material: text("name"),
    level: text("level_cd"),
    lot: text("lot_number"),
    expires: text("expiration_date"),
  };
  return { ...sample, control };
}

/**
 * Returns why the service is not for a patient; null if it is. Root, subject and role all have to indicate a patient:
 * some devices contradict themselves, and a control lot may look like a patient id. Only a name outweighs a control's number.
 */
function controlReason(
  root: Element,
  service: Element,
): { readonly reason: string; readonly isMaterial: boolean } | null {
  const roles = all(service, "SVC.role_cd").map((role) => attribute(role, "V"));
  const [control] = all(service, "CTC");
  const typed = [...values(service, "PT.patient_id"), ...values(service, "SPC.specimen_id")];
  const named = all(service, "PT.name").flatMap((name) => all(name, "FAM").concat(all(name, "GIV"), name));
  const material = controlName(
    named.map((part) => attribute(part, "V")),
    typed,
  );
  const reasons = [
    ...(root.name === "OBS.R01" ? [] : [short(root.name)]),
    ...roles.filter((role) => role !== "" && role !== "OBS").map((role) => `role ${short(role)}`),
    ...(control === undefined ? [] : [`control material, lot ${short(textOf(control, "CTC.lot_number"))}`]),
    ...(material === null ? [] : [`control material ${short(material)}`]),
  ];
  if (reasons.length === 0) return null;
  const given = roles.filter((role) => role !== "" && role !== "OBS");
  const isOfMaterial =
    given.some((role) => MATERIAL_ROLES.includes(role)) || control !== undefined || material !== null;
  const isMaterial =
    isOfMaterial && given.every((role) => MATERIAL_ROLES.includes(role)) && !saysCalibration(material ?? "");
  return { reason: `not of a patient: ${reasons.join(", ")}`, isMaterial };
}

/** Separates the observations of a device's urine cartridge from the others, which are of blood. */
function specimensOf(patient: Element, hello: Hello): readonly (readonly Element[])[] {
  const isUrine = (observation: Element) => urineAnalyteOf(hello, namesOf(observation)) !== null;
  const observations = children(patient, "OBS");
  const urine = observations.filter(isUrine);
  const others = observations.filter((observation) => !isUrine(observation));
  return [others, urine].filter((each) => each.length > 0);
}

function sampleOf(service: Element, patient: Element, observations: readonly Element[], hello: Hello): Sample {
  const [typed, sequence] = [textOf(patient, "PT.patient_id"), textOf(service, "SVC.sequence_nbr")];
  const specimen = ["SPC.specimen_id", "ORD.order_id"].map((field) => sampleNumber(service, patient, field));
  const times = [
    textOf(service, "SVC.observation_dttm"),
    ...observations.map((observation) => textOf(observation, "OBS.observation_dttm")),
    textOf(service, "SPC.specimen_dttm"),
  ];
  const results = observations.map((observation) => deviceResult(observation, hello));
  const number = NOBODY.test(typed) ? "" : identifier(typed);
  const specimenType = textOf(service, "SPC.type_cd"); // HL7 table 0070
  return {
    device_name: deviceName(hello),
    identifier: hintText(number),
    otherIdentifiers: specimen.filter((id) => id !== ""),
    sampleIds: specimen.map((id) => sampleId([id])),
    patient_hint: patientHint(patient, typed),
    // Several devices may share a port, and a sequence number counts per device.
    patient: [typed, hello.name, sequence],
    specimen,
    times: { results: [...new Set(times.map(compactTime))], order: [], sent: "" },
    urine: /^UR/i.test(specimenType) || observations.some((each) => urineAnalyteOf(hello, namesOf(each)) !== null),
    blood: /^(?:BL|WB|SER|PLAS)/i.test(specimenType),
    results,
    notes: [
      ...statusNotes(service),
      ...observations.flatMap((observation, index) => observationNotes(observation, results[index]!)),
      ...twinNotes(results),
    ],
    comments: comments(service),
  };
}

/** Returns the patient's own number, or that of the service if it has one patient: it may be the order of another animal. */
function sampleNumber(service: Element, patient: Element, field: string): string {
  const isShared = children(service, "PT").length > 1;
  return textOf(patient, field) || (isShared ? "" : textOf(service, field));
}

function statusNotes(service: Element): string[] {
  const status = textOf(service, "SVC.status_cd");
  return status === "" || status === "NRM" ? [] : [`the measurement has status ${short(status)}`];
}

/** Comments for the Report: reagents, notes and prompts. */
function comments(service: Element): string[] {
  const reagents = all(service, "RGT").map(
    (reagent) => `reagent ${textOf(reagent, "RGT.name")} lot ${textOf(reagent, "RGT.lot_number")}`,
  );
  const prompts = all(service, "RSN").map((prompt) =>
    [textOf(prompt, "RSN.apoc_prompt"), textOf(prompt, "RSN.apoc_content")].join(": "),
  );
  const about = all(service, "OBS").flatMap((observation) =>
    [...notesOf(observation), ...gradeOf(observation)].map(
      (note) => `${namesOf(observation)[0] ?? "(no code)"}: ${note}`,
    ),
  );
  return [...reagents, ...prompts, ...notesOf(service), ...about];
}

/** Returns the qualitative value that accompanies a quantitative one. */
function gradeOf(observation: Element): string[] {
  const grade = textOf(observation, "OBS.qualitative_value");
  return grade === "" || textOf(observation, "OBS.value") === "" ? [] : [grade];
}

function patientHint(patient: Element, typed: string): PatientHint {
  const name = child(patient, "PT.name");
  const [family, given] = [attribute(child(name, "FAM"), "V"), attribute(child(name, "GIV"), "V")];
  // As in PID-5: two parts are owner and patient, a single one is the patient.
  const two = family !== "" && given !== "";
  const weight = child(patient, "PT.weight");
  const kilograms = readValue(attribute(weight, "V"), { decimalComma: false });
  return {
    identifier: hintText(identifier(typed)),
    name: hintText(two ? given : family || given || attribute(name, "V")),
    species: null, // POCT1-A has no species
    breed: null,
    sex: hintText(textOf(patient, "PT.gender_cd")),
    owner: two ? hintText(family) : null,
    date_of_birth: readDate(compactTime(textOf(patient, "PT.birth_date"))),
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
