import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/**
 * Siemens Clinitek Status, urine strips, HL7 2.4. Source: a log of one patient's strip and notes on a control's. Unverified: other
 * strips, and the text protocol of older firmware, which is not read.
 */
export const siemensClinitek: Hl7Profile = {
  id: "siemens-clinitek",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Siemens Clinitek Status",
  modality: "URINALYSIS",
  marks: /\bMultistix|\bQCRResult:/i,
  sender: /^Clinitek/i,
  controlWithoutPatient: true, // a patient has a PID and OBR-15 `UR^^^^^^P`; a control has neither
  analytes: { COL: "COLOR", CLA: "CLARITY" }, // COL is cholesterol elsewhere
};
