import type { AstmProfile } from "../../protocols/astm/profile.ts";

/**
 * Siemens DCA Vantage, HbA1c and urine albumin/creatinine, ASTM. Source: a log of one urine cartridge, and a program with the
 * fields of the maker's document 17306. Unverified: HbA1c records, controls and the link. POCT1-A: generic-poct1a.
 */
export const siemensDca: AstmProfile = {
  id: "siemens-dca",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: "DCA Vantage",
  modality: null, // HbA1c is blood, the urine cartridge is urinalysis
  sender: /^DCA VANTAGE\b/i,
  // O-4 is `sequence^cartridge lot`; no field names urine, but only one cartridge has these tests.
  code: (r) => [URINE_NAMES[r.component(3, 4)] ?? "", r.component(3, 4)],
  urine: (r) => r.component(3, 4) in URINE_NAMES,
};

const URINE_NAMES: Readonly<Record<string, string>> = { Alb: "UALB", Crt: "UCREA", Ratio: "ACR" };
