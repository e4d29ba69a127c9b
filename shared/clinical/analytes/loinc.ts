import type { Analyte } from "./analytes.ts";
import { factorOf } from "./units.ts";

// The LOINC code of a result, for every reader: the read API, FHIR, HL7 messages and CSV files.

/** LOINC codes by the kind of the unit sent, where the catalogue has codes of both kinds (LOINC names: `[Mass/volume]`, `[Moles/volume]`). */
const BY_QUANTITY: Readonly<Record<string, { readonly mass: string; readonly moles: string }>> = {
  GLU: { mass: "2345-7", moles: "14749-6" },
  CREA: { mass: "2160-0", moles: "14682-9" },
  BUN: { mass: "3094-0", moles: "14937-7" },
  UREA: { mass: "3091-6", moles: "22664-7" },
  TBIL: { mass: "1975-2", moles: "14631-6" },
  DBIL: { mass: "1968-7", moles: "14629-0" },
  CHOL: { mass: "2093-3", moles: "14647-2" },
  HDL: { mass: "2085-9", moles: "14646-4" },
  LDL: { mass: "13457-7", moles: "39469-2" },
  NONHDL: { mass: "43396-1", moles: "70204-3" },
  TRIG: { mass: "2571-8", moles: "14927-8" },
  CA: { mass: "17861-6", moles: "2000-8" },
  PHOS: { mass: "2777-1", moles: "14879-1" },
  MG: { mass: "19123-9", moles: "2601-3" },
  URIC: { mass: "3084-1", moles: "14933-6" },
  UCREA: { mass: "2161-8", moles: "14683-7" },
  FT4: { mass: "3024-7", moles: "14920-3" },
};

/** Chooses the LOINC code by the unit sent, since a code names a mass or an amount. Null if the catalogue has none for it. */
export function loincOf(analyte: Analyte, unit: string | null): string | null {
  const [first = null] = analyte.loinc;
  if (analyte.canonical_unit === null) return first;
  // The unit is unknown, and so is the quantity, unless all units of the analyte measure one.
  const quantities = new Set(analyte.units.map((each) => quantityOf(analyte, each.unit)));
  const kind = unit === null ? (quantities.size === 1 ? [...quantities][0] : null) : quantityOf(analyte, unit);
  const pair = BY_QUANTITY[analyte.code];
  if (pair !== undefined) return kind === "mass" || kind === "moles" ? pair[kind] : null;
  return kind === quantityOf(analyte, analyte.canonical_unit) ? first : null;
}

/** The kind of quantity that a unit measures. A milliequivalent of an ion with one charge is a millimole. */
function quantityOf(analyte: Analyte, unit: string): "mass" | "moles" | "equivalents" | "other" {
  if (/^[munpf]?mol\//.test(unit)) return "moles";
  if (unit.startsWith("mEq/")) {
    const isMoles = analyte.canonical_unit?.startsWith("mmol/") === true && factorOf(analyte, unit) === 1;
    return isMoles ? "moles" : "equivalents";
  }
  return /^[kmunp]?g(\/|$)/.test(unit) ? "mass" : "other";
}
