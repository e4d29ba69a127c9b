import type { Hl7Profile } from "./profile.ts";

/** Bionote Vcheck V200 and F200 immunoassay readers, HL7 2.6 (IHE PCD): after a capture of a V200; the notes of an F200 are unverified. */
export const bionoteVcheck: Hl7Profile = {
  id: "bionote-vcheck",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Bionote Vcheck", // MSH-3 is its serial number
  modality: "BIOCHEMISTRY",
  sender: /\|BioNote$/i,
  // `BN0010^Canine CRP^LN`, which is no LOINC.
  code: (obx) => [obx.component(3, 1), obx.component(3, 2)],
  noteValue: /^(?<unit>Cut Off Index),Value=(?<value>.+)$/, // `Cut Off Index,Value=0.57`, where OBX-5 is empty
};

/** Bionote Vcheck C10 chemistry, HL7 2.5.1 (IHE LAW). Unverified: the shape was read in a program that talks to it. */
export const bionoteVcheckC10: Hl7Profile = {
  id: "bionote-vcheck-c10",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Bionote Vcheck C10",
  modality: "BIOCHEMISTRY",
  owner: (pid) => pid.component(21, 1), // where the standard has the mother's identifier
};

/** Bionote Vcheck H6 hematology, HL7 2.3.1. Unverified: the shape was read in a program that talks to it. */
export const bionoteVcheckH6: Hl7Profile = {
  id: "bionote-vcheck-h6",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Bionote Vcheck H6",
  modality: "HEMATOLOGY",
  species: (pid) => pid.component(10, 2), // where the standard has the race
  owner: (pid) => pid.component(6, 1), // and here the mother's maiden name
  remarks: /^(Age|Weight)\b|Title/, // the animal's, and the headings of its print-out
};
