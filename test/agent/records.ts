import type { AstmProfile } from "../../agent/protocols/astm/profile.ts";
import { read } from "../../agent/study/read.ts";
import type { ReadContext, Reading, Report } from "../../agent/report/report.ts";
import { astmDevice } from "../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");
const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

// Messages written as their records, for the tests of the stages read, match and study.

export const context: ReadContext = {
  device: "chem-1",
  timeZone: "Europe/Istanbul",
  receivedAt: Date.parse("2026-11-21T13:00:00.000Z"),
};

export const HEADER = "H|\\^&|||Analyzer^1|||||||P|LIS2-A2|20261121120000";
export const VETSCAN_HEADER = "H|\\^&|||ABAXIS, INC.^VetScan VS2^3.1.35^0000V99999|||||||P|E 1394-97|20261121120000";

export function message(...records: readonly string[]): Buffer {
  return Buffer.from(records.map((line) => `${line}\r`).join(""), "utf8");
}

/** A message of these records after the usual header and before L, as the generic profile reads it. */
export function readGeneric(records: readonly string[], changes: Partial<ReadContext> = {}): Reading {
  return read(message(HEADER, ...records, "L|1|N"), genericAstm, { ...context, ...changes });
}

export function reportsOf(reading: Reading): readonly Report[] {
  if (reading.is !== "reports") throw new Error(`expected Reports, got ${reading.is}: ${reading.reason}`);
  return reading.reports;
}

/** The only Report of a generic message. */
export function reportOf(records: readonly string[], changes: Partial<ReadContext> = {}): Report {
  return only(reportsOf(readGeneric(records, changes)));
}

/** The only Report of a VetScan message: the species label of P-16 and the records after P. */
export function vetscanReport(label: string, ...records: readonly string[]): Report {
  const bytes = message(VETSCAN_HEADER, `P|1|4711|||||||||||||${label}`, "O|1|||^^^Panel", ...records, "L|1|N");
  return only(reportsOf(read(bytes, abaxisVetscanVs2, context)));
}

export function readWith(profile: AstmProfile, ...records: readonly string[]): Reading {
  return read(message(...records), profile, context);
}

export function only<T>(items: readonly T[]): T {
  const [item, ...others] = items;
  if (item === undefined || others.length > 0) throw new Error(`expected one, got ${items.length}`);
  return item;
}

/** Records of a patient, an order and two results of a usual message. */
export const PATIENT = "P|1|4711";
export const ORDER = "O|1|S-1||^^^Panel|R||20261121110000";
export const ALT = withTime("20261121113015");
export const WBC = resultRecord("^^^WBC", "9.8", "10*3/uL", { 13: "20261121113015" });

/** The result ALT, measured at this time. */
export function withTime(time: string): string {
  return resultRecord("^^^ALT", "52", "U/L", { 13: time });
}

/** R: code, value, unit, and what else the test is about by field number. */
export function resultRecord(
  code: string,
  value: string,
  unit = "",
  fields: Readonly<Record<number, string>> = {},
): string {
  const all = Array.from({ length: 14 }, (_, index) => fields[index + 1] ?? "");
  all.splice(0, 5, "R", "1", code, value, unit);
  return all.join("|");
}

/** A record by its field numbers; field 1 is the type. */
export function record(type: string, fields: Readonly<Record<number, string>>): string {
  const last = Math.max(1, ...Object.keys(fields).map(Number));
  return Array.from({ length: last }, (_, index) => (index === 0 ? type : (fields[index + 1] ?? ""))).join("|");
}
