import type { PatientHint } from "../../../shared/api/study.ts";
import type { Sample } from "../../report/sample.ts";
import { agreedSpecies, given, identifier, nameOfDevice, sampleId, sent } from "../field-text.ts";
import { refusalOf } from "./message/acknowledgement.ts";
import { isControlNote, isTraining, purposeOf } from "./control.ts";
import { materialOf, verdictOf } from "./control-material.ts";
import { eventsOf, peopleOf } from "./events.ts";
import { otherField, otherTexts } from "../other-texts.ts";
import { saysControl } from "../remarks.ts";
import { isEmpty, isResultType, typeAndTrigger } from "./message/message-types.ts";
import { type Hl7Message, parseMessage } from "./message/message.ts";
import { deviceResult, isWeight, type ObservationRow, title, valueOf } from "./observation.ts";
import { collectGroups, isBlood, isUrine, type OrderGroup, orderTimes, specimenIds } from "./order-groups.ts";
import type { Hl7Profile, PatientFields } from "./profile.ts";
import { readRegistry, type RegistryReading } from "./registry/read.ts";
import { withEvents } from "../../report/device-event.ts";
import type { DeviceResult, ReadContext, Reading } from "../../report/report.ts";
import { hintText, readSamples } from "../../report/specimen.ts";
import { readDate } from "../../report/device-time.ts";
import { readSpecies } from "../../../shared/clinical/species.ts";
import { Segment, STANDARD_DELIMITERS } from "./message/segment.ts";

// Reads HL7 v2 segments into patients' samples. Other results are left out.

export function readHl7(bytes: Uint8Array, profile: Hl7Profile, context: ReadContext): Reading {
  const message = parseMessage(bytes, profile.link);
  if ("problem" in message) return { is: "quarantined", reason: message.problem };
  const reading = readMessage(message, profile, context);
  if (profile.registry !== undefined || isTraining(message.header, profile)) return reading;
  const deviceName = profile.device_name ?? senderName(message.header, profile);
  return withEvents(reading, { deviceName, people: peopleOf(message) }, eventsOf(message), context);
}

function readMessage(message: Hl7Message, profile: Hl7Profile, context: ReadContext): Reading {
  const { header, segments, charset, utf8Under, cutShort, replacements } = message;
  if (profile.registry !== undefined) return registryReading(readRegistry(message, profile.registry, context));
  const refusal = refusalOf(message, profile.link);
  if (refusal !== null) return { is: "quarantined", reason: refusal };
  const sender = `${given(header.field(3))}|${given(header.field(4))}`;
  // A sign of life has nothing that a table applies to.
  if (!isEmpty(message) && sender !== "|" && profile.sender?.test(sender) === false && !namesModel(segments, profile)) {
    return { is: "quarantined", reason: `the sender is "${sender}", not what profile ${profile.id} reads` };
  }
  const purpose = purposeOf(header, profile);
  const type = typeAndTrigger(header).map(given).join("^");
  const isAlarm = /^ORU\^R40$/i.test(type);
  const hasResults = isResultType(type) && !isAlarm;
  if (purpose !== null) {
    const noPatients = { is: "not-for-patients", reason: purpose.reason } as const;
    // A cut message would be a second run of its resend, without some of its values.
    if (!purpose.isControl || !hasResults || cutShort !== null) return noPatients;
    const { groups: controls } = collectGroups(message, profile, context, true);
    const material = controls.map((group) => sampleOf(group, header, profile));
    return readSamples(material, [], profile, context, () => noPatients);
  }
  if (!hasResults) {
    return { is: "not-for-patients", reason: `${isAlarm ? "an alarm" : "no results"} (MSH-9 is ${type})` };
  }

  const { groups, notes } = collectGroups(message, profile, context);
  const damage = groups
    .filter(({ isControl }) => !isControl)
    .map(({ rows }) => profile.damage?.(rows.map(({ obx }) => obx)) ?? null)
    .find((reason) => reason !== null);
  if (damage !== undefined) return { is: "quarantined", reason: damage };
  const samples = groups.map((group) => sampleOf(group, header, profile));
  if (replacements > 0) notes.push(`${replacements} characters that ${charset} does not have`);
  if (cutShort !== null) notes.push(cutShort);
  if (utf8Under !== null) notes.push(`the text is UTF-8, though ${utf8Under} is declared`);
  return readSamples(samples, notes, profile, context, (patients, all) => {
    const nothing = segments.some(({ name }) => name === "OBX") ? "no other results" : "no results";
    const controls = patients.flatMap(({ comments }) => comments).filter(saysControl);
    const reasons = [...all, ...controls, ...patients.flatMap(({ settings = [] }) => settings)];
    const reason = reasons.length > 0 ? reasons.join("; ") : nothing;
    return { is: cutShort === null ? "not-for-patients" : "quarantined", reason };
  });
}

/** The fields in which a device names itself whatever the clinic calls it: the service, the software, the instrument. */
const MODEL_FIELDS: Readonly<Record<string, readonly number[]>> = { OBR: [4], SFT: [1, 2, 4], EQU: [1, 4] };

/**
 * Returns whether a segment names the profile's model, which the sender, a setting of many devices, does not. A gateway passes on the
 * rows of several instruments: one that is another's makes the message foreign.
 */
function namesModel(segments: readonly Segment[], { names }: Hl7Profile): boolean {
  if (names === undefined) return false;
  const isNamed = (segment: Segment, field: number) =>
    segment.components(field).some((text) => names.test(text.trim()));
  const instruments = segments.filter((segment) => segment.name === "OBX" && given(segment.field(18)) !== "");
  const own = instruments.filter((row) => isNamed(row, 18));
  if (own.length > 0) return own.length === instruments.length;
  return segments.some((segment) => (MODEL_FIELDS[segment.name] ?? []).some((field) => isNamed(segment, field)));
}

/** Shows what a message of practice software changes. The stages of results have none of it; see study/assess-registry.ts. */
function registryReading(reading: RegistryReading): Reading {
  switch (reading.is) {
    case "refused":
      return { is: "quarantined", reason: reading.fault.text };
    case "without effect":
      return { is: "not-for-patients", reason: "it changes no animal and no order" };
    case "changes":
      return { is: "not-for-patients", reason: reading.changes.map((change) => JSON.stringify(change)).join("; ") };
  }
}

function sampleOf(group: OrderGroup, header: Segment, profile: Hl7Profile): Sample {
  const { patient, order, specimen, container, rows, comments, isControl, inOrder } = group;
  const read = withResults(group, profile);
  const notes = [...comments, ...rows.flatMap((row) => row.notes)];
  const run = rows.filter(({ is, obx }) => is === "run" && valueOf(obx) !== "");
  const aboutRun = run.map(({ obx }) => ({ name: title(obx), value: valueOf(obx) }));
  const said = (text: string) => !isControl || !isControlNote(text);
  const remarks = rows.filter((row) => row.is === "remark" && valueOf(row.obx) !== "");
  const data = read
    .filter(({ is, results }) => (is === "result" || is === "data") && results.length === 0)
    .map(({ obx }) => title(obx));
  const typed = [2, 3, 4].map((field) => sent(patient, field));
  return {
    device_name: profile.device_name ?? senderName(header, profile),
    ...identifiers(group, profile),
    sampleIds: inOrder.length > 0 ? [] : sampleIds(group, profile), // a result in the OBR has its test in OBR-3
    patient_hint: patientHint(group, profile),
    patient: typed.some((number) => number !== "") ? typed : [sent(patient, 5)],
    specimen: specimenIds(order, specimen, container),
    times: {
      results: rows
        .filter(({ is }) => is === "result")
        .flatMap(({ obx }) => [given(obx.component(19, 1)), given(obx.component(14, 1))]), // analysed, observed
      order: orderTimes(order, specimen, profile),
      sent: given(header.component(7, 1)),
    },
    ...(isControl ? { control: materialOf({ header, ...group }, aboutRun, notes, profile) } : {}),
    urine: isUrine(order, specimen),
    blood: isBlood(order, specimen),
    results: [...inOrder, ...read.flatMap(({ results }) => results)],
    settings: run.map(titled),
    notes: data.length === 0 ? [] : [`kept in the message, not read: ${data.join(", ")}`],
    comments: [
      ...comments.filter(said),
      ...(order === null ? [] : (profile.comments?.(order) ?? [])).map(given).filter(Boolean),
      ...remarks.map(titled),
      ...rows.flatMap((row) => row.notes.filter(said).map((note) => `${title(row.obx)}: ${note}`)),
    ],
  };
}

/** Returns a row as a sentence of the device. */
function titled({ obx }: ObservationRow): string {
  return title(obx) === valueOf(obx) ? title(obx) : `${title(obx)}: ${valueOf(obx)}`;
}

/** A note that explains a mark: `* low volume`, `ZZ = clot`. */
const LEGEND = /^(?:[^\p{L}\p{N}\s]|\S{1,4}\s*[=:])/u;
/** Max such notes of an order: each row with a mark is compared with all of them. */
const LEGEND_MAX = 100;

/** Returns the rows with their results: one each, unless the profile reads others. */
function withResults({ order, rows, comments, isControl }: OrderGroup, profile: Hl7Profile) {
  const all = rows.map(({ obx }) => obx);
  const legend = [...comments, ...rows.flatMap((row) => row.notes)]
    .filter((note) => LEGEND.test(note))
    .slice(0, LEGEND_MAX);
  return rows.map((row) => {
    if (row.is !== "result") return { ...row, results: [] };
    const notes = isControl ? row.notes.filter((note) => !isControlNote(note)) : row.notes;
    const result = deviceResult({ ...row, notes }, order, profile, legend);
    const results = profile.results?.(result, row.obx, { notes, rows: all }) ?? [result];
    return { ...row, results: isControl ? results.map((each) => controlResult(each, row, order, profile)) : results };
  });
}

/** Adds the device's target and verdict. */
function controlResult(
  result: DeviceResult,
  { obx, notes }: ObservationRow,
  order: Segment | null,
  profile: Hl7Profile,
): DeviceResult {
  const target = profile.control?.target?.({ OBR: order ?? NONE, OBX: obx });
  const verdict = verdictOf(notes);
  return {
    ...result,
    // A device with a place of its own for the target prints the patients' range in OBX-7.
    ...(target === undefined ? {} : { range: "", ...(target === null ? {} : { target }) }),
    flag: [result.flag, verdict].filter(Boolean).join(" "),
  };
}

/** Reads MSH-3, sending application: the first component is the name. Where it is the maker's, MSH-4 is the model. */
function senderName(header: Segment, { defaultName = "HL7 analyzer" }: Hl7Profile): string {
  return nameOfDevice([given(header.component(3, 1)), given(header.component(4, 1))]) || defaultName;
}

/**
 * Reads PID-3, the identifier list, then PID-2, the former external id. PID-4 may be a cage and never matches alone.
 */
function identifiers(group: OrderGroup, profile: Hl7Profile) {
  const { patient, order, specimen, container } = group;
  const own = fieldsOf(group, profile).identifier ?? "";
  // If the profile's place is empty, the number is at the standard's. Else the others match as an fp or an accession alone.
  const typed = [identifier(given(own)), ...firsts(patient, 3), ...firsts(patient, 2)].filter(isNew);
  const specimens = [
    order?.components(2),
    order?.components(3),
    profile.sampleField === undefined ? [] : order?.components(profile.sampleField),
    specimen?.subcomponents(2, 1),
    container?.components(3),
  ];
  const others = specimens.flatMap((parts) => parts ?? []).map(given);
  return {
    identifier: typed[0] ?? null,
    otherIdentifiers: [...typed.slice(1), ...firsts(patient, 4), ...others.filter(Boolean)],
  };
}

function isNew(text: string, index: number, texts: readonly string[]): boolean {
  return text !== "" && texts.indexOf(text) === index;
}

/** Returns OBR-2, OBR-3, the profile's own field, both parts of SPM-2, and SAC-3, each without its namespace. */
function sampleIds({ order, specimen, container }: OrderGroup, { sampleField }: Hl7Profile): string[] {
  const fields = [
    order?.components(2),
    order?.components(3),
    sampleField === undefined ? [] : order?.components(sampleField),
    specimen?.subcomponents(2, 1),
    specimen?.subcomponents(2, 2),
    container?.components(3),
  ];
  return fields.map((components) => sampleId(components));
}

/** Returns the first component of each repetition. */
function firsts(segment: Segment | null, field: number): string[] {
  return (segment?.repetitions(field) ?? []).map(([first = ""]) => identifier(given(first))).filter(Boolean);
}

/** Replaces a segment that the message lacks. */
const NONE = new Segment("", STANDARD_DELIMITERS);

function fieldsOf({ patient, visit, order }: OrderGroup, profile: Hl7Profile): PatientFields {
  return profile.patient?.({ PID: patient ?? NONE, PV1: visit ?? NONE, OBR: order ?? NONE }) ?? {};
}

/** PID-2, PID-3 and PID-4 are the identifiers, whose further components are check digits and name spaces. */
const IDS = [2, 3, 4];

function patientHint(group: OrderGroup, profile: Hl7Profile): PatientHint {
  const { patient, visit, rows } = group;
  const text = (field: number) => given(patient?.component(field, 1) ?? "");
  const own = fieldsOf(group, profile);
  // PID-5: two components are owner and patient, a single one is the patient.
  const [first = "", second = ""] = patient?.components(5).map(given) ?? [];
  const [code = "", words = ""] = patient?.components(35).map(given) ?? [];
  const [breedCode = "", breed = ""] = patient?.components(36).map(given) ?? [];
  const number = identifiers(group, profile).identifier;
  // The standard's place is read if the profile's is empty, unless the profile reads another field there.
  const taken = Object.values(own).map((value) => given(value ?? ""));
  const either = (place: string | null | undefined, standard: string) =>
    place === null ? "" : given(place ?? "") || (taken.includes(standard) ? "" : standard);
  const name = either(own.name, second || first);
  const hint = {
    identifier: hintText(number ?? ""),
    name: hintText(name === number ? "" : name), // some devices repeat the identifier as a name
    species: hintText(
      agreedSpecies([
        either(own.species, words || code || (own.species === null ? "" : speciesIn(patient, visit))),
        valueOfRow(rows, (obx) => profile.speciesRow?.test(obx.field(3)) === true),
      ]),
    ),
    breed: hintText(breed || breedCode),
    sex: hintText(either(own.sex, text(8))),
    owner: hintText(either(own.owner, second === "" ? "" : first)),
    date_of_birth: readDate(given(own.born ?? "")) ?? readDate(text(7)),
    weight_kg: weight(rows),
  };
  const codes = [code, words, breedCode, breed];
  const known = [...taken, ...codes, ...Object.values(hint), ...IDS.flatMap((field) => firsts(patient, field))];
  const texts = known.map((value) => (typeof value === "string" ? value : null));
  return { ...hint, ...otherField(otherTexts(patient, { name: "PID", first: 2, codes: IDS }, texts)) };
}

/** Returns the word for a species at PID-10, race, or PV1-2, class: veterinary devices without PID-35 have it there. "" without any. */
function speciesIn(patient: Segment | null, visit: Segment | null): string {
  const texts = [...(patient?.components(10) ?? []), ...(visit?.components(2) ?? [])].map(given);
  return agreedSpecies(texts.filter((text) => readSpecies(text) !== null));
}

function valueOfRow(rows: readonly ObservationRow[], isIt: (obx: Segment) => boolean): string {
  const row = rows.find(({ obx }) => isIt(obx));
  return row === undefined ? "" : valueOf(row.obx);
}

function weight(rows: readonly ObservationRow[]): number | null {
  const value = valueOfRow(rows, (obx) => isWeight(obx) && /^kg$/i.test(given(obx.component(6, 1))));
  return /^\d{1,4}(\.\d+)?$/.test(value) ? Number(value) : null;
}
