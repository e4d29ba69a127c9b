import type { Lock } from "../../report/device-report.ts";
import { element, field, type Part } from "./message.ts";

// What a data manager tells a device of people: who may use it, whether anybody may, and which patient a number is.

export interface Operator {
  readonly id: string;
  readonly name?: string | undefined;
  /** As the device counts them: 1 is a user to one vendor and a supervisor to the next. */
  readonly level?: number | undefined;
}

/** Who may use a device, and whom it knows already. Stands only in what we say. */
export interface OperatorBook {
  /** null: nobody keeps a list. */
  current(): readonly Operator[] | null;
  /** The list that the device of that name took last; null: none that we know of. */
  takenBy(device: string): readonly Operator[] | null;
  /** It has this list now. */
  took(device: string, list: readonly Operator[]): void;
}

/** What a device said of the lists that it takes. */
export interface ListOffer {
  readonly full: boolean;
  readonly incremental: boolean;
  /** null: it did not say. */
  readonly bytesMax: number | null;
}

/** The header and the declaration that a part gets on its way, and an MLLP frame. */
const OVERHEAD_BYTES = 350;
/** Where HELLO does not say how much a device takes; the smallest limit seen is 1000. */
const BYTES_MAX = 16_000;

/** The messages that bring a device from the operators it knows to the current ones, the end of the topic last. None: it knows them. */
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

/** As many entries a message as it may hold; an empty list is one empty message, for it says that there is nobody. */
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

/** What a device that asks for a patient gets: that one, or nobody. */
export interface ListedPatient {
  /** As the device asked for it: its result will name it so. */
  readonly id: string;
  readonly name: string;
  /** `YYYY-MM-DD` */
  readonly bornOn: string | null;
  readonly sex: "M" | "F" | null;
  readonly weightKg: number | null;
}

/** The answer to a request for a patient (PTL.R01) or to a verification (PVR.R01: no note names a field of its PVF). */
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
