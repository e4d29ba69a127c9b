import { analytes, foldName } from "../../../shared/clinical/analytes/analytes.ts";
import { nearAnalytes } from "../../../shared/clinical/analytes/near-analytes.ts";

// The tests of an order: names of the catalogue, or the words of one device.

/** The codes of the results that a name of the catalogue may have. */
const CODES: ReadonlyMap<string, readonly string[]> = codesByName();

function codesByName(): Map<string, string[]> {
  const codes = new Map<string, string[]>();
  for (const { code, api_code, name, synonyms, loinc } of analytes) {
    for (const known of new Set([code, api_code, name, ...synonyms, ...loinc].map(foldName))) {
      codes.set(known, [...(codes.get(known) ?? []), api_code]);
    }
  }
  return codes;
}

/** Returns the tests of the catalogue without a result among these codes. A device's own word is never missing. */
export function missingTests(tests: readonly string[], measured: ReadonlySet<string>): string[] {
  return tests.filter((test) => CODES.get(foldName(test))?.every((code) => !measured.has(code)) === true);
}

/** A test that the catalogue lacks, and the codes with the nearest names. */
export interface UnknownTest {
  readonly test: string;
  readonly near: readonly string[];
}

/** Finds the tests that the catalogue lacks: only the device that an order names may know them. */
export function unknownTests(tests: readonly string[]): UnknownTest[] {
  return tests.filter((test) => !CODES.has(foldName(test))).map((test) => ({ test, near: nearAnalytes([test]) }));
}
