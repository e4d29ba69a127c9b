import type { AstmProfile } from "../../protocols/astm/profile.ts";

/** Abaxis VetScan VS2, chemistry, ASTM over RS-232. Source: a capture of the vendor. */
export const abaxisVetscanVs2: AstmProfile = {
  id: "abaxis-vetscan-vs2",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: "Abaxis VetScan VS2",
  modality: "BIOCHEMISTRY",
  sender: /^ABAXIS, INC\.\^VetScan VS2/i,
  code: (r) => [r.component(3, 1), r.component(3, 4)], // LOINC, then its name: `1742-6^^LN^ALT SerPl-cCnc`
  species: (p) => p.field(16), // the device prints the label of its reference range here
  owner: (p) => p.component(15, 1),
  alwaysNamesPatient: true,
  doubtMarks: {
    "*": "the value is outside the device's measuring range (*)",
    "@": "the value is above the device's linear range (@)",
    c: "the device marks the value with c",
  },
  valueSuffix: /c$/, // 23c
  skipOrder: /QUALITY CONTROL REPORT/, // the report follows every patient's results in the same message
};
