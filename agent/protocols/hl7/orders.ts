import type { Patient } from "../../../shared/api/patient.ts";
import { readNeutered, readSex } from "../../../shared/clinical/sex.ts";
import type { OrderMessage, OrderQuery, OrderReply, RepliedOrder } from "../order-query.ts";
import { acknowledgeQuery, echo, encodeHeader, type Stamp } from "./acknowledgement-message.ts";
import { asksForOrders } from "./message-types.ts";
import { encodeSegment, encodeText, type Field, type Hl7Message } from "./message.ts";

// Orders for a device that queries them: QRY^Q02 (Mindray BS and compatible), ORM^O01 (Mindray BC), QBP^Q11 (IHE LAW).

export interface Hl7OrderQuery extends OrderQuery {
  readonly message: Hl7Message;
}

/** Order format of a device, where the standard leaves a choice. */
export interface OrderFormat {
  /** Codes of species. A species without a code is omitted. Default: the API's words. */
  readonly species?: Readonly<Record<string, string>>;
  /** Sex codes of neutered patients; default those of other patients. */
  readonly neutered?: Readonly<Record<"M" | "F", string>>;
  /** Pattern and example of the device's test codes, if it does not accept an analyte's name or code. */
  readonly tests?: { readonly pattern: RegExp; readonly example: string };
  /** Coding system of the test codes, in OBR-4. */
  readonly testSystem?: string;
  /** OBR-4 of every order, for a device that always runs one panel. */
  readonly panel?: readonly string[];
  /** OML^O33 holds the patient's age and weight in rows behind the order. */
  readonly animalRows?: true;
  /** OBX-3 of the row with the species in ORR^O02. */
  readonly speciesRow?: readonly string[];
  /** Line numbers (DSP-1) of a DSR^Q03. */
  readonly lines?: DisplayLines;
  /** DSR^Q03 is sent before QCK^Q02, without waiting: the device acknowledges the first after the second. */
  readonly displayFirst?: boolean;
}

interface DisplayLines {
  readonly identifier?: number;
  readonly name: number;
  readonly born?: number;
  /** Line numbers of the age and its unit: whole years (Y), or months (M) in the first year. */
  readonly age?: { readonly number: number; readonly unit: number };
  readonly sex: number;
  readonly weight?: number;
  readonly species?: number;
  readonly specimen: number;
  readonly orderedAt?: number;
  /** Line number of the first test; the others follow. A device with fixed tests has a line number for each. */
  readonly tests: number | Readonly<Record<string, number>>;
}

/** Line numbers of Mindray's BS analyzers, which have no species. */
const BS_LINES: DisplayLines = { identifier: 1, name: 3, born: 4, sex: 5, specimen: 21, orderedAt: 23, tests: 29 };

/** Reads an order query. @returns null without one */
export function readOrderQuery(message: Hl7Message): Hl7OrderQuery | null {
  if (!asksForOrders(message)) return null;
  const { all, kind, numbers, from = "", to = "" } = askedBy(message);
  const named = [...new Set(numbers.map((number) => number.trim()))].filter(Boolean);
  const nobody = { patient: "", specimen: "" };
  return {
    message,
    samples: all ? [] : named.map((number) => ({ ...nobody, [kind]: number })),
    all,
    from,
    to,
    // A query for all orders gets one message per order, without orders that the device has received.
    newOnly: all,
    demographicsOnly: false,
    resultsOnly: false,
    tests: [],
    problem: all || named.length > 0 ? null : "no sample or patient is named",
  };
}

interface Query {
  readonly all: boolean;
  /** Kind of the queried numbers. */
  readonly kind: "patient" | "specimen";
  readonly numbers: readonly string[];
  readonly from?: string;
  readonly to?: string;
}

function askedBy({ header, segments }: Hl7Message): Query {
  const those = (name: string) => segments.filter((segment) => segment.name === name);
  switch (header.component(9, 1).trim().toUpperCase()) {
    case "QRY": {
      // QRD-8 holds the barcode. Without one the query covers the period from QRF-2 to QRF-3.
      const numbers = those("QRD").flatMap((qrd) => qrd.repetitions(8).map(([first = ""]) => first));
      const [range] = those("QRF");
      const all = numbers.every((number) => number.trim() === "");
      return { all, kind: "specimen", numbers, from: range?.component(2, 1) ?? "", to: range?.component(3, 1) ?? "" };
    }
    case "ORM": {
      // The device fills the order: ORC-3 holds the sample number, ORC-2 on some devices.
      const numbers = those("ORC").map((orc) => orc.component(3, 1).trim() || orc.component(2, 1));
      return { all: false, kind: "specimen", numbers };
    }
    default: {
      const [query] = those("QPD");
      // IHE LAW queries: WOS (one container), WOS_BY_PATIENT, WOS_ALL.
      const name = query?.component(1, 1).trim().toUpperCase();
      const kind = name === "WOS_BY_PATIENT" ? "patient" : "specimen";
      return { all: name === "WOS_ALL", kind, numbers: [query?.component(3, 1) ?? ""] };
    }
  }
}

/** Encodes the reply messages in sending order, each with the accessions in it. */
export function encodeReplies(
  query: Hl7OrderQuery,
  answered: readonly OrderReply[],
  format: OrderFormat,
  stamp: () => Stamp,
): OrderMessage[] {
  const { message } = query;
  const ordered = answered.flatMap(({ patient, orders }) =>
    patient === null ? [] : orders.filter(({ report }) => report === "Q").map((order) => ({ patient, order })),
  );
  const reply = acknowledgeQuery(message, ordered.length > 0, stamp());
  const answer = (segments: readonly string[], orders: readonly Ordered[] = []): OrderMessage => ({
    message: encodeText(segments.map((segment) => `${segment}\r`).join(""), message.charset),
    accessions: orders.map(({ order }) => order.specimen),
  });
  switch (message.header.component(9, 1).trim().toUpperCase()) {
    case "QRY": {
      const displays = ordered.map((one, index) => {
        const isLast = index === ordered.length - 1;
        return answer(displaySegments(message, reply, one, format, isLast ? "" : String(index + 1), stamp()), [one]);
      });
      return format.displayFirst === true ? [...displays, answer(reply)] : [answer(reply), ...displays];
    }
    case "ORM":
      return [answer([...reply, ...responseSegments(message, ordered, format)], ordered)];
    default:
      return [answer(reply), ...ordered.map((one) => answer(orderSegments(message, one, format, stamp()), [one]))];
  }
}

/** An order and its patient. */
interface Ordered {
  readonly patient: Patient;
  readonly order: RepliedOrder;
}

/** Encodes DSR^Q03 of one sample: display lines at fixed numbers. `next`: more samples follow. */
function displaySegments(
  query: Hl7Message,
  reply: readonly string[],
  { patient, order }: Ordered,
  format: OrderFormat,
  next: string,
  stamp: Stamp,
): string[] {
  const asked = query.segments.filter(({ name }) => name === "QRD" || name === "QRF");
  const lines = displayLines(patient, order, format, stamp).map((text, at) => ({ 1: String(at + 1), 3: text }));
  return [
    encodeHeader(query, ["DSR", "Q03"], stamp),
    ...reply.slice(1), // MSA and query status, as in QCK^Q02
    ...asked.map(({ text }) => echo(text)),
    ...lines.map((line) => write(query, "DSP", line)),
    write(query, "DSC", { 1: next }),
  ];
}

/** Encodes the rest of ORR^O02: the orders of one sample. */
function responseSegments(query: Hl7Message, ordered: readonly Ordered[], format: OrderFormat): string[] {
  const [first] = ordered;
  if (first === undefined) return [];
  const species = speciesCode(first.patient, format);
  const row: Fields = { 1: "1", 2: "IS", 3: [format.speciesRow ?? []], 5: species, 11: "F" };
  return [
    write(query, "PID", animal(first.patient, format)),
    ...ordered.flatMap(({ order }) => [
      write(query, "ORC", { 1: "AF", 2: order.specimen }),
      ...requests(order, format).map((fields) => write(query, "OBR", fields)),
      ...(format.speciesRow === undefined || species === "" ? [] : [write(query, "OBX", row)]),
    ]),
  ];
}

/** Encodes OML^O33 of one sample. It requests the application acknowledgement (ORL^O34) only. */
function orderSegments(query: Hl7Message, { patient, order }: Ordered, format: OrderFormat, stamp: Stamp): string[] {
  return [
    encodeHeader(query, ["OML", "O33", "OML_O33"], stamp, ["NE", "AL"]),
    write(query, "PID", animal(patient, format)),
    write(query, "SPM", { 1: "1", 2: order.specimen, 11: "P" }),
    write(query, "SAC", { 3: order.specimen }),
    ...requests(order, format).flatMap((fields) => [
      write(query, "ORC", { 1: "NW", 2: order.specimen, 9: order.orderedAt }),
      write(query, "OBR", fields),
      ...(format.animalRows === true ? animalRows(patient, stamp).map((row) => write(query, "OBX", row)) : []),
    ]),
  ];
}

function animalRows(patient: Patient, stamp: Stamp): Fields[] {
  const months = ageInMonths(patient, stamp);
  const known: [name: string, value: number | null, unit: string][] = [
    ["Age", months, "Months"],
    ["Weight", patient.weight_kg, "kg"],
  ];
  return known
    .filter(([, value]) => value !== null)
    .map(([name, value, unit], index) => ({
      ...{ 1: String(index + 1), 2: "NM", 3: [["", name]], 5: String(value), 6: unit, 11: "F" },
    }));
}

/** Fields by the standard's numbers. */
type Fields = Readonly<Record<number, Field>>;

/** Encodes a segment in the query's delimiters. */
function write({ delimiters }: Hl7Message, name: string, fields: Fields): string {
  const last = Math.max(...Object.keys(fields).map(Number));
  const list = Array.from({ length: last }, (_, index) => fields[index + 1] ?? "");
  return encodeSegment(name, list, delimiters);
}

function animal(patient: Patient, format: OrderFormat): Fields {
  const species = format.speciesRow === undefined ? speciesCode(patient, format) : "";
  return {
    1: "1",
    // The bare ULID: a device that cuts it yields no patient, while half a card number may name another patient.
    3: [[identifierOf(patient), "", "", "", "MR"]],
    5: [["", patient.name]],
    7: patient.date_of_birth?.replaceAll("-", "") ?? "",
    8: sexOf(patient, format) ?? "U",
    ...(species === "" ? {} : { 35: species }),
    ...(species === "" || patient.breed === null ? {} : { 36: [["", patient.breed]] }),
  };
}

function sexOf({ sex }: Patient, { neutered }: OrderFormat): string | null {
  const letter = readSex(sex);
  return letter !== null && neutered !== undefined && readNeutered(sex) === true ? neutered[letter] : letter;
}

/** Returns the whole months from birth to the time of the message. */
function ageInMonths({ date_of_birth }: Patient, { time }: Stamp): number | null {
  if (date_of_birth === null) return null;
  const [born, now] = [date_of_birth.replaceAll("-", ""), time.slice(0, 8)];
  const months = monthOf(now) - monthOf(born) - (now.slice(6) < born.slice(6) ? 1 : 0);
  return months < 0 ? null : months;
}

/** Returns the month of `YYYYMMDD`, counted from the year 0. */
function monthOf(day: string): number {
  return Number(day.slice(0, 4)) * 12 + Number(day.slice(4, 6));
}

function identifierOf({ fp }: Patient): string {
  return fp.slice("patient_".length);
}

function speciesCode({ species }: Patient, format: OrderFormat): string {
  return format.species === undefined ? species : (format.species[species] ?? "");
}

/** Encodes the OBR of each test, or of the panel. */
function requests({ specimen, tests, orderedAt }: RepliedOrder, { panel, testSystem }: OrderFormat): Fields[] {
  const services = panel === undefined ? tests.map((test) => serviceOf(test, testSystem)) : [panel];
  return services.map((service, index) => ({ 1: String(index + 1), 2: specimen, 4: [service], 6: orderedAt }));
}

function serviceOf(test: string, system: string | undefined): readonly string[] {
  if (system !== undefined) return [test, "", system];
  return /^\d{1,7}-\d$/.test(test) ? [test, "", "LN"] : [test];
}

/** Returns the lines up to the last test, with empty lines between them. */
function displayLines(patient: Patient, order: RepliedOrder, format: OrderFormat, stamp: Stamp): Field[] {
  const { lines = BS_LINES } = format;
  const months = ageInMonths(patient, stamp);
  const age = months === null ? ["", ""] : months < 12 ? [String(months), "M"] : [String(Math.floor(months / 12)), "Y"];
  const tests = testLines(order, lines);
  const texts = new Map<number | undefined, Field>([
    [lines.identifier, identifierOf(patient)],
    [lines.name, patient.name],
    [lines.born, patient.date_of_birth?.replaceAll("-", "") ?? ""],
    [lines.age?.number, age[0]!],
    [lines.age?.unit, age[1]!],
    [lines.sex, sexOf(patient, format) ?? ""],
    [lines.weight, patient.weight_kg === null ? "" : String(patient.weight_kg)],
    [lines.species, speciesCode(patient, format)],
    [lines.specimen, order.specimen],
    [lines.orderedAt, order.orderedAt],
    ...tests,
  ]);
  const last = Math.max(...tests.map(([line]) => line));
  return Array.from({ length: last }, (_, index) => texts.get(index + 1) ?? "");
}

function testLines({ tests }: RepliedOrder, { tests: at }: DisplayLines): [line: number, text: Field][] {
  if (typeof at === "number") return tests.map((test, index) => [at + index, [[test, "", "", ""]]]);
  return Object.entries(at).map(([test, line]) => [line, tests.includes(test) ? [[test, test, "1"]] : ""]);
}
