import { readDate } from "../../report/device-time.ts";
import { controlName, given } from "../field-text.ts";
import { saysCalibration, saysControl } from "../remarks.ts";
import type { Hl7Profile } from "./profile.ts";
import type { Segment } from "./message/segment.ts";

// Quality control, calibration and training: every place where HL7 or a device marks a result as not a patient's.
// A code of the standard decides alone. A typed sample number decides only if the message names nobody else, so that no
// patient's result is hidden.

/** MSH-11 (table 0103; Q is Mindray's): only production messages become studies. */
const NOT_PRODUCTION: Readonly<Record<string, string>> = { T: "training", D: "debugging", Q: "quality control" };
/** MSH-16 of Mindray and Zybio, in place of the standard's AL, NE, ER or SU. */
const NOT_OF_PATIENTS: Readonly<Record<string, string>> = { "1": "calibration", "2": "quality control" };

/** SPM-11 and OBR-15.7, specimen role (table 0369). */
const CONTROL_ROLES: Readonly<Record<string, string>> = {
  B: "a blind sample",
  C: "a calibrator",
  E: "electronic quality control",
  F: "a proficiency sample",
  O: "a proficiency sample",
  Q: "a control",
  V: "a verifying calibrator",
};

/** Roles of control material. The others are of calibration and of schemes between laboratories. */
const MATERIAL_ROLES = ["E", "Q"];

/** OBR-4 of control programs: `00003^LJ QCR^99MRC` (Mindray), `LQC` and `PRF` (liquid control and proficiency, HemoScreen). */
const CONTROL_ORDER = /\bQCR\b|(^|\^)(LQC|PRF)(\^|$)/;
/** OBR-4 of results that no control material was measured for: means of runs and of patients (Mindray), and proficiency. */
const COMPUTED_ORDER = /\bMean\b|\bX-?B\b|(^|\^)PRF(\^|$)/i;

/** Notes of a control run: `QCName:Negative`, `QCResult:PASS`. */
const CONTROL_NOTE = /\bQCR?(Name|Level|Lot|Expiry|Result) ?:/i;

/** Why an order or a message is not for a patient. */
export interface NotForPatient {
  readonly reason: string;
  /** Its results are of control material. */
  readonly isControl: boolean;
}

/** Returns whether a person only tries the device (MSH-11): its lots and faults are not the clinic's. */
export function isTraining(header: Segment, { patientProcessing }: Hl7Profile): boolean {
  const processing = given(header.component(11, 1));
  return /^[TD]$/i.test(processing) && patientProcessing?.test(processing) !== true;
}

/** Returns why no result of the message is for a patient, by its header; null for a patient's. */
export function purposeOf(header: Segment, { patientProcessing }: Hl7Profile): NotForPatient | null {
  const [processing, kind] = [given(header.component(11, 1)), given(header.field(16))];
  const [code, isCalibration] = [processing.toUpperCase(), kind === "1"];
  const purpose = NOT_PRODUCTION[code];
  if (purpose !== undefined && patientProcessing?.test(processing) !== true) {
    return { reason: `${purpose} (MSH-11 is ${processing})`, isControl: code === "Q" && !isCalibration };
  }
  if (!Object.hasOwn(NOT_OF_PATIENTS, kind)) return null;
  return { reason: `${NOT_OF_PATIENTS[kind]} (MSH-16 is ${kind})`, isControl: !isCalibration };
}

export interface OrderSegments {
  readonly header: Segment | null;
  readonly patient: Segment | null;
  readonly order: Segment | null;
  readonly specimen: Segment | null;
  readonly container: Segment | null;
}

/** Returns why an order and its results are not for a patient; null for a patient's. */
export function controlOf(segments: OrderSegments, profile: Hl7Profile): NotForPatient | null {
  const { patient, order, specimen } = segments;
  const roles = [specimen?.component(11, 1) ?? "", order?.subcomponents(15, 7)[0] ?? ""].map((role) =>
    given(role).toUpperCase(),
  );
  const role = roles.find((each) => Object.hasOwn(CONTROL_ROLES, each));
  if (role !== undefined) {
    const reason = `the specimen is ${CONTROL_ROLES[role]}: not for a patient`;
    return { reason, isControl: MATERIAL_ROLES.includes(role) };
  }
  const service = order?.field(4) ?? "";
  const services = order?.repetitions(4) ?? [];
  const isMaterial = isMaterialOrder(order);
  if (CONTROL_ORDER.test(service) || (services.length > 0 && services.every((parts) => saysControl(parts.join(" "))))) {
    return { reason: `order ${service} is quality control: not for a patient`, isControl: isMaterial };
  }
  if (profile.notForPatients?.test(service) === true) {
    return { reason: `order ${service} is not for a patient`, isControl: saysControl(service) && isMaterial };
  }
  const ofControl = (reason: string) => ({ reason, isControl: isMaterial });
  const lot = profile.controlLot === true ? lotOf(segments) : null;
  if (lot !== null) return ofControl(`${lot} is the lot of a control: not for a patient`);
  const sample = controlSample(segments);
  if (sample !== null) {
    const reason = `sample ${sample} is a control: not for a patient`;
    return { reason, isControl: isMaterial && !saysCalibration(sample) };
  }
  const isAnonymous = profile.controlWithoutPatient === true && patient === null && order !== null;
  return isAnonymous && !roles.includes("P") ? ofControl("without a PID it is a control: not for a patient") : null;
}

/** Returns whether the order's results were measured, not computed from others or for a calibration. */
function isMaterialOrder(order: Segment | null): boolean {
  const service = order?.field(4) ?? "";
  return !COMPUTED_ORDER.test(service) && !saysCalibration(service);
}

/** Returns PID-3 if the birthday is after the message, as the end of a control's validity; null for a patient's. */
export function lotOf({ header, patient }: OrderSegments): string | null {
  const [born, sent] = [patient?.component(7, 1), header?.component(7, 1)].map((text) => readDate(text ?? ""));
  const lot = given(patient?.component(3, 1) ?? "");
  return lot !== "" && born != null && sent != null && born > sent ? lot : null;
}

/** Returns the sample number that names a control; null without one, or if the PID names anyone else. */
function controlSample({ patient, order, specimen, container }: OrderSegments): string | null {
  const numbers = [2, 3].flatMap((field) => patient?.repetitions(field) ?? []).map(([first = ""]) => first);
  const samples = [order?.component(2, 1), order?.component(3, 1), specimen?.subcomponents(2, 1)[0]];
  const typed = [...samples, container?.component(3, 1)].map((text) => given(text ?? ""));
  return controlName([...numbers, ...(patient?.components(5) ?? [])].map(given), typed);
}

/**
 * Returns the segments whose own notes name quality control: PID, OBR, an SPM before its orders, or the header. An OBX belongs
 * to the segment before it, and so does its note. `true`: the note is of control material.
 */
export function controlNotes(
  segments: readonly Segment[],
  isSpecimenFirst: boolean,
  { notForPatients }: Hl7Profile,
): ReadonlyMap<Segment | null, boolean> {
  const found = new Map<Segment | null, boolean>();
  let owner = segments[0] ?? null;
  for (const segment of segments) {
    const { name } = segment;
    if (name === "PID" || name === "OBR" || (name === "SPM" && isSpecimenFirst)) owner = segment;
    if (name !== "NTE") continue;
    const text = segment.field(3);
    const isOfMaterial = isControlNote(text);
    if (isOfMaterial || notForPatients?.test(text) === true)
      found.set(owner, isOfMaterial || found.get(owner) === true);
  }
  return found;
}

/** Returns whether a note names the control material or the device's verdict. */
export function isControlNote(note: string): boolean {
  return CONTROL_NOTE.test(note);
}
