import type { Hl7Profile } from "../protocols/hl7/profile.ts";

/** Any analyzer that keeps to HL7 v2 over MLLP; its codes are found through the catalogue's LOINC codes and synonyms. */
export const genericHl7: Hl7Profile = {
  id: "generic-hl7",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: null,
  modality: null,
  orders: {},
};
