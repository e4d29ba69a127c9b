import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/** Any analyzer that follows HL7 v2 over MLLP. Its codes are matched by the catalogue's LOINC codes and synonyms. */
export const genericHl7: Hl7Profile = {
  id: "generic-hl7",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null,
  modality: null,
  collectHours: 1,
  collectSingles: true,
  remarks: /^\^[^^]+\^99MRC$/, // suspicions of Mindray's and Dymind's hematology analyzers: `^Anemia^99MRC`
  orders: {},
};
