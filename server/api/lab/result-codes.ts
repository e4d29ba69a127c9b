import type { Modality, ReadResult } from "../../../shared/api/study.ts";
import { loincOf } from "../../../shared/clinical/analytes/loinc.ts";
import { ucumOf } from "../../../shared/clinical/analytes/unit-spellings.ts";
import { analyteOf } from "../../../shared/clinical/results.ts";

/** Adds LOINC and UCUM to the results of a study. */
export function withCodes<S extends { modality: Modality; results: ReadResult[] }>(study: S): S {
  return { ...study, results: study.results.map((result) => ({ ...result, ...codesOf(result, study.modality) })) };
}

function codesOf({ analyte, unit, code_source }: ReadResult, modality: Modality): Pick<ReadResult, "loinc" | "ucum"> {
  const known = code_source === "device" ? undefined : analyteOf(analyte, modality);
  return { loinc: known === undefined ? null : loincOf(known, unit), ucum: unit === null ? null : ucumOf(unit) };
}
