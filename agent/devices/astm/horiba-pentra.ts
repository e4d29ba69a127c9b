import type { AstmProfile } from "../../protocols/astm/profile.ts";
import type { AstmRecord } from "../../protocols/astm/records.ts";

/**
 * Horiba ABX Pentra 60, 80, XL80, XLR and 400, Micros ES60, ASTM. Source: logs of a Pentra 80 run (26 results), a Pentra 60 run
 * (20) and a Pentra 400 run (6), the last two without unit names. Unverified: unit systems 2 to 4, the unit codes of a Pentra
 * 400, controls, Micros. Misprinted LOINC codes (804-5, 789-9, 717-9, 776-5, 744-3) are in the catalogue.
 */
export const horibaPentra: AstmProfile = {
  id: "horiba-pentra",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: "Horiba Pentra",
  modality: null, // the 400 is a chemistry analyzer
  marks: /\bABX\b|Pentra|Horiba|\^(?:804-5|789-9|717-9|776-5)\b|\^{3}\d{3}\^[A-Z]+\d?\|[^|]*\|(?:15|26)\|/i,
  sender: /^\W*$|ABX|Pentra|Horiba|Micros/i, // H-5 may be empty
  unit: unitOf,
  statuses: {
    W: { doubt: "the device suspects the value (R-9 is W)" },
    M: { doubt: "the value was typed in at the device (R-9 is M)" },
    D: "final", // measured in a dilution
    N: { notFinal: "rejected by the device" },
    X: { notFinal: "over the capacity of the device" },
  },
};

/** Reads R-5: the number of the device's unit system, or bytes of a charset without µ and ³ (Pentra 60). */
function unitOf(r: AstmRecord): string {
  const unit = r.field(5).trim();
  // Systems 2 to 4 are unknown, so their number stays in place of a unit.
  if (unit === "1") return CONVENTIONAL[r.component(3, 4)] ?? unit;
  return unit.includes(")") ? "" : unit;
}

/** Units of system 1, by the values of a run. PDW is not among them, because nothing shows whether it is % or fL. */
const CONVENTIONAL: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["WBC", "LYM#", "MON#", "NEU#", "EOS#", "BAS#", "ALY#", "LIC#", "PLT"].map((name) => [name, "10*3/uL"]),
  ),
  ...Object.fromEntries(
    ["LYM%", "MON%", "NEU%", "EOS%", "BAS%", "ALY%", "LIC%", "HCT", "RDW", "PCT"].map((name) => [name, "%"]),
  ),
  RBC: "10*6/uL",
  HGB: "g/dL",
  MCHC: "g/dL",
  MCH: "pg",
  MCV: "fL",
  MPV: "fL",
};
