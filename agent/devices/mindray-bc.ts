import type { Hl7Profile } from "./profile.ts";

/**
 * Mindray BC hematology analyzers, HL7 2.3.1: BC-5380 after a capture; the others of the family, and the Vet models, after
 * the manual they share (unverified).
 */
export const mindrayBc: Hl7Profile = {
  id: "mindray-bc",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null, // MSH-3 is the model: `BC-5380`
  modality: "HEMATOLOGY",
  sender: /^BC-/,
  speciesRow: /\^Ref Group\^/, // where a Vet model would have the animal (unverified); a human one says `General`, no species
  // Modes, remarks, the age in years and the marks of a histogram: `08001^Take Mode^99MRC`, `30525-0^Age^LN`,
  // `15001^WBC Histogram. Left Line^99MRC`.
  remarks: /^(0\d{4}\^|3[01]525-0\^|15\d{3}\^)/,
};
