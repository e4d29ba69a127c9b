import type { PatientHint } from "../../../shared/api/study.ts";
import { refusalOf } from "./acknowledgement.ts";
import { type Hl7Message, parseMessage, type Segment } from "./message.ts";
import type { Hl7Profile } from "./profile.ts";
import type { DeviceResult, ReadContext, Reading } from "../../report/report.ts";
import { firstTime, hintText, readSamples, type Sample } from "../../report/specimen.ts";
import { readDate } from "../../report/device-time.ts";

// Reads HL7 v2 segments into samples, without those that are not for patients.

/** MSH-11 (table 0103; Q is Mindray's): only production messages become studies. */
const NOT_PRODUCTION: Readonly<Record<string, string>> = { T: "training", D: "debugging", Q: "quality control" };
/** MSH-16 of Mindray and Zybio, in place of the standard's AL, NE, ER or SU. */
const NOT_OF_PATIENTS: Readonly<Record<string, string>> = { "1": "calibration", "2": "quality control" };
/** SPM-11, specimen role (table 0369). */
const CONTROL_ROLES: Readonly<Record<string, string>> = {
  B: "a blind sample",
  C: "a calibrator",
  E: "electronic quality control",
  F: "a proficiency sample",
  O: "a proficiency sample",
  Q: "a control",
  V: "a verifying calibrator",
};
/** OBR-4 of Mindray's control programs: `00003^LJ QCR^99MRC`. */
const CONTROL_ORDER = /\bQCR\b/;

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

/** OBR-15 and SPM-4, specimen type: `UR^Urine^HL70487`. */
const URINE = /^(u|ur|urine?)$/i;
const LOINC = /^\d{1,7}-\d$/;

/** Returns whether messages of this type (MSH-9) carry results. */
export function isResultType(type: string): boolean {
  return /^(ORU|OUL|OPU)\b/i.test(type.trim());
}

/** Reads one message. */
export function readHl7(bytes: Uint8Array, profile: Hl7Profile, context: ReadContext): Reading {
  const message = parseMessage(bytes, profile.link);
  if ("problem" in message) return { is: "quarantined", reason: message.problem };
  const { header, segments, charset, replacements } = message;
  const refusal = refusalOf(message, profile.link);
  if (refusal !== null) return { is: "quarantined", reason: refusal };
  const sender = `${header.field(3)}|${header.field(4)}`;
  if (profile.sender !== undefined && !profile.sender.test(sender)) {
    return { is: "quarantined", reason: `the sender is "${sender}", not what profile ${profile.id} reads` };
  }
  const purpose = purposeOf(header);
  if (purpose !== null) return { is: "not-for-patients", reason: purpose };
  const type = header.components(9).slice(0, 2).map(given).join("^");
  const isAlarm = /^ORU\^R40$/i.test(type);
  if (!isResultType(type) || isAlarm) {
    return { is: "not-for-patients", reason: `${isAlarm ? "an alarm" : "no results"} (MSH-9 is ${type})` };
  }

  const { groups, notes } = collectGroups(message, profile, context);
  const samples = groups.map((group) => sampleOf(group, header, profile));
  if (replacements > 0) notes.push(`${replacements} characters that ${charset} does not have`);
  const reading = readSamples(samples, notes, profile, context);
  if (reading !== null) return reading;
  const nothing = segments.some(({ name }) => name === "OBX") ? "no results besides" : "no results";
  return { is: "not-for-patients", reason: notes.length > 0 ? notes.join("; ") : nothing };
}

function purposeOf(header: Segment): string | null {
  const [processing, kind] = [given(header.component(11, 1)), given(header.field(16))];
  const purpose = NOT_PRODUCTION[processing.toUpperCase()];
  if (purpose !== undefined) return `${purpose} (MSH-11 is ${processing})`;
  return Object.hasOwn(NOT_OF_PATIENTS, kind) ? `${NOT_OF_PATIENTS[kind]} (MSH-16 is ${kind})` : null;
}

/** An OBX and its notes. */
interface Row {
  readonly obx: Segment;
  readonly is: "result" | "remark" | "data";
  readonly notes: string[];
}

/** Max notes of one patient; each of its samples repeats them. Further notes are dropped. */
const PATIENT_NOTES_MAX = 100;

/** Orders of one sample of one patient, with their results. */
interface Group {
  readonly patient: Segment | null;
  readonly order: Segment | null;
  readonly specimen: Segment | null;
  readonly container: Segment | null;
  readonly rows: Row[];
  readonly comments: string[];
}

/**
 * Groups the segments by the message structure: OBX belongs to the last OBR, OBR to the last PID, NTE to the last
 * segment.
 */
function collectGroups(
  { segments }: Hl7Message,
  profile: Hl7Profile,
  context: ReadContext,
): { groups: Group[]; notes: string[] } {
  const groups = new Map<string, Group>();
  const notes: string[] = [];
  const place = (name: string) => segments.findIndex((segment) => segment.name === name);
  // OUL^R22 has the specimen before its orders, ORU^R01 and OUL^R24 behind each.
  const specimenFirst = place("SPM") >= 0 && place("SPM") < place("OBR");
  let patients = 0;
  let patient: Segment | null = null;
  let order: Segment | null = null;
  let specimen: Segment | null = null;
  let container: Segment | null = null;
  let current: Group | null = null;
  let skipping = false;
  let ofPatient: string[] = [];

  const begin = () => {
    current = null;
    const control = controlOf(order, specimen);
    skipping = control !== null;
    if (control !== null) notes.push(control);
  };
  const group = (): Group => {
    if (current !== null) return current;
    // Orders of one tube at one time are one study, though many analyzers send an OBR per test. A PID without any
    // identifier is a patient of its own.
    const named = [2, 3, 4].map((field) => sent(patient, field));
    const animal = named.some((field) => field !== "") ? named.join("|") : patients;
    const time = firstTime(orderTimes(order, specimen), context) ?? "";
    const key = [animal, ...specimenIds(order, specimen, container), time, sent(specimen, 4)].join("|");
    current = groups.get(key) ?? { patient, order, specimen, container, rows: [], comments: [...ofPatient] };
    groups.set(key, current);
    return current;
  };

  for (const [index, segment] of segments.entries()) {
    switch (segment.name) {
      case "PID":
        patient = segment;
        patients += 1;
        order = specimen = container = null;
        ofPatient = [];
        begin();
        break;
      case "SPM":
        if (!specimenFirst) break;
        specimen = segment;
        order = null;
        container = following(segments, index, "SAC");
        begin();
        break;
      case "OBR":
        order = segment;
        if (!specimenFirst) {
          specimen = following(segments, index, "SPM");
          container = following(segments, index, "SAC");
        }
        begin();
        break;
      case "OBX":
        if (!skipping) group().rows.push({ obx: segment, is: kindOf(segment, profile), notes: [] });
        break;
      case "NTE": {
        const text = filled(segment.repetitions(3), " ").join(" ");
        if (skipping || text === "") break;
        const open: Group | null = current;
        if (open === null && order === null) ofPatient = [...ofPatient, text].slice(0, PATIENT_NOTES_MAX);
        else (group().rows.at(-1)?.notes ?? group().comments).push(text);
        break;
      }
      default:
        break;
    }
  }
  return { groups: [...groups.values()], notes };
}

/** Returns the segment of this name that belongs to the order or specimen at `index`. */
function following(segments: readonly Segment[], index: number, name: string): Segment | null {
  const own = segments[index]?.name ?? "";
  for (let at = index + 1; at < segments.length; at++) {
    const segment = segments[at]!;
    if (segment.name === name) return segment;
    if (segment.name === own || segment.name === "PID") break;
  }
  return null;
}

function controlOf(order: Segment | null, specimen: Segment | null): string | null {
  const role = given(specimen?.component(11, 1) ?? "").toUpperCase();
  if (Object.hasOwn(CONTROL_ROLES, role)) return `the specimen is ${CONTROL_ROLES[role]}: not for a patient`;
  const service = order?.field(4) ?? "";
  return CONTROL_ORDER.test(service) ? `order ${service} is quality control: not for a patient` : null;
}

function sampleOf(group: Group, header: Segment, profile: Hl7Profile): Sample {
  const { patient, order, specimen, container, rows, comments } = group;
  const results = rows.filter((row) => row.is === "result");
  const remarks = rows.filter((row) => row.is === "remark" && valueOf(row.obx) !== "");
  const data = rows.filter((row) => row.is === "data").map(({ obx }) => title(obx));
  const typed = [2, 3, 4].map((field) => sent(patient, field));
  return {
    device_name: profile.device_name ?? deviceName(header),
    ...identifiers(group),
    patient_hint: patientHint(group, profile),
    patient: typed.some((number) => number !== "") ? typed : [sent(patient, 5)],
    specimen: specimenIds(order, specimen, container),
    times: {
      results: results.flatMap(({ obx }) => [given(obx.component(19, 1)), given(obx.component(14, 1))]), // analysed, observed
      order: orderTimes(order, specimen),
      sent: given(header.component(7, 1)),
    },
    urine: [specimen?.components(4) ?? [], order?.subcomponents(15, 1) ?? []]
      .flat()
      .some((word) => URINE.test(given(word))),
    results: results.map((row) => deviceResult(row, order, profile)),
    notes: data.length === 0 ? [] : [`kept in the message, not read: ${data.join(", ")}`],
    comments: [
      ...comments,
      ...remarks.map(({ obx }) => `${title(obx)}: ${valueOf(obx)}`),
      ...rows.flatMap(({ obx, notes }) => notes.map((note) => `${title(obx)}: ${note}`)),
    ],
  };
}

/**
 * Returns the kind of a row. Remarks are rows that the profile lists, the patient's weight, and alarms (coded rows with
 * T or F).
 */
function kindOf(obx: Segment, { remarks, speciesRow }: Hl7Profile): Row["is"] {
  if (DATA_TYPES.includes(valueType(obx))) return "data";
  const code = obx.field(3);
  const isKnown = remarks?.test(code) === true || speciesRow?.test(code) === true || isWeight(obx);
  return isKnown || (valueType(obx) === "IS" && /^[TF]$/i.test(valueOf(obx))) ? "remark" : "result";
}

/** Returns whether the row is the patient's weight, which practices send as an observation. */
function isWeight(obx: Segment): boolean {
  return obx.component(3, 1) === "3141-9";
}

/** Returns the row's name for a sentence. */
function title(obx: Segment): string {
  const [code = "", name = ""] = obx.components(3).map(given);
  return name || code || "(no code)";
}

function deviceResult({ obx, notes }: Row, order: Segment | null, profile: Hl7Profile): DeviceResult {
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
function valueOf(obx: Segment): string {
  const type = valueType(obx);
  const [first = "", second = "", third = ""] = obx.components(5).map(given);
  // Comparator, number, separator, number: `<^0.2`, `^2^+`.
  if (type === "SN") return obx.components(5).map(given).join("");
  // The text of a coded value is the result. Bionote writes the result in place of the coding system.
  if (CODED_TYPES.includes(type)) return second || (third === "" ? first : third);
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

/** Returns a field as sent; "" for a field of blanks, delimiters or `""`, the standard's null. */
function sent(segment: Segment | null, field: number): string {
  const raw = segment?.raw(field) ?? "";
  return /[\p{L}\p{N}]/u.test(raw) ? raw : "";
}

/** Trims a text. @returns "" for the standard's null */
function given(text: string): string {
  const trimmed = text.trim();
  return trimmed === '""' ? "" : trimmed;
}

/** Joins the filled components of each repetition, without empty repetitions. */
function filled(repetitions: readonly (readonly string[])[], joint: string): string[] {
  return repetitions.map((parts) => parts.map(given).filter(Boolean).join(joint)).filter(Boolean);
}

/** OBR-7 observed, SPM-17 collected, OBR-14 received, OBR-6 requested. */
function orderTimes(order: Segment | null, specimen: Segment | null): string[] {
  return [order?.component(7, 1), specimen?.component(17, 1), order?.component(14, 1), order?.component(6, 1)].map(
    (time) => given(time ?? ""),
  );
}

/**
 * Returns the placer's and filler's number (OBR-2, OBR-3), and those of specimen and container (SPM-2, SAC-3), as sent.
 */
function specimenIds(order: Segment | null, specimen: Segment | null, container: Segment | null): string[] {
  return [sent(order, 2), sent(order, 3), sent(specimen, 2), sent(container, 3)];
}

/** Reads MSH-3, sending application: the first component is the name. */
function deviceName(header: Segment): string {
  return given(header.component(3, 1)).slice(0, 200) || "HL7 analyzer";
}

/**
 * Reads PID-3, the identifier list, then PID-2, the former external id. PID-4 may be a cage and never matches alone.
 */
function identifiers({ patient, order, specimen, container }: Group) {
  const firsts = (segment: Segment | null, field: number) =>
    (segment?.repetitions(field) ?? []).map(([first = ""]) => given(first)).filter(Boolean);
  const typed = [...firsts(patient, 3), ...firsts(patient, 2)];
  const specimens = [
    order?.components(2),
    order?.components(3),
    specimen?.subcomponents(2, 1),
    container?.components(3),
  ];
  const others = specimens.flatMap((parts) => parts ?? []).map(given);
  return {
    identifier: typed[0] ?? null,
    otherIdentifiers: [...typed.slice(1), ...firsts(patient, 4), ...others.filter(Boolean)],
  };
}

function patientHint(group: Group, profile: Hl7Profile): PatientHint {
  const { patient, rows } = group;
  const text = (field: number) => given(patient?.component(field, 1) ?? "");
  // PID-5: two components are owner and patient, a single one is the patient.
  const [first = "", second = ""] = patient?.components(5).map(given) ?? [];
  const [code = "", words = ""] = patient?.components(35).map(given) ?? [];
  const stated = patient === null || profile.species === undefined ? words || code : given(profile.species(patient));
  const [breedCode = "", breed = ""] = patient?.components(36).map(given) ?? [];
  const owner = patient === null ? "" : given(profile.owner?.(patient) ?? "");
  return {
    identifier: hintText(identifiers(group).identifier ?? ""),
    name: hintText(second === "" ? first : second),
    species: hintText(stated || valueOfRow(rows, (obx) => profile.speciesRow?.test(obx.field(3)) === true)),
    breed: hintText(breed || breedCode),
    sex: hintText(text(8)),
    owner: hintText(owner || (second === "" ? "" : first)),
    date_of_birth: readDate(text(7)),
    weight_kg: weight(rows),
  };
}

function valueOfRow(rows: readonly Row[], isIt: (obx: Segment) => boolean): string {
  const row = rows.find(({ obx }) => isIt(obx));
  return row === undefined ? "" : valueOf(row.obx);
}

function weight(rows: readonly Row[]): number | null {
  const value = valueOfRow(rows, (obx) => isWeight(obx) && /^kg$/i.test(given(obx.component(6, 1))));
  return /^\d{1,4}(\.\d+)?$/.test(value) ? Number(value) : null;
}
