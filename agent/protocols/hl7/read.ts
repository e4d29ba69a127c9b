import type { PatientHint } from "../../../shared/api/study.ts";
import { firstFilled, given, sent } from "../field-text.ts";
import { refusalOf } from "./acknowledgement.ts";
import { isResultType } from "./message-types.ts";
import { parseMessage } from "./message.ts";
import { deviceResult, isWeight, type ObservationRow, title, valueOf } from "./observation.ts";
import { collectGroups, type OrderGroup, orderTimes, specimenIds } from "./order-groups.ts";
import type { Hl7Profile } from "./profile.ts";
import type { ReadContext, Reading } from "../../report/report.ts";
import { hintText, readSamples, type Sample } from "../../report/specimen.ts";
import { readDate } from "../../report/device-time.ts";
import type { Segment } from "./segment.ts";

// Reads HL7 v2 segments into samples, without those that are not for patients.

/** MSH-11 (table 0103; Q is Mindray's): only production messages become studies. */
const NOT_PRODUCTION: Readonly<Record<string, string>> = { T: "training", D: "debugging", Q: "quality control" };
/** MSH-16 of Mindray and Zybio, in place of the standard's AL, NE, ER or SU. */
const NOT_OF_PATIENTS: Readonly<Record<string, string>> = { "1": "calibration", "2": "quality control" };
/** OBR-15 and SPM-4, specimen type: `UR^Urine^HL70487`. */
const URINE = /^(u|ur|urine?)$/i;

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

function sampleOf(group: OrderGroup, header: Segment, profile: Hl7Profile): Sample {
  const { patient, order, specimen, container, rows, comments } = group;
  const results = rows.filter((row) => row.is === "result");
  const remarks = rows.filter((row) => row.is === "remark" && valueOf(row.obx) !== "");
  const data = rows.filter((row) => row.is === "data").map(({ obx }) => title(obx));
  const typed = [2, 3, 4].map((field) => sent(patient, field));
  return {
    device_name: profile.device_name ?? deviceName(header),
    ...identifiers(group),
    sampleIds: sampleIds(group),
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

/** Reads MSH-3, sending application: the first component is the name. */
function deviceName(header: Segment): string {
  return given(header.component(3, 1)).slice(0, 200) || "HL7 analyzer";
}

/**
 * Reads PID-3, the identifier list, then PID-2, the former external id. PID-4 may be a cage and never matches alone.
 */
function identifiers({ patient, order, specimen, container }: OrderGroup) {
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

/** Returns OBR-2, OBR-3, both parts of SPM-2, and SAC-3, each without its namespace. */
function sampleIds({ order, specimen, container }: OrderGroup): string[] {
  const fields = [
    order?.components(2),
    order?.components(3),
    specimen?.subcomponents(2, 1),
    specimen?.subcomponents(2, 2),
    container?.components(3),
  ];
  return fields.map((components) => firstFilled(components));
}

/** Returns the first component of each repetition. */
function firsts(segment: Segment | null, field: number): string[] {
  return (segment?.repetitions(field) ?? []).map(([first = ""]) => given(first)).filter(Boolean);
}

function patientHint(group: OrderGroup, profile: Hl7Profile): PatientHint {
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

function valueOfRow(rows: readonly ObservationRow[], isIt: (obx: Segment) => boolean): string {
  const row = rows.find(({ obx }) => isIt(obx));
  return row === undefined ? "" : valueOf(row.obx);
}

function weight(rows: readonly ObservationRow[]): number | null {
  const value = valueOfRow(rows, (obx) => isWeight(obx) && /^kg$/i.test(given(obx.component(6, 1))));
  return /^\d{1,4}(\.\d+)?$/.test(value) ? Number(value) : null;
}
