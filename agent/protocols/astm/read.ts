import type { PatientHint } from "../../../shared/api/study.ts";
import { filled, firstFilled, given, sent } from "../field-text.ts";
import type { AstmProfile, FieldNumbers } from "./profile.ts";
import { type AstmMessage, type AstmRecord, parseRecords } from "./records.ts";
import type { DeviceResult, ReadContext, Reading } from "../../report/report.ts";
import { firstTime, hintText, labelOf, readSamples, type Sample } from "../../report/specimen.ts";
import { readDate } from "../../report/device-time.ts";

// Reads LIS02-A2 records into samples, without those that are not for patients.

/** Field numbers of LIS02-A2, for fields that some devices move. */
const STANDARD_FIELDS: FieldNumbers = { processing: 12, sentAt: 14, weight: 18, resultStatus: 9 };

/** H-12 (LIS02-A2 §6.12): only production messages become studies. */
const NOT_PRODUCTION: Readonly<Record<string, string>> = { T: "training", D: "demo or debug", Q: "quality control" };
/** L-3 (LIS02-A2 §13.3): the sender did not finish. */
const NOT_FINISHED: Readonly<Record<string, string>> = {
  T: "sender aborted",
  R: "receiver aborted",
  E: "system error",
};
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

/** O-16, specimen descriptor (LIS02-A2 §8.4.16); the standard lists no values. */
const URINE = /^(u|ur|urine?)$/i;

/** Reads one H..L message. */
export function readAstm(bytes: Uint8Array, profile: AstmProfile, context: ReadContext): Reading {
  const message = parseRecords(bytes, profile.charset);
  if ("problem" in message) return { is: "quarantined", reason: message.problem };
  const numbers = { ...STANDARD_FIELDS, ...profile.fields };
  const header = message.records[0]!;
  const sender = header.field(5);
  if (profile.sender !== undefined && !profile.sender.test(sender)) {
    return { is: "quarantined", reason: `the sender is "${sender}", not what profile ${profile.id} reads` };
  }
  const processing = header.field(numbers.processing);
  const purpose = NOT_PRODUCTION[processing.trim().toUpperCase()];
  if (purpose !== undefined) {
    return { is: "not-for-patients", reason: `${purpose} (H-${numbers.processing} is ${processing})` };
  }
  const terminator = terminationOf(message);
  const failure = NOT_FINISHED[terminator];
  if (failure !== undefined) return { is: "quarantined", reason: `${failure} (L-3 is ${terminator})` };

  const { groups, notes } = collectGroups(message, profile, context);
  const samples = groups.map((group) => sampleOf(group, header, profile, numbers));
  const reading = readSamples(samples, notes, profile, context);
  if (reading !== null) return reading;
  const query = message.records.some((record) => record.type === "Q");
  const reason = query ? "host query" : notes.length > 0 ? notes.join("; ") : "no results (sign-on or status)";
  return { is: "not-for-patients", reason };
}

/** Returns L-3, the reason of the message's end. */
function terminationOf({ records }: AstmMessage): string {
  const last = records.findLast((record) => record.type === "L");
  return last?.field(3).trim().toUpperCase() ?? "";
}

/** Orders of one sample of one patient, with their results. */
interface OrderGroup {
  readonly patient: AstmRecord | null;
  readonly order: AstmRecord | null;
  readonly results: AstmRecord[];
  readonly comments: string[];
  manufacturerRecords: number;
}

/**
 * Groups the records by their hierarchy (LIS02-A2 §5.6.7): O belongs to the last P, R to the last O, C and M to the
 * last record.
 */
function collectGroups(
  message: AstmMessage,
  profile: AstmProfile,
  context: ReadContext,
): { groups: OrderGroup[]; notes: string[] } {
  const groups = new Map<string, OrderGroup>();
  const notes: string[] = [];
  let patient: AstmRecord | null = null;
  let patients = 0;
  let current: OrderGroup | null = null;
  let skipping = false;
  /** Comments on H and P apply to the orders behind them. */
  let headerComments: string[] = [];
  let patientComments: string[] = [];
  const groupOf = (order: AstmRecord | null): OrderGroup => {
    // Orders of one tube at one time are one study, though many analyzers send an O record (and some a P record) per
    // test.
    const named = [3, 4, 5, 6].map((field) => sent(patient, field));
    const patientKey = named.some((field) => field !== "") ? named.join("|") : patients;
    const time = firstTime(orderTimes(order), context) ?? "";
    const key = [patientKey, sent(order, 3), sent(order, 4), time, sent(order, 16)].join("|");
    const known = groups.get(key);
    if (known !== undefined) return known;
    const comments = [...headerComments, ...patientComments];
    const group = { patient, order, results: [], comments, manufacturerRecords: 0 };
    groups.set(key, group);
    return group;
  };
  for (const record of message.records) {
    switch (record.type) {
      case "P":
        patient = record;
        patients += 1;
        patientComments = [];
        current = null;
        skipping = false;
        break;
      case "O":
        skipping = isControl(record, profile);
        if (skipping) notes.push(`order ${record.field(2) || "?"} is quality control: not for a patient`);
        else current = groupOf(record);
        break;
      case "R":
        if (skipping) break;
        current ??= groupOf(null);
        current.results.push(record);
        break;
      case "C": {
        const text = filled([record.components(4)], " ");
        if (skipping) break;
        if (current === null) (patient === null ? headerComments : patientComments).push(...text);
        else current.comments.push(...text.map((line) => about(current?.results.at(-1), profile) + line));
        break;
      }
      case "M":
        if (!skipping && current !== null) current.manufacturerRecords += 1;
        break;
      default:
        break;
    }
  }
  return { groups: [...groups.values()], notes };
}

/** Returns the name of the result that a comment belongs to: some analyzers send a bare number. */
function about(result: AstmRecord | undefined, profile: AstmProfile): string {
  return result === undefined ? "" : `${labelOf(namesOf(result, profile))}: `;
}

/** Returns whether the order is quality control: O-12 is Q (LIS02-A2 §8.4.12), or the profile lists it. */
function isControl(order: AstmRecord, profile: AstmProfile): boolean {
  return order.field(12).trim().toUpperCase() === "Q" || (profile.skipOrder?.test(order.field(5)) ?? false);
}

function sampleOf(group: OrderGroup, header: AstmRecord, profile: AstmProfile, numbers: FieldNumbers): Sample {
  const { patient, order, results, comments, manufacturerRecords } = group;
  const typed = [3, 4, 5].map((field) => sent(patient, field));
  return {
    device_name: profile.device_name ?? deviceName(header),
    ...identifiers(patient, order),
    sampleIds: [3, 4].map((field) => firstFilled(order?.components(field))),
    patient_hint: patientHint(patient, profile, numbers),
    patient: typed.some((number) => number !== "") ? typed : [sent(patient, 6)],
    specimen: [sent(order, 3), sent(order, 4)],
    times: {
      results: results.flatMap((result) => [given(result.field(13)), given(result.field(12))]), // completed, started
      order: orderTimes(order).map(given),
      sent: given(header.field(numbers.sentAt)),
    },
    urine: URINE.test(order?.component(16, 1).trim() ?? ""),
    results: results.map((result) => deviceResult(result, profile, numbers)),
    notes: manufacturerRecords === 0 ? [] : [`${manufacturerRecords} manufacturer records (M) are not read`],
    comments,
  };
}

function deviceResult(result: AstmRecord, profile: AstmProfile, { resultStatus }: FieldNumbers): DeviceResult {
  const status = result.field(resultStatus).trim().toUpperCase();
  const notFinal = NOT_FINAL[status];
  return {
    names: namesOf(result, profile),
    // GeneXpert may leave the first component empty and put the number into the second. Two values stay joined, which
    // is not a number.
    value: filled(result.repeats(4), "^").join("^"),
    unit: given(result.field(5)),
    range: result.field(6),
    // Abnormal flags may repeat: `H\HH`.
    flag: filled(
      result.repeats(7).map(([first = ""]) => [first]),
      "",
    ).join(" "),
    notFinal: notFinal === undefined ? null : `${notFinal} (R-${resultStatus} is ${status})`,
    // `""` deletes the earlier value (LIS02-A2 §5.4.9).
    withdraws: WITHDRAWS.includes(status) || result.raw(4).trim() === '""',
  };
}

function namesOf(result: AstmRecord, profile: AstmProfile): string[] {
  return profile
    .code(result)
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** O-8 collected, O-7 ordered. */
function orderTimes(order: AstmRecord | null): string[] {
  return order === null ? [] : [order.field(8), order.field(7)];
}

/** Reads H-5: the first component names the instrument, the others its software and serial number. */
function deviceName(header: AstmRecord): string {
  return header.component(5, 1).trim().slice(0, 200) || "ASTM analyzer";
}

/**
 * Reads P-3 (practice), P-4 (laboratory) and P-5 (third id). The first filled one is the identifier that a user typed.
 */
function identifiers(patient: AstmRecord | null, order: AstmRecord | null) {
  const typed = patient === null ? [] : [3, 4, 5].map((number) => given(patient.component(number, 1))).filter(Boolean);
  const specimen = order === null ? [] : [...order.components(3), ...order.components(4)].map(given).filter(Boolean);
  return { identifier: typed[0] ?? null, otherIdentifiers: [...typed.slice(1), ...specimen] };
}

function patientHint(
  patient: AstmRecord | null,
  profile: AstmProfile,
  { weight: weightField }: FieldNumbers,
): PatientHint {
  // P-6: two components are owner and patient, a single one is the patient.
  const [first = "", second = ""] = patient?.components(6).map(given) ?? [];
  const two = second !== "";
  const [weight = "", unit = ""] = patient?.components(weightField) ?? [];
  const kilograms = /^kg$/i.test(unit.trim()) && /^\d{1,4}(\.\d+)?$/.test(weight.trim()) ? Number(weight) : null;
  const species = patient === null ? "" : (profile.species?.(patient) ?? "");
  return {
    identifier: hintText(identifiers(patient, null).identifier ?? ""),
    name: hintText(two ? second : first),
    species: hintText(given(species)),
    breed: null,
    sex: hintText(given(patient?.field(9) ?? "")),
    owner: hintText(given(patient === null ? "" : (profile.owner?.(patient) ?? "")) || (two ? first : "")),
    date_of_birth: patient === null ? null : readDate(patient.field(8)),
    weight_kg: kilograms,
  };
}
