import type { Hl7Profile } from "../protocols/hl7/profile.ts";

/** Any analyzer that follows HL7 v2 over MLLP. Its codes are matched by the catalogue's LOINC codes and synonyms. */
export const genericHl7: Hl7Profile = {
  id: "generic-hl7",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null,
  modality: null,
  collectHours: 1,
  collectSingles: true,
  // Settings of Mindray's and Dymind's hematology analyzers: `08001^Take Mode^99MRC`, `30525-0^Age^LN`, `^Anemia^99MRC`.
  remarks: /^((0\d{4}|15\d{3})\^[^^]*\^99MRC|3[01]525-0\^|\^[^^]+\^99MRC$)/,
  orders: {},
};
