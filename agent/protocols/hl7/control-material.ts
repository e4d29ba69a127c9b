import type { ControlMaterial } from "../../report/sample.ts";
import { isControlNote, lotOf, type OrderSegments } from "./control.ts";
import type { Hl7Profile } from "./profile.ts";
import { Segment, STANDARD_DELIMITERS } from "./message/segment.ts";

// The control material of an order: by the places of the profile, then by the rows and the notes of the run.

/** Names of rows about a control run: `05001^Qc Level^99MRC` (Mindray). */
const LEVEL_ROW = /^(?:qc[\s_-]*)?level$/i;
const LOT_ROW = /^qc[\s_-]*lot(?:[\s_-]*(?:no\.?|number))?$/i;

/** Replaces a segment that the message lacks. */
const NONE = new Segment("", STANDARD_DELIMITERS);

/** `rows`: names and values of the rows about the run. */
export function materialOf(
  segments: OrderSegments,
  rows: readonly { readonly name: string; readonly value: string }[],
  notes: readonly string[],
  profile: Hl7Profile,
): ControlMaterial {
  const { patient, order } = segments;
  const own = profile.control?.material({ PID: patient ?? NONE, OBR: order ?? NONE }) ?? {};
  const ofRow = (pattern: RegExp) => rows.find(({ name }) => pattern.test(name))?.value ?? "";
  const lot = profile.controlLot === true ? lotOf(segments) : null;
  const validTo = lot === null ? "" : (patient?.component(7, 1) ?? "");
  return {
    material: own.material || noted(notes, "Name"),
    level: own.level || noted(notes, "Level") || ofRow(LEVEL_ROW),
    lot: own.lot || lot || noted(notes, "Lot") || ofRow(LOT_ROW),
    expires: own.expires || validTo || noted(notes, "Expiry"),
    verdict: noted(notes, "Result"),
  };
}

/** Returns the device's verdict on a row: `QCRResult:P`. */
export function verdictOf(notes: readonly string[]): string {
  return noted(notes, "Result");
}

/** Returns the word after a key such as `QCLot:`. */
function noted(notes: readonly string[], key: string): string {
  const pattern = new RegExp(String.raw`\bQCR?${key} ?: ?([^\s;,|]+)`, "i");
  const found = notes.filter(isControlNote).map((note) => pattern.exec(note)?.[1]);
  return found.find((word) => word !== undefined) ?? "";
}
