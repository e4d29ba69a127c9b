import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/**
 * Genrui VH30, hematology, HL7. Unverified: source is another program's parser. The owner, in one of the last fields of OBX, is
 * not read.
 */
export const genruiVh30: Hl7Profile = {
  id: "genrui-vh30",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Genrui VH30",
  modality: "HEMATOLOGY",
  marks: /\|Genrui\b|\bVH30\b/i,
  sender: /^(?:Genrui\b|VH30\b)/i,
  patient: (pid) => ({
    identifier: pid.component(4, 1),
    name: pid.component(5, 1),
    species: pid.component(6, 1),
  }),
};
