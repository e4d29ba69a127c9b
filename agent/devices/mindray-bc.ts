import type { Hl7Profile } from "../protocols/hl7/profile.ts";

/** Message format of Mindray's hematology analyzers and compatible ones. */
export const mindrayBlood = {
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null, // MSH-3 is the model: `BC-5380`
  modality: "HEMATOLOGY",
  speciesRow: /\^Ref Group\^/, // the patient's species on a Vet model (unverified); a human model sends `General`, which is not a species
  // Modes, remarks, the age in years and histogram marks: `08001^Take Mode^99MRC`, `30525-0^Age^LN`, `15001^WBC
  // Histogram. Left Line^99MRC`.
  remarks: /^(0\d{4}\^|3[01]525-0\^|15\d{3}\^)/,
} as const;

/**
 * ORM^O01 gets ORR^O02 with an automated count, whatever was ordered. The species codes of Vet models are unknown, so
 * none is sent.
 */
export function automatedCount(code: string): NonNullable<Hl7Profile["orders"]> {
  return { panel: [code, "Automated Count", "99MRC"], species: {} };
}

/**
 * Mindray BC hematology analyzers, HL7 2.3.1. Source: a capture of a BC-5380, and the family's manual for other and Vet
 * models (unverified). Accepting orders is unverified.
 */
export const mindrayBc: Hl7Profile = {
  ...mindrayBlood,
  id: "mindray-bc",
  sender: /^BC-/,
  orders: automatedCount("00001"),
};
