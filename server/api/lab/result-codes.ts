import type { Modality, ReadResult } from "../../../shared/api/study.ts";
import type { Analyte } from "../../../shared/clinical/analytes/analytes.ts";
import { ucumOf } from "../../../shared/clinical/analytes/unit-spellings.ts";
import { analyteOf } from "../../../shared/clinical/results.ts";

/** Adds LOINC and UCUM to the results of a study. */
export function withCodes<S extends { modality: Modality; results: ReadResult[] }>(study: S): S {
  return { ...study, results: study.results.map((result) => ({ ...result, ...codesOf(result, study.modality) })) };
}

function codesOf({ analyte, unit, code_source }: ReadResult, modality: Modality): Pick<ReadResult, "loinc" | "ucum"> {
  const known = code_source === "device" ? undefined : analyteOf(analyte, modality);
  return { loinc: known === undefined ? null : loincIn(known, unit), ucum: unit === null ? null : ucumOf(unit) };
}

/** The catalogue's first code is of its canonical unit. A LOINC code names a mass or an amount, so it holds for units of that kind alone. */
function loincIn({ loinc, canonical_unit }: Analyte, unit: string | null): string | null {
  const [first = null] = loinc;
  if (canonical_unit === null) return first;
  return unit !== null && quantityIn(unit) === quantityIn(canonical_unit) ? first : null;
}

function quantityIn(unit: string): "amount" | "mass" | "other" {
  if (/mol\b|^mEq/.test(unit)) return "amount";
  return /^[kmunp]?g\//.test(unit) ? "mass" : "other";
}
