import type { PatientHint } from "../../../shared/api/study.ts";
import type { Sample } from "../../report/sample.ts";
import { given, identifier, isControlName, nameOfDevice, sampleId, sent } from "../field-text.ts";
import { collectGroups, type OrderGroup, orderTimes } from "./order-groups.ts";
import type { AstmProfile, FieldNumbers } from "./profile.ts";
import { type AstmMessage, type AstmRecord, parseRecords } from "./records.ts";
import { eventsOf, peopleOf } from "./events.ts";
import { otherField, otherTexts } from "../other-texts.ts";
import { deviceResult, kindOf, remarkOf, resultTitle, speciesIn } from "./result.ts";
import type { ReadContext, Reading } from "../../report/report.ts";
import { withEvents } from "../../report/device-event.ts";
import { hintText, readSamples } from "../../report/specimen.ts";
import { readDate } from "../../report/device-time.ts";

// Reads LIS02-A2 records into samples of patients and of control material. Other records are left out.

/** Field numbers of LIS02-A2, for fields that some devices move. */
const STANDARD_FIELDS: FieldNumbers = { processing: 12, sentAt: 14, weight: 18, resultStatus: 9 };

/** H-12 (LIS02-A2 §6.12): only production messages become studies. QR and CR are Mindray's, whose patients' results have PR. */
const NOT_PRODUCTION: Readonly<Record<string, string>> = {
  ...{ T: "training", D: "demo or debug", Q: "quality control" },
  ...{ QR: "quality control", CR: "calibration" },
};
/** L-3 (LIS02-A2 §13.3): the sender did not finish. */
const NOT_FINISHED: Readonly<Record<string, string>> = {
  T: "sender aborted",
  R: "receiver aborted",
  E: "system error",
};
/** O-16, specimen descriptor (LIS02-A2 §8.4.16); the standard lists no values. */
const URINE = /^(u|ur|urine?)$/i;

/** Reads one H..L message. */
export function readAstm(bytes: Uint8Array, profile: AstmProfile, context: ReadContext): Reading {
  const message = parseRecords(mended(bytes, profile), profile.charset);
  if ("problem" in message) return { is: "quarantined", reason: message.problem };
  const numbers = { ...STANDARD_FIELDS, ...profile.fields };
  const reading = readMessage(message, numbers, profile, context);
  const deviceName = profile.device_name ?? senderName(message.records[0]!);
  return withEvents(reading, { deviceName, people: peopleOf(message) }, eventsOf(message, profile, numbers), context);
}

function readMessage(message: AstmMessage, numbers: FieldNumbers, profile: AstmProfile, context: ReadContext): Reading {
  const header = message.records[0]!;
  const sender = header.field(5);
  // A sign of life has no order, result or query, so no table applies.
  const isEmpty = !message.records.some(({ type }) => /^[ORQM]$/.test(type));
  if (!isEmpty && sender !== "" && profile.sender?.test(sender) === false) {
    return { is: "quarantined", reason: `the sender is "${sender}", not what profile ${profile.id} reads` };
  }
  const purpose = purposeOf(message, numbers);
  const noPatients = purpose === null ? null : ({ is: "not-for-patients", reason: purpose.reason } as const);
  if (noPatients !== null && purpose?.isControl !== true) return noPatients;
  const terminator = terminationOf(message);
  const failure = NOT_FINISHED[terminator];
  if (failure !== undefined) return noPatients ?? { is: "quarantined", reason: `${failure} (L-3 is ${terminator})` };

  const { groups, notes, orphans } = collectGroups(message, profile, context, noPatients !== null);
  const samples = groups.map((group) => sampleOf(group, header, profile, numbers));
  if (noPatients !== null) return readSamples(samples, [], profile, context, () => noPatients);
  if (orphans > 0) {
    return { is: "quarantined", reason: `${orphans} results without an order (O) and a patient (P): whose are they?` };
  }
  const patients = samples.filter(({ control }) => control === undefined);
  return readSamples(samples, notes, { ...profile, ...collection(patients, profile) }, context, (others, all) => {
    const hasRows = groups.some(({ isControl, results }) => !isControl && results.length > 0);
    const remarks = others.flatMap(({ comments, settings = [] }) => [...comments, ...settings]);
    const reason = [...all, ...(hasRows ? remarks : [])].join("; ");
    return { is: "not-for-patients", reason: reason || "no results (sign-on or status)" };
  });
}

/** Returns the purpose of a message that is not for patients; null for one that may have results. */
function purposeOf(
  { records }: AstmMessage,
  { processing }: FieldNumbers,
): { readonly reason: string; readonly isControl: boolean } | null {
  const code = records[0]!.field(processing);
  const letter = code.trim().toUpperCase();
  const purpose = NOT_PRODUCTION[letter];
  if (purpose !== undefined)
    return { reason: `${purpose} (H-${processing} is ${code})`, isControl: letter === "Q" || letter === "QR" };
  const isQuery = records.some(({ type }) => type === "Q") && records.every(({ type }) => type !== "R");
  return isQuery ? { reason: "host query", isControl: false } : null;
}

/** Returns the columns that collect a message of a single result with the others of its sample. */
function collection(samples: readonly Sample[], { collect }: AstmProfile): { readonly collectHours?: number } {
  const [sample, ...others] = samples.filter(({ results }) => results.length > 0);
  if (collect === undefined || sample?.results.length !== 1 || others.length > 0) return {};
  const isNamed = sample.specimen.some((field) => field.split("^").some((part) => collect.sample.test(part.trim())));
  return isNamed ? { collectHours: collect.hours } : {};
}

function mended(bytes: Uint8Array, { mendRecord }: AstmProfile): Uint8Array {
  if (mendRecord === undefined) return bytes;
  const text = Buffer.from(bytes).toString("latin1");
  return Buffer.from(
    text.replaceAll(/[^\r\n]+/g, (record) => mendRecord(record)),
    "latin1",
  );
}

/** Returns L-3, the reason of the message's end. */
function terminationOf({ records }: AstmMessage): string {
  const last = records.findLast((record) => record.type === "L");
  return last?.field(3).trim().toUpperCase() ?? "";
}

function sampleOf(group: OrderGroup, header: AstmRecord, profile: AstmProfile, numbers: FieldNumbers): Sample {
  const { patient, order, comments, manufacturerRecords, isControl } = group;
  const kinds = new Map(group.results.map((result) => [result, kindOf(result, profile, isControl)]));
  const results = group.results.filter((result) => kinds.get(result) === "result");
  const pictures = group.results.filter((result) => kinds.get(result) === "data").map((r) => resultTitle(r, profile));
  const typed = [3, 4, 5].map((field) => sent(patient, field));
  return {
    device_name: profile.device_name ?? senderName(header),
    ...identifiers(patient, order),
    // O-4 is the number or the rack of the instrument, unless it names a control.
    sampleIds: [sampleId(order?.components(3)), ...(isControl ? controlNumbers(order) : [])],
    patient_hint: patientHint(group, profile, numbers),
    patient: typed.some((number) => number !== "") ? typed : [sent(patient, 6)],
    specimen: [sent(order, 3), sent(order, 4)],
    times: {
      results: group.results.flatMap((result) => [given(result.field(13)), given(result.field(12))]), // completed, started
      order: orderTimes(order).map(given),
      sent: given(header.field(numbers.sentAt)),
    },
    ...(isControl ? { control: profile.control?.({ P: patient, O: order }) ?? {} } : {}),
    urine: URINE.test(order?.component(16, 1).trim() ?? "") || results.some((result) => profile.urine?.(result)),
    results: results.map((result) => deviceResult(result, profile, numbers, group.notes.get(result))),
    settings: group.results.filter((result) => kinds.get(result) === "run").map((result) => remarkOf(result, profile)),
    notes: [
      ...(manufacturerRecords === 0 ? [] : [`${manufacturerRecords} manufacturer records (M) are not read`]),
      ...(pictures.length === 0 ? [] : [`kept in the message, not read: ${pictures.join(", ")}`]),
    ],
    comments: [
      ...comments,
      ...group.results
        .filter((result) => kinds.get(result) === "result" || kinds.get(result) === "remark")
        .map((result) => remarkOf(result, profile, isControl))
        .filter(Boolean),
    ],
  };
}

/** Returns the texts of O-4 that name control material. */
function controlNumbers(order: AstmRecord | null): string[] {
  return order?.components(4).filter(isControlName) ?? [];
}

/** Reads H-5: the instrument and its software and serial number, with the maker before the model, or none. */
function senderName(header: AstmRecord): string {
  return nameOfDevice(header.components(5)) || "ASTM analyzer";
}

/**
 * Reads P-3 (practice), P-4 (laboratory) and P-5 (third id). The first filled one is the identifier that a user typed.
 */
function identifiers(patient: AstmRecord | null, order: AstmRecord | null) {
  const typed = [3, 4, 5].map((number) => identifier(patient?.component(number, 1) ?? "")).filter(Boolean);
  const specimen = [3, 4].flatMap((number) => order?.components(number).map(identifier) ?? []).filter(Boolean);
  return { identifier: typed[0] ?? null, otherIdentifiers: [...typed.slice(1), ...specimen] };
}

function patientHint(
  { patient, order, results }: OrderGroup,
  profile: AstmProfile,
  { weight: weightField }: FieldNumbers,
): PatientHint {
  // P-6: two components are owner and patient, a single one is the patient. `^Jim^Brown` are first and last name.
  const [family = "", second = "", last = ""] = patient?.components(6).map(given) ?? [];
  const first = family === "" && second !== "" ? last : family;
  const two = second !== "";
  const weights = [weightField, STANDARD_FIELDS.weight].map((field) => patient?.components(field) ?? []);
  const [weight = "", unit = ""] = weights.find(([amount = ""]) => amount.trim() !== "") ?? [];
  const kilograms = /^kg$/i.test(unit.trim()) && /^\d{1,4}(\.\d+)?$/.test(weight.trim()) ? Number(weight) : null;
  const owner = patient === null ? "" : given(profile.owner?.(patient) ?? "");
  const stated = patient === null ? "" : given(profile.species?.(patient) ?? "");
  const hint = {
    identifier: hintText(identifiers(patient, null).identifier ?? ""),
    name: hintText((two ? second : first) || (order === null ? "" : given(profile.nameOnSample?.(order) ?? ""))),
    species: hintText(stated || speciesIn(patient, results, owner)),
    breed: null,
    sex: hintText(given(patient?.field(9) ?? "")),
    owner: hintText(owner || (two ? first : "")),
    date_of_birth: patient === null ? null : readDate(patient.component(8, 1)),
    weight_kg: kilograms,
  };
  const { identifier: number, otherIdentifiers } = identifiers(patient, order);
  const known = [
    number,
    ...otherIdentifiers,
    ...Object.values(hint).map((value) => (typeof value === "string" ? value : null)),
  ];
  const weighed = kilograms === null ? [] : [weight, unit];
  return {
    ...hint,
    ...otherField([
      ...otherTexts(patient, { name: "P", first: 3 }, [...known, ...weighed]),
      ...otherTexts(order, { name: "O", first: 3, codes: ORDER_CODES }, known),
    ]),
  };
}

/** O-5 names the tests; O-6, O-12 and O-26 are codes of the order, and the others are times (LIS02-A2 §8.4). */
const ORDER_CODES = [5, 6, 7, 8, 9, 12, 15, 23, 26];
