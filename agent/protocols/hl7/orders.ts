import type { Patient } from "../../../shared/api/patient.ts";
import type { OrderMessage, OrderReply, RepliedOrder } from "../order-query.ts";
import { acknowledgeQuery, echo, encodeHeader, type Stamp } from "./message/acknowledgement-message.ts";
import { encodeText } from "./message/charset.ts";
import { displayLines } from "./display-lines.ts";
import type { Hl7Message } from "./message/message.ts";
import { ageInMonths, identifierOf, type OrderFormat, sexOf, speciesCode } from "./order-format.ts";
import type { Hl7OrderQuery } from "./order-query.ts";
import { encodeSegment, type Field } from "./message/segment.ts";

// Orders for a device that queries them: QRY^Q02 (Mindray BS and compatible), ORM^O01 (Mindray BC), QBP^Q11 (IHE LAW).

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
  const answer = (segments: readonly string[], orders: readonly PatientOrder[] = []): OrderMessage => ({
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

interface PatientOrder {
  readonly patient: Patient;
  readonly order: RepliedOrder;
}

/** Encodes DSR^Q03 of one sample: display lines at fixed numbers. `next`: more samples follow. */
function displaySegments(
  query: Hl7Message,
  reply: readonly string[],
  { patient, order }: PatientOrder,
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
function responseSegments(query: Hl7Message, ordered: readonly PatientOrder[], format: OrderFormat): string[] {
  const [first] = ordered;
  if (first === undefined) return [];
  const species = speciesCode(first.patient, format);
  const row: Fields = { 1: "1", 2: "IS", 3: [format.speciesRow ?? []], 5: species, 11: "F" };
  return [
    write(query, "PID", patientFields(first.patient, format)),
    ...ordered.flatMap(({ order }) => [
      write(query, "ORC", { 1: "AF", 2: order.specimen }),
      ...requests(order, format).map((fields) => write(query, "OBR", fields)),
      ...(format.speciesRow === undefined || species === "" ? [] : [write(query, "OBX", row)]),
    ]),
  ];
}

/** Encodes OML^O33 of one sample. It requests the application acknowledgement (ORL^O34) only. */
function orderSegments(
  query: Hl7Message,
  { patient, order }: PatientOrder,
  format: OrderFormat,
  stamp: Stamp,
): string[] {
  return [
    encodeHeader(query, ["OML", "O33", "OML_O33"], stamp, ["NE", "AL"]),
    write(query, "PID", patientFields(patient, format)),
    write(query, "SPM", { 1: "1", 2: order.specimen, 11: "P" }),
    write(query, "SAC", { 3: order.specimen }),
    ...requests(order, format).flatMap((fields) => [
      write(query, "ORC", { 1: "NW", 2: order.specimen, 9: order.orderedAt }),
      write(query, "OBR", fields),
      ...(format.patientRows === true ? patientRows(patient, stamp).map((row) => write(query, "OBX", row)) : []),
    ]),
  ];
}

function patientRows(patient: Patient, stamp: Stamp): Fields[] {
  const months = ageInMonths(patient, stamp);
  const known: [name: string, value: number | null, unit: string][] = [
    ["Age", months, "Months"],
    ["Weight", patient.weight_kg, "kg"],
  ];
  return known
    .filter(([, value]) => value !== null)
    .map(([name, value, unit], index) => ({
      1: String(index + 1),
      2: "NM",
      3: [["", name]],
      5: String(value),
      6: unit,
      11: "F",
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

function patientFields(patient: Patient, format: OrderFormat): Fields {
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

/** Encodes the OBR of each test, or of the panel. */
function requests({ specimen, tests, orderedAt }: RepliedOrder, { panel, testSystem }: OrderFormat): Fields[] {
  const services = panel === undefined ? tests.map((test) => serviceOf(test, testSystem)) : [panel];
  return services.map((service, index) => ({ 1: String(index + 1), 2: specimen, 4: [service], 6: orderedAt }));
}

function serviceOf(test: string, system: string | undefined): readonly string[] {
  if (system !== undefined) return [test, "", system];
  return /^\d{1,7}-\d$/.test(test) ? [test, "", "LN"] : [test];
}
