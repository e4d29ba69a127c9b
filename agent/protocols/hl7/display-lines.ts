import type { Patient } from "../../../shared/api/patient.ts";
import type { RepliedOrder } from "../order-query.ts";
import type { Stamp } from "./message/acknowledgement-message.ts";
import { ageInMonths, type DisplayLines, identifierOf, type OrderFormat, sexOf, speciesCode } from "./order-format.ts";
import type { Field } from "./message/segment.ts";

/** Line numbers of Mindray's BS analyzers, which have no species. */
const BS_LINES: DisplayLines = { identifier: 1, name: 3, born: 4, sex: 5, specimen: 21, orderedAt: 23, tests: 29 };

/** Returns the lines up to the last one of the format, with empty lines between them. */
export function displayLines(patient: Patient, order: RepliedOrder, format: OrderFormat, stamp: Stamp): Field[] {
  const { lines = BS_LINES } = format;
  const months = ageInMonths(patient, stamp);
  const age = months === null ? ["", ""] : months < 12 ? [String(months), "M"] : [String(Math.floor(months / 12)), "Y"];
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
    ...testLines(order, lines),
  ]);
  const last = Math.max(...[...texts.keys()].map((line) => line ?? 0));
  return Array.from({ length: last }, (_, index) => texts.get(index + 1) ?? "");
}

function testLines({ tests }: RepliedOrder, { tests: at }: DisplayLines): [line: number, text: Field][] {
  if (typeof at === "number") return tests.map((test, index) => [at + index, [[test, "", "", ""]]]);
  return Object.entries(at).map(([test, line]) => [line, tests.includes(test) ? [[test, test, "1"]] : ""]);
}
