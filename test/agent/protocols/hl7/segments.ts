import type { Hl7Profile } from "../../../../agent/protocols/hl7/profile.ts";
import type { Reading } from "../../../../agent/report/report.ts";
import { read } from "../../../../agent/study/read.ts";
import { context } from "../../records.ts";
import { hl7Device } from "../../../support/clinic/profiles.ts";

const genericHl7 = hl7Device("generic-hl7");

// HL7 messages, written as segments.

type Fields = Readonly<Record<number, string>>;

export function message(...segments: readonly string[]): Buffer {
  return Buffer.from(segments.map((text) => `${text}\r`).join(""), "utf8");
}

/** Encodes a segment by field numbers. */
export function segment(name: string, fields: Fields): string {
  const last = Math.max(0, ...Object.keys(fields).map(Number));
  return [name, ...Array.from({ length: last }, (_, index) => fields[index + 1] ?? "")].join("|");
}

/** Encodes a header; MSH-1 is the separator itself. */
export function msh(fields: Fields = {}): string {
  const values = { 3: "LAB-1", 4: "Vendor", 7: "20261121120000", 9: "ORU^R01", 10: "1", 11: "P", 12: "2.4", ...fields };
  const shifted = Object.entries(values).map(([number, text]) => [Number(number) - 1, text]);
  return segment("MSH", { 1: "^~\\&", ...(Object.fromEntries(shifted) as Fields) });
}

export const PID = "PID|1||4711^^^^MR||Aydin^Zeytin";
export const OBR = "OBR|1||S-1|CHEM|||20261121113015";
export const ALT = obx("1742-6^ALT^LN", "52");

export function obx(code: string, value: string, fields: Fields = {}): string {
  return segment("OBX", { 1: "1", 2: "NM", 3: code, 5: value, 6: "U/L", 11: "F", ...fields });
}

export function readWith(profile: Hl7Profile, ...segments: readonly string[]): Reading {
  return read(message(...segments), profile, context);
}

export function readGeneric(...segments: readonly string[]): Reading {
  return readWith(genericHl7, ...segments);
}
