import { type Analyte, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { nearAnalytes } from "../../../shared/clinical/analytes/near-analytes.ts";
import { readUnit } from "../../../shared/clinical/analytes/units.ts";
import { readValue } from "../../../shared/clinical/analytes/value.ts";
import type { AnalyteChoice } from "../../dashboard/types/results/codes.ts";

// The analytes that a device's code may mean.

interface SeenCode {
  readonly code: string;
  readonly label: string | null;
  readonly unit: string | null;
  /** The last printed value; null for long words. */
  readonly value: string | null;
}

/** Lists the catalogue: first the analytes that the unit and the kind of the value fit, among them the nearest names. */
export function analyteChoices(seen: SeenCode): AnalyteChoice[] {
  const near = nearAnalytes([seen.code, seen.label ?? ""]);
  const ranked = analytes.map((analyte) => {
    const { code, name, specimen, canonical_unit: unit } = analyte;
    const isNear = near.includes(code);
    const fits = fitsValue(analyte, seen);
    return { choice: { code, name, specimen, unit, fits }, rank: (fits ? 0 : 2) + (isNear ? 0 : 1) };
  });
  const order = (a: (typeof ranked)[number], b: (typeof ranked)[number]) =>
    a.rank - b.rank || (a.choice.name < b.choice.name ? -1 : 1);
  return ranked.toSorted(order).map(({ choice }) => choice);
}

function fitsValue(analyte: Analyte, { unit, value }: SeenCode): boolean {
  const read = readValue(value ?? "", { decimalComma: true });
  if (read.is !== "number") return analyte.value_type !== "numeric";
  return analyte.value_type === "numeric" && readUnit(analyte, unit ?? "", read.value).unit !== null;
}
