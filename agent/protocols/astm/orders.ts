import type { Patient } from "../../../shared/api/patient.ts";
import { readSex } from "../../../shared/clinical/reference.ts";
import type { OrderReply, RepliedOrder, OrderQuery } from "../order-query.ts";
import { type AstmMessage, type AstmRecord, type Delimiters, encodeRecord } from "./records.ts";

// The host query of LIS02-A2: what a device asks (Q), and the H P O L message that answers it.

/** Q-3 `patient^specimen`, or ALL; Q-5 tests; Q-13. Nothing of Q-9 to Q-12 (a physician, fields of the user's) is looked at. */
export interface AstmOrderQuery extends OrderQuery {
  readonly delimiters: Delimiters;
  /** H-5 and H-13 as sent: the answer names its receiver, and keeps to its version. */
  readonly sender: string;
  readonly version: string;
}

/** Where a device that takes orders wants what LIS02-A2 has no field for. */
export interface OrderFormat {
  /** The P field for the species. */
  readonly species?: number;
}

/** Q-13 of who wants results: corrected, preliminary, final, cancelled, pending, partial, a MIC, sent before. */
const RESULTS = ["C", "P", "F", "X", "I", "S", "M", "R"];

/** More samples than this in one query are no query: an analyzer's tray holds about a hundred. */
const SAMPLES_MAX = 500;

/** What a message asks; null: nothing, or only to forget what it asked before (Q-13 A). */
export function readQuery({ delimiters, records }: AstmMessage): AstmOrderQuery | null {
  const queries = records.filter(({ type }) => type === "Q").map((record) => ({ record, status: statuses(record) }));
  const asking = queries.filter(({ status }) => !status.includes("A"));
  const [header] = records;
  const [first] = asking;
  if (header === undefined || first === undefined) return null;
  const asked = asking.flatMap(({ record }) => record.repeats(3).map((parts) => parts.map((part) => part.trim())));
  const all = asked.some((parts) => parts.some((part) => part.toUpperCase() === "ALL"));
  const samples = asked
    .map((place) => {
      const [patient = "", specimen = "", ...further] = place;
      return { patient, specimen, ...(further.some((part) => part !== "") ? { place } : {}) };
    })
    .filter(({ patient, specimen, place }) => patient !== "" || specimen !== "" || place !== undefined);
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
    // Accessions are no sequence: what lies between two of them is nobody's sample.
    const range = asking.find(({ record }) => /[\p{L}\p{N}]/u.test(record.raw(4)) && record.raw(4) !== record.raw(3));
    if (range !== undefined)
      return `a range of samples (Q-4 is "${range.record.field(4)}"), expected single ones or ALL`;
    if (!all && samples.length === 0) return "no sample is named (Q-3 is empty)";
    if (samples.length > SAMPLES_MAX) return `${samples.length} samples are asked for, at most ${SAMPLES_MAX}`;
    return null;
  }
}

/** Q-13, which may repeat: `O@N`. */
function statuses(query: AstmRecord): string[] {
  return query
    .repeats(13)
    .map(([status = ""]) => status.trim().toUpperCase())
    .filter((status) => status !== "");
}

/** Q-5, which may repeat: the names of each test, in whatever component. None: all tests. */
function testsOf(query: AstmRecord): string[] {
  const names = query.repeats(5).flatMap((parts) => parts.map((part) => part.trim().toUpperCase()));
  return names.includes("ALL") ? [] : names.filter((name) => name !== "");
}

/** H P O L in the query's own delimiters. `sentAt`: `YYYYMMDDHHMMSS` of the device's zone. */
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
    // Field 2 is the declaration itself: nothing of it may be escaped.
    encodeRecord(`H${delimiters.field}${declared}`, header.slice(1), delimiters),
    ...answered.flatMap(({ patient, asked, orders }, index) => [
      write("P", { 2: String(index + 1), ...(patient === null ? { 3: asked } : animal(patient, format)) }),
      ...orders.map((order, nth) => write("O", { 2: String(nth + 1), ...orderFields(order) })),
    ]),
    write("L", { 2: "1", 3: termination(query, answered) }),
  ];
  return new TextEncoder().encode(records.map((record) => `${record}\r`).join(""));
}

/** By the standard's numbers, 2 and up: a text, or the components of each repeat. */
type Fields = Readonly<Record<number, string | readonly (readonly string[])[]>>;

function list(fields: Fields): (string | readonly (readonly string[])[])[] {
  const last = Math.max(...Object.keys(fields).map(Number));
  return Array.from({ length: last - 1 }, (_, index) => {
    const field = fields[index + 2] ?? "";
    return typeof field === "string" ? ascii(field) : field.map((components) => components.map(ascii));
  });
}

function animal(patient: Patient, { species }: OrderFormat): Fields {
  return {
    // The bare ULID: cut short by a device it names nobody, where half a card number may name another animal.
    3: patient.fp.slice("patient_".length),
    6: patient.name,
    8: patient.date_of_birth?.replaceAll("-", "") ?? "",
    9: readSex(patient.sex) ?? "U",
    ...(species === undefined ? {} : { [species]: patient.species }),
  };
}

/** O-26 is the report type. */
function orderFields({ specimen, place, report, tests, orderedAt }: RepliedOrder): Fields {
  const named = place === undefined ? specimen : [place];
  if (report !== "Q") return { 3: named, 26: report };
  // The code is the device's own (component 4), a LOINC code the universal one (component 1).
  const codes = tests.map((test) => (/^\d{1,7}-\d$/.test(test) ? [test] : ["", "", "", test]));
  return { 3: named, 5: codes, 6: "R", 7: orderedAt, 12: "N", 26: report };
}

/** L-3. Q: an error in the request; I: no information for it; F: answered. */
function termination({ problem }: AstmOrderQuery, answered: readonly OrderReply[]): "Q" | "I" | "F" {
  if (problem !== null) return "Q";
  const found = answered.some(
    ({ patient, orders }) => patient !== null && orders.every(({ report }) => report === "Q"),
  );
  return found ? "F" : "I";
}

/** Nothing says whether this device reads Latin-1, UTF-8 or IBM 850, and all of them read letters without marks. */
function ascii(text: string): string {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("ı", "i");
  return plain.replace(/[^\0-\x7f]/gu, "?");
}
