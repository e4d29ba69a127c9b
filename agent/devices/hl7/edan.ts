import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/**
 * EDAN H30, H30 Pro and H30 Vet, hematology, HL7 2.4. Source: a log of one sample of an H30 Pro. OBX-3 is `0`, and OBX-4 the name.
 * Unverified: Vet models, and orders that are not samples.
 */
export const edanH30: Hl7Profile = {
  id: "edan-h30",
  marks: /\|EDANLAB\^H\d/i,
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "EDAN H30", // MSH-3 is `H30_Pro^5295`
  modality: "HEMATOLOGY",
  sender: /^H\d+.*\|EDAN|^H30/i,
  notForPatients: /^EDANLAB\^[^^]*\^(?!Sample$)./, // OBR-4 `EDANLAB^H30Pro^Sample`; no other third part was seen
  flags: { "0": "N", "1": "H", "2": "L" },
  // OBR-6 is the reference group, OBR-12 `^Moderate Anemia@Microcytes`.
  comments: (obr) => [`Group: ${obr.field(6)}`, ...obr.field(12).split(/[\^@]/)],
};

/**
 * EDAN i15, blood gas, HL7 2.4, with an empty MSH-10. OBX-3 is 0 for a measured and 1 for a calculated row, and
 * OBX-4 the name. Source: notes on the log of a device. Unverified: calibration, control, names of further calculated rows.
 */
export const edanI15: Hl7Profile = {
  id: "edan-i15",
  marks: /\|EDAN\^i\d/i,
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "EDAN i15", // MSH-3 is EDAN, MSH-4 `i15^serial`
  modality: "BIOCHEMISTRY",
  sender: /^EDAN\|i\d/i,
  analytes: { "Ca++": "ICA", "tHb(est)": "THB", "cH+": "HION", mOsm: "OSMC" }, // Ca++ is ionized
  flags: { "↑": "H", "↓": "L" },
  withheld: (obx) => (/^(pass)?$/i.test(obx.field(13).trim()) ? "" : `the device's check is ${obx.field(13).trim()}`),
};
