import { type Static, Type } from "typebox";
import { analyteByCode } from "../analytes/analytes.ts";
import { readData } from "../analytes/data.ts";
import { factorOf } from "../analytes/units.ts";

// Published reference change values of healthy adults: data/biological-variation.json.

const Variation = Type.Object({
  analyte: Type.String({ minLength: 1 }),
  species: Type.Enum(["dog", "cat"]),
  /** The greatest change that chance alone explains, two-sided, 95 %. */
  rcv: Type.Number({ exclusiveMinimum: 0 }),
  /** `%` of the earlier value, or the unit of an absolute change. */
  unit: Type.String({ minLength: 1 }),
  n: Type.Integer({ minimum: 1 }),
  source: Type.String({ minLength: 1 }),
  /** The grade of the publication, as that of an interval. A page without a method (B) and contradicting numbers (C) are left out. */
  grade: Type.Literal("A"),
});
export type Variation = Static<typeof Variation>;

const variations = readData("biological-variation.json", Type.Array(Variation));
const bySubject = new Map(variations.map((row) => [subjectOf(row.species, row.analyte), row]));
if (bySubject.size < variations.length)
  throw new Error("shared/data/biological-variation.json: two rows of one analyte");
for (const { analyte, unit } of variations) {
  const known = analyteByCode(analyte);
  if (known === undefined || (unit !== "%" && factorOf(known, unit) === null)) {
    throw new Error(`shared/data/biological-variation.json: ${analyte} in ${unit} is unknown`);
  }
}

export function variationOf(species: string, analyte: string): Variation | undefined {
  return bySubject.get(subjectOf(species, analyte));
}

function subjectOf(species: string, analyte: string): string {
  return `${species} ${analyte}`;
}
