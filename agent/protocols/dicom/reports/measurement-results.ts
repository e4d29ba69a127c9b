import { reasonOf } from "../../../../shared/api/reason.ts";
import type { Result, RowSnapshot } from "../../../../shared/api/study.ts";
import type { FlagCode } from "../../../../shared/clinical/flag.ts";
import { digest } from "./digest.ts";
import type { Code } from "./elements.ts";
import { conceptKey, meaningOf, shortCode } from "./measurement-codes.ts";
import type { Measurement } from "./structured-report.ts";

// Results of the API from the measurements of structured reports.

/** Max characters of an analyte code, a unit and a meaning in the API. */
const ANALYTE_LENGTH_MAX = 64;
const UNIT_LENGTH_MAX = 32;
const MEANING_LENGTH_MAX = 400;

/** Reads the measurements of a study. A code that two concepts share gets the concept appended. */
export function measurementResults(measurements: readonly Measurement[]): {
  results: Result[];
  rows: RowSnapshot[];
  leftOut: string[];
} {
  const conceptsOf = new Map<string, Set<string>>();
  const coded = measurements.map((measurement) => {
    const { concept, modifiers } = measurement;
    const code = shortCode(concept, modifiers);
    if (code !== null) conceptsOf.set(code, (conceptsOf.get(code) ?? new Set()).add(conceptKey(concept)));
    return { ...measurement, code, meaning: meaningOf(concept, modifiers) };
  });
  const results: Result[] = [];
  const rows: RowSnapshot[] = [];
  const leftOut: string[] = [];
  for (const { concept, code, meaning, value, unit } of coded) {
    const number = Number(value);
    if (value === "" || !Number.isFinite(number)) {
      leftOut.push(`${meaning} has no value`);
      continue;
    }
    const isShared = code !== null && conceptsOf.get(code)!.size > 1;
    const full = isShared ? `${code} ${concept.scheme}:${concept.value}` : code;
    const analyte = full === null || full.length > ANALYTE_LENGTH_MAX ? digestCode(concept, meaning) : full;
    results.push({
      analyte,
      value: number,
      unit: unit?.slice(0, UNIT_LENGTH_MAX) ?? null,
      reference_range: null,
      flag: null,
    });
    rows.push({
      analyte,
      code: conceptKey(concept).trim() || analyte,
      interval_id: null,
      reason: reasonOf("INTERVAL.NOT_FOR_IMAGES" satisfies FlagCode),
      text: value,
      device_range: null,
      device_species: null,
      device_flag: null,
      meaning: meaning.slice(0, MEANING_LENGTH_MAX),
    });
  }
  return { results, rows, leftOut };
}

/** Builds a code for a concept without a usable one: its scheme and a digest of the measurement's name. */
function digestCode({ scheme, value }: Code, meaning: string): string {
  return `${scheme.slice(0, 16) || "UNCODED"}:${digest([value, meaning]).slice(0, 12)}`;
}
