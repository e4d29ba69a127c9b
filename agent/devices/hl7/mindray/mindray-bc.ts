import type { Hl7Profile } from "../../../protocols/hl7/profile.ts";

/** Columns of Mindray's hematology analyzers and compatible ones. */
export const mindrayBlood = {
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null, // MSH-3 is the model: `BC-5380`
  modality: "HEMATOLOGY",
  // `N~A`: the device suspects the value. H, L and N compare it with the printed range.
  doubts: { A: "the device suspects it" },
  // The patient's species on a Vet model (unverified). A human model sends `General`. Its number differs by model: `01001`
  // on a BC-20S, `01002` on a BC-5380, `03001` on a Dymind.
  speciesRow: /(^|\^)Ref Group(\^|$)/,
  // Suspicions, `^Anemia^99MRC`, and further settings. Every profile knows the settings of the family.
  remarks: /^(0\d{4}\^|15\d{3}\^|\^[^^]+\^99MRC$)/,
} as const;

/** Format of ORR^O02: an automated count for any order. The species codes of Vet models are unknown and not sent. */
export function automatedCount(code: string): NonNullable<Hl7Profile["orders"]> {
  return { panel: [code, "Automated Count", "99MRC"], species: {} };
}

/**
 * Mindray BC, hematology, HL7 2.3.1. The sender may be empty (BC-5000, BC-20S, BC-30S). Source: a capture of a BC-5380, the
 * manual of the family, and a sample of a BC-20S that follows it. Unverified: other models, Vet models, and orders.
 */
export const mindrayBc: Hl7Profile = {
  ...mindrayBlood,
  id: "mindray-bc",
  marks: /\|BC-\d|\b(?:0000[12]\^Automated Count|0800[123]\^[^|]*|100(?:27|28|29|30)\^[^|]*)\^99MRC/i,
  defaultName: "Mindray BC",
  sender: /^BC-/i,
  orders: automatedCount("00001"),
};
