import type { Analyte } from "../../../shared/clinical/analytes/analytes.ts";
import { loincName } from "../../../shared/clinical/analytes/loinc-names.ts";

// Chooses the LOINC codes of a test: by the unit that is sent, then by the specimen and the method that the name states.

export interface LoincTarget {
  readonly code: string;
  /** Name in LOINC. */
  readonly display: string;
  /** `wider`: another target of the specimen states the method, too. */
  readonly equivalence: "equivalent" | "wider";
  readonly specimen: string;
}

/** Returns the LOINC codes of an analyte in a unit, without those whose name was not read. */
export function loincTargets(analyte: Analyte, unit: string | null): LoincTarget[] {
  const named = analyte.loinc.flatMap((code) => {
    const display = loincName(code);
    return display === null || !fitsUnit(display, unit) ? [] : [{ code, display }];
  });
  return named.map(({ code, display }) => ({
    ...{ code, display },
    equivalence: named.some((other) => other.display.startsWith(`${display} by `)) ? "wider" : "equivalent",
    specimen: SPECIMEN.exec(display)?.[1] ?? analyte.specimen,
  }));
}

const SPECIMEN = /\b(?:in|of) (Serum or Plasma|Serum|Platelet poor plasma|Blood|Urine sediment|Urine)\b/;

/** A mass and an amount of substance are two codes. */
function fitsUnit(display: string, unit: string | null): boolean {
  if (display.includes("[Mass/volume]")) return unit !== null && /^[kmunp]?g\//.test(unit);
  if (display.includes("[Moles/volume]")) return unit !== null && /^([kmunp]?mol|m?eq)\//.test(unit);
  return true;
}
