import { type FoundEvent, lotRow } from "../../report/device-event.ts";
import { given } from "../field-text.ts";
import type { AstmProfile } from "./profile.ts";
import type { AstmMessage, AstmRecord } from "./records.ts";
import { resultTitle } from "./result.ts";

// Reports of a device on itself in LIS02-A2 records: lots beside results, starts and calibrations.

/** The comment of a message without results by which a device reports its start: `Power Up Initialization Sign On`. */
const START = /\bpower[ -]?up\b/i;
/** A comment of the instrument, C-3 and C-5 of which are I (LIS02-A2 §10): `377^Calibration Drift 2 out of range`. */
const CALIBRATION = /\bcalibration\b/i;
/** H-12 of a message by which a person tries the device. */
const TRAINING = /^[TD]$/i;

export function eventsOf({ records }: AstmMessage, profile: AstmProfile, numbers: Numbers): FoundEvent[] {
  const [header] = records;
  if (header === undefined || TRAINING.test(header.field(numbers.processing).trim())) return [];
  const found: FoundEvent[] = [];
  const isEmpty = !records.some(({ type }) => /^[ORQ]$/.test(type));
  const sentAt = given(header.field(numbers.sentAt));
  let [order, at]: [AstmRecord | null, string] = [null, sentAt];
  for (const [index, record] of records.entries()) {
    if (record.type === "O") {
      order = record;
      at = given(record.component(8, 1)) || given(record.component(7, 1)) || sentAt;
      if (profile.skipOrder?.test(record.field(5)) !== true)
        found.push(...reagentOf(record, firstResult(records, index), at, profile));
    }
    if (record.type === "R") {
      const name = lotRow(resultTitle(record, profile));
      if (name !== null) found.push({ event: "reagent", at, subject: name, lot: given(record.field(4)) });
    }
    if (record.type === "C") found.push(...commentOf(record, isEmpty, order === null ? sentAt : at));
  }
  return found;
}

interface Numbers {
  readonly processing: number;
  readonly sentAt: number;
}

/** Returns the first result of the order at this index; null without one. */
function firstResult(records: readonly AstmRecord[], index: number): AstmRecord | null {
  const next = records.slice(index + 1).find(({ type }) => /^[ORPL]$/.test(type));
  return next?.type === "R" ? next : null;
}

function reagentOf(order: AstmRecord, result: AstmRecord | null, at: string, { reagent }: AstmProfile): FoundEvent[] {
  const { name = "", lot = "" } = reagent?.(order, result) ?? {};
  return lot === "" ? [] : [{ event: "reagent", at, subject: name, lot }];
}

function commentOf(record: AstmRecord, isEmpty: boolean, at: string): FoundEvent[] {
  const parts = record.components(4).map(given);
  const words = parts.filter(Boolean).join(" ");
  if (isEmpty) return START.test(words) ? [{ event: "start", at, text: words }] : [];
  const [code = "", ...said] = parts;
  const isNumbered = /^\d+$/.test(code) && [record.field(3), record.field(5)].every((mark) => /^I$/i.test(mark.trim()));
  if (!isNumbered || !CALIBRATION.test(words)) return [];
  return [{ event: "calibration", at, subject: code, text: said.join(" ") }];
}

/** Returns the patient's texts: every part of every P. */
export function peopleOf({ records, delimiters }: AstmMessage): string[] {
  const fields = records
    .filter(({ type }) => type === "P")
    .flatMap((patient) => Array.from({ length: patient.length }, (_, index) => patient.raw(index + 1)));
  const { repeat, component } = delimiters;
  return fields
    .flatMap((field) => field.split(repeat).flatMap((text) => text.split(component)))
    .map((text) => given(text));
}
