import type { Lock } from "../../report/device-report.ts";
import type { Part } from "./message.ts";
import { element, field } from "./xml/xml.ts";

// Topics that a data manager sends: operator lists, locks and patients.

export interface Operator {
  readonly id: string;
  readonly name?: string | undefined;
  /** Permission level as the device counts: 1 is a user to one vendor and a supervisor to the next. */
  readonly level?: number | undefined;
}

/** Operator lists of the clinic and of each device. Only replies depend on it. */
export interface OperatorBook {
  /** Returns the clinic's list; null without one. */
  current(): readonly Operator[] | null;
  /** Returns the list that this device accepted last; null if unknown. */
  acceptedBy(device: string): readonly Operator[] | null;
  /** Notes that the device has accepted this list. */
  noteAccepted(device: string, list: readonly Operator[]): void;
}

/** Operator lists that a device supports. */
export interface ListOffer {
  readonly full: boolean;
  readonly incremental: boolean;
  readonly bytesMax: number | null;
}

/** Bytes of header, declaration and MLLP frame around a part. */
const OVERHEAD_BYTES = 350;
/** Max bytes of a message for a device without max_message_sz; the smallest limit seen is 1000. */
const BYTES_MAX = 16_000;

/**
 * Returns the messages that update a device to the current operators, ended by the end of topic. Empty if it is up to
 * date.
 */
export function operatorParts(
  current: readonly Operator[],
  known: readonly Operator[] | null,
  offer: ListOffer,
  now: string,
): Part[] {
  if (known !== null && JSON.stringify(known) === JSON.stringify(current)) return [];
  if (!offer.full && !offer.incremental) return [];
  const incremental = offer.incremental && (known !== null || !offer.full);
  const entries = incremental ? changes(current, known ?? []) : current.map(operatorEntry);
  if (incremental && entries.length === 0) return [];
  const bodies = packed(entries, (offer.bytesMax ?? BYTES_MAX) - OVERHEAD_BYTES);
  const root = incremental ? "OPL.R02" : "OPL.R01";
  const topic = field("EOT.topic_cd", incremental ? "OP_LST_I" : "OP_LST");
  return [
    ...bodies.map((body) => ({ root, body })),
    { root: "EOT.R01", body: element("EOT", topic, field("EOT.update_dttm", now)) },
  ];
}

function changes(current: readonly Operator[], known: readonly Operator[]): string[] {
  const byId = new Map(known.map((operator) => [operator.id, JSON.stringify(operator)]));
  const gone = known.filter(({ id }) => !current.some((operator) => operator.id === id));
  return [
    ...gone.map(({ id }) => update("D", element("OPR", field("OPR.operator_id", id)))),
    ...current
      .filter((operator) => byId.get(operator.id) !== JSON.stringify(operator))
      .map((operator) => update("I", operatorEntry(operator))), // inserts or updates
  ];
}

function update(action: "I" | "D", entry: string): string {
  return element("UPD", field("UPD.action_cd", action), entry);
}

function operatorEntry({ id, name, level }: Operator): string {
  const level_cd = level === undefined ? [] : [field("ACC.permission_level_cd", String(level))];
  return element(
    "OPR",
    field("OPR.operator_id", id),
    ...(name === undefined ? [] : [field("OPR.name", name)]),
    element("ACC", field("ACC.method_cd", "ALL"), ...level_cd),
  );
}

/**
 * Packs as many entries as fit into each message. An empty list is one empty message, which clears the device's list.
 */
function packed(entries: readonly string[], bytesMax: number): string[] {
  const bodies: string[] = [];
  let body = "";
  let bytes = 0;
  for (const entry of entries) {
    const more = utf8.encode(entry).length;
    if (body !== "" && bytes + more > bytesMax) {
      bodies.push(body);
      body = "";
      bytes = 0;
    }
    body += entry;
    bytes += more;
  }
  return [...bodies, body];
}

const utf8 = new TextEncoder();

export function directivePart(command: Lock): Part {
  return { root: DIRECTIVE, body: element("DTV", field("DTV.command_cd", command)) };
}

export const DIRECTIVE = "DTV.R01";

/** Reply to a patient query; null for an unknown patient. */
export interface ListedPatient {
  /** As in the query: the result will carry it. */
  readonly id: string;
  readonly name: string;
  /** `YYYY-MM-DD`. */
  readonly bornOn: string | null;
  readonly sex: "M" | "F" | null;
  readonly weightKg: number | null;
}

/** Encodes the reply to a request for a patient (PTL.R01) or to a verification (PVR.R01, whose PVF is empty). */
export function patientPart(root: "PTL.R01" | "PVR.R01", patient: ListedPatient | null): Part {
  const verdict = root === "PVR.R01" ? element("PVF") : "";
  return { root, body: verdict + (patient === null ? "" : patientElement(patient)) };
}

function patientElement(patient: ListedPatient): string {
  const { id, name, bornOn, sex, weightKg } = patient;
  return element(
    "PT",
    field("PT.patient_id", id),
    field("PT.name", name, { content: field("GIV", name) }),
    ...(bornOn === null ? [] : [field("PT.birth_date", bornOn)]),
    ...(sex === null ? [] : [field("PT.gender_cd", sex)]),
    ...(weightKg === null ? [] : [field("PT.weight", String(weightKg), { unit: "kg" })]),
  );
}
