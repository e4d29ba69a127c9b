import { controlName, filled, isControlName, sent } from "../field-text.ts";
import { isControlReport, saysCalibration, saysControl } from "../remarks.ts";
import type { AstmProfile } from "./profile.ts";
import type { AstmMessage, AstmRecord } from "./records.ts";
import { resultTitle } from "./result.ts";
import type { ReadContext } from "../../report/report.ts";
import { firstTime } from "../../report/specimen.ts";

// Groups the records of a message by sample. Orders of a calibration are left out.

/** Orders of one sample of one patient, or of control material, with their results. */
export interface OrderGroup {
  readonly patient: AstmRecord | null;
  readonly order: AstmRecord | null;
  readonly results: AstmRecord[];
  readonly comments: string[];
  /** Comments of the instrument on one result. */
  readonly notes: Map<AstmRecord, string[]>;
  manufacturerRecords: number;
  readonly isControl: boolean;
}

/**
 * Groups the records by their hierarchy (LIS02-A2 §5.6.7): O belongs to the last P, R to the last O, C and M to the
 * last record. `isAllControl`: the message has no patient's results, but a control's.
 */
export function collectGroups(
  message: AstmMessage,
  profile: AstmProfile,
  context: ReadContext,
  isAllControl = false,
): { groups: OrderGroup[]; notes: string[]; orphans: number } {
  const groups = new Map<string, OrderGroup>();
  const notes: string[] = [];
  let patient: AstmRecord | null = null;
  let patients = 0;
  let current: OrderGroup | null = null;
  /** Results that a device sent without the order and the patient that it always names, and without a word of a control. */
  let orphans = 0;
  /** Comments on H and P apply to the orders after them. */
  let headerComments: string[] = [];
  let patientComments: string[] = [];
  const groupOf = (order: AstmRecord | null, isControl: boolean): OrderGroup => {
    // Orders of one tube at one time are one study, though many analyzers send an O or a P record per test.
    const named = [3, 4, 5, 6].map((field) => sent(patient, field));
    const patientKey = named.some((field) => field !== "") ? named.join("|") : patients;
    const material = isControl && JSON.stringify(profile.control?.({ P: patient, O: order }));
    const key = [material, patientKey, ...tubeOf(order, context)].join("|");
    const known = groups.get(key);
    if (known !== undefined) return known;
    const comments = isControl ? [] : [...headerComments, ...patientComments];
    const group = { patient, order, results: [], comments, notes: new Map(), manufacturerRecords: 0, isControl };
    groups.set(key, group);
    return group;
  };
  for (const [index, record] of message.records.entries()) {
    switch (record.type) {
      case "P":
        patient = record;
        patients += 1;
        patientComments = [];
        current = null;
        break;
      case "O": {
        const isControl = isControlOrder(record, patient, profile);
        const isCalledControl = !isControl && hasControlRecordAfter(message.records, index, profile);
        if (isControl) notes.push(`order ${record.field(2) || "?"} is quality control: not for a patient`);
        if (isCalledControl) notes.push("an M record says quality control: not for a patient");
        current = groupOf(record, isAllControl || isControl || isCalledControl);
        break;
      }
      case "R":
        if (current === null) {
          const isControl = isControlOrder(null, patient, profile);
          if (!isControl && patient === null && profile.alwaysNamesPatient === true) orphans += 1;
          if (isControl) notes.push("a result without an order is quality control: not for a patient");
          current = groupOf(null, isAllControl || isControl);
        }
        current.results.push(record);
        break;
      case "C": {
        const text = filled([record.components(4)], " ");
        if (current === null) (patient === null ? headerComments : patientComments).push(...text);
        else {
          const result = current.results.at(-1);
          current.comments.push(...text.map((line) => about(result, profile) + line));
          if (result !== undefined && isOfInstrument(record)) addTo(current.notes, result, text);
        }
        break;
      }
      case "M":
        if (current !== null) current.manufacturerRecords += 1;
        break;
      default:
        break;
    }
  }
  return { groups: [...groups.values()].filter((group) => !isOfCalibration(group)), notes, orphans };
}

/** Returns what orders of one tube have in common: its numbers, time and specimen. */
function tubeOf(order: AstmRecord | null, context: ReadContext): string[] {
  const time = firstTime(orderTimes(order), context) ?? "";
  return [sent(order, 3), sent(order, 4), time, sent(order, 16)];
}

/** Returns whether a control's order is of a calibration. */
function isOfCalibration({ isControl, patient, order }: OrderGroup): boolean {
  const texts = [
    ...[3, 4, 5, 6].map((field) => patient?.field(field)),
    ...[3, 4, 5, 16].map((field) => order?.field(field)),
  ];
  return isControl && texts.some((text) => saysCalibration(text ?? ""));
}

/**
 * Returns whether a C record is the instrument's own word on a value (LIS02-A2 §10.1): its source (C-3) is neither the practice nor
 * the computer, and its type (C-5) neither a name nor an interpretation of the test.
 */
function isOfInstrument(comment: AstmRecord): boolean {
  const [source, type] = [3, 5].map((field) => comment.field(field).trim().toUpperCase());
  return !["P", "L"].includes(source ?? "") && !["T", "P", "N"].includes(type ?? "");
}

function addTo(notes: Map<AstmRecord, string[]>, result: AstmRecord, text: readonly string[]): void {
  notes.set(result, [...(notes.get(result) ?? []), ...text]);
}

/** Returns whether an M record of the order at this index names control material. */
function hasControlRecordAfter(records: readonly AstmRecord[], order: number, { skipOrder }: AstmProfile): boolean {
  for (let index = order + 1; index < records.length; index += 1) {
    const record = records[index]!;
    if (record.type === "O" || record.type === "P") return false;
    if (record.type !== "M") continue;
    if (skipOrder?.test(record.field(3)) === true || isControlReport(record.field(3))) return true;
  }
  return false;
}

/** O-8 collected, O-7 ordered. */
export function orderTimes(order: AstmRecord | null): string[] {
  return order === null ? [] : [order.field(8), order.field(7)];
}

/** Returns the name of the result that a comment belongs to: some analyzers send a bare number. */
function about(result: AstmRecord | undefined, profile: AstmProfile): string {
  return result === undefined ? "" : `${resultTitle(result, profile)}: `;
}

/**
 * Returns whether the results after the record are of control material: O-12 is Q (LIS02-A2 §8.4.12), the instrument
 * names it in O-4 or O-16, the profile defines it, or a typed identifier names it and none names a patient.
 */
function isControlOrder(order: AstmRecord | null, patient: AstmRecord | null, profile: AstmProfile): boolean {
  if (patient === null && order !== null && profile.alwaysNamesPatient === true) return true;
  if (order !== null) {
    if (order.field(12).trim().toUpperCase() === "Q" || profile.skipOrder?.test(order.field(5)) === true) return true;
    // If all tests of an order name a control, the run is a quality control.
    if (order.repeats(5).every((test) => saysControl(test.join(" ")))) return true;
    if ([4, 16].some((field) => order.components(field).some(isControlName))) return true;
  }
  const names = [3, 4, 5, 6].flatMap((field) => patient?.components(field) ?? []);
  return controlName(names, order?.components(3) ?? []) !== null;
}
