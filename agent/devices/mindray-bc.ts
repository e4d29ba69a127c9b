import type { Hl7Profile } from "../protocols/hl7/profile.ts";

/** What Mindray's hematology analyzers write, and those that took their dialect. */
export const mindrayBlood = {
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null, // MSH-3 is the model: `BC-5380`
  modality: "HEMATOLOGY",
  speciesRow: /\^Ref Group\^/, // where a Vet model would have the animal (unverified); a human one says `General`, no species
  // Modes, remarks, the age in years and the marks of a histogram: `08001^Take Mode^99MRC`, `30525-0^Age^LN`,
  // `15001^WBC Histogram. Left Line^99MRC`.
  remarks: /^(0\d{4}\^|3[01]525-0\^|15\d{3}\^)/,
} as const;

/**
 * ORM^O01, answered with ORR^O02: an automated count, whatever was ordered. How a Vet model codes the species is not known,
 * so it is not told.
 */
export function automatedCount(code: string): NonNullable<Hl7Profile["orders"]> {
  return { panel: [code, "Automated Count", "99MRC"], species: {} };
}

/**
 * Mindray BC hematology analyzers, HL7 2.3.1: BC-5380 after a capture; the others of the family, and the Vet models, after
 * the manual they share (unverified). Unverified too: that they take our orders.
 */
export const mindrayBc: Hl7Profile = {
  ...mindrayBlood,
  id: "mindray-bc",
  sender: /^BC-/,
  orders: automatedCount("00001"),
};
