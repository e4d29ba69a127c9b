import type { Patient } from "../../../shared/api/patient.ts";
import { readSex } from "../../../shared/clinical/sex.ts";
import type { OrderQuery, OrderReply, RepliedOrder } from "../order-query.ts";
import { type AstmMessage, type AstmRecord, type Delimiters, encodeRecord } from "./records.ts";

// Host query of LIS02-A2: the device's Q records, and the H P O L message that replies.

/**
 * Query of Q-3 (`patient^specimen`, or ALL), Q-5 (tests), Q-7, Q-8 and Q-13. Q-9 to Q-12 (physician and user fields)
 * are ignored.
 */
export interface AstmOrderQuery extends OrderQuery {
  readonly delimiters: Delimiters;
  /** H-5 and H-13 as sent: receiver and version of the reply. */
  readonly sender: string;
  readonly version: string;
}

/** Fields that a device needs beyond LIS02-A2. */
export interface OrderFormat {
  /** Number of the P field with the species. */
  readonly species?: number;
}

/** Q-13 of a query for results: corrected, preliminary, final, cancelled, pending, partial, a MIC, sent before. */
const RESULTS = ["C", "P", "F", "X", "I", "S", "M", "R"];

/** Max samples of one query; a query for more gets an error. An analyzer's tray holds about a hundred. */
const SAMPLES_MAX = 500;

/** Reads an order query. @returns null without one, or if it cancels an earlier query (Q-13 A) or itself (L-3 T) */
export function readQuery({ delimiters, records }: AstmMessage): AstmOrderQuery | null {
  const isAborted = records.some((record) => record.type === "L" && record.field(3).trim().toUpperCase() === "T");
  if (isAborted) return null;
  const queries = records.filter(({ type }) => type === "Q").map((record) => ({ record, status: statuses(record) }));
  const asking = queries.filter(({ status }) => !status.includes("A"));
  const [header] = records;
  const [first] = asking;
  if (header === undefined || first === undefined) return null;
  const asked = asking.flatMap(({ record }) => record.repeats(3).map((parts) => parts.map((part) => part.trim())));
  const all = asked.some((parts) => parts.some((part) => part.toUpperCase() === "ALL"));
  const samples = asked
    .map((parts) => {
      const [patient = "", specimen = "", ...further] = parts;
      return { patient, specimen, ...(further.some((part) => part !== "") ? { rackPosition: parts } : {}) };
    })
    .filter(({ patient, specimen, rackPosition }) => patient !== "" || specimen !== "" || rackPosition !== undefined);
  return {
    delimiters,
    sender: header.component(5, 1),
    version: header.field(13).trim(),
    samples: all ? [] : samples,
    all,
    from: first.record.field(7).trim(),
    to: first.record.field(8).trim(),
    newOnly: asking.some(({ status }) => status.includes("N")),
    demographicsOnly: asking.every(({ status }) => status.includes("D")),
    resultsOnly: asking.every(({ status }) => status.length > 0 && status.every((one) => RESULTS.includes(one))),
    tests: asking.some(({ record }) => testsOf(record).length === 0)
      ? []
      : [...new Set(asking.flatMap(({ record }) => testsOf(record)))],
    problem: problemOf(),
  };

  function problemOf(): string | null {
    // Accessions are not sequential, so a range does not name samples.
    const range = asking.find(({ record }) => /[\p{L}\p{N}]/u.test(record.raw(4)) && record.raw(4) !== record.raw(3));
    if (range !== undefined)
      return `a range of samples (Q-4 is "${range.record.field(4)}"), expected single ones or ALL`;
    if (!all && samples.length === 0) return "no sample is named (Q-3 is empty)";
    if (samples.length > SAMPLES_MAX) return `${samples.length} samples are queried, at most ${SAMPLES_MAX}`;
    return null;
  }
}

/** Reads Q-13, which may repeat: `O@N`. */
function statuses(query: AstmRecord): string[] {
  return query
    .repeats(13)
    .map(([status = ""]) => status.trim().toUpperCase())
    .filter((status) => status !== "");
}

/** Reads Q-5, which may repeat. @returns the test names of all components; empty for all tests */
function testsOf(query: AstmRecord): string[] {
  const names = query.repeats(5).flatMap((parts) => parts.map((part) => part.trim().toUpperCase()));
  return names.includes("ALL") ? [] : names.filter((name) => name !== "");
}

/** Encodes H P O L in the query's delimiters. `sentAt`: `YYYYMMDDHHMMSS` in the device's zone. */
export function encodeReply(
  query: AstmOrderQuery,
  answered: readonly OrderReply[],
  format: OrderFormat,
  sentAt: string,
): Uint8Array {
  const { delimiters } = query;
  const write = (type: string, fields: Fields) => encodeRecord(type, list(fields), delimiters);
  const declared = [delimiters.repeat, delimiters.component, delimiters.escape ?? ""].join("");
  const header = list({ 5: "Vetwire", 10: query.sender, 12: "P", 13: query.version || "LIS2-A2", 14: sentAt });
  const records = [
    // Field 2 declares the delimiters, so it must not be escaped.
    encodeRecord(`H${delimiters.field}${declared}`, header.slice(1), delimiters),
    ...answered.flatMap(({ patient, asked, orders }, index) => [
      write("P", { 2: String(index + 1), ...(patient === null ? { 3: asked } : patientFields(patient, format)) }),
      ...orders.map((order, nth) => write("O", { 2: String(nth + 1), ...orderFields(order) })),
    ]),
    write("L", { 2: "1", 3: termination(query, answered) }),
  ];
  return new TextEncoder().encode(records.map((record) => `${record}\r`).join(""));
}

/** Fields by the standard's numbers from 2: a text, or the components of each repeat. */
type Fields = Readonly<Record<number, string | readonly (readonly string[])[]>>;

function list(fields: Fields): (string | readonly (readonly string[])[])[] {
  const last = Math.max(...Object.keys(fields).map(Number));
  return Array.from({ length: last - 1 }, (_, index) => {
    const field = fields[index + 2] ?? "";
    return typeof field === "string" ? ascii(field) : field.map((components) => components.map(ascii));
  });
}

function patientFields(patient: Patient, { species }: OrderFormat): Fields {
  return {
    // The bare ULID: a device that cuts it yields no patient, while half a card number may name another patient.
    3: patient.fp.slice("patient_".length),
    6: patient.name,
    8: patient.date_of_birth?.replaceAll("-", "") ?? "",
    9: readSex(patient.sex) ?? "U",
    ...(species === undefined ? {} : { [species]: patient.species }),
  };
}

/** O record; O-26 is the report type. */
function orderFields({ specimen, rackPosition, report, tests, orderedAt }: RepliedOrder): Fields {
  const named = rackPosition === undefined ? specimen : [rackPosition];
  if (report !== "Q") return { 3: named, 26: report };
  // Component 4 holds the device's code, component 1 the universal one (LOINC).
  const codes = tests.map((test) => (/^\d{1,7}-\d$/.test(test) ? [test] : ["", "", "", test]));
  return { 3: named, 5: codes, 6: "R", 7: orderedAt, 12: "N", 26: report };
}

/** L-3. Q: invalid query; I: no information; F: orders follow. */
function termination({ problem }: AstmOrderQuery, answered: readonly OrderReply[]): "Q" | "I" | "F" {
  if (problem !== null) return "Q";
  const found = answered.some(
    ({ patient, orders }) => patient !== null && orders.every(({ report }) => report === "Q"),
  );
  return found ? "F" : "I";
}

/** Encodes as ASCII. Devices read Latin-1, UTF-8 or IBM 850, and all of them read unaccented characters. */
function ascii(text: string): string {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("ı", "i");
  return plain.replace(/[^\0-\x7f]/gu, "?");
}
