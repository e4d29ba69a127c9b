import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/**
 * Boditech iChroma III, immunoassay, HL7 (OUL^R24). Source: one sample of another program's author. Unverified: no capture. A
 * quantity in two units is two rows.
 */
export const ichromaIii: Hl7Profile = {
  id: "ichroma-iii",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "iChroma III", // MSH-3 is 1, MSH-4 ichroma3
  modality: "BIOCHEMISTRY",
  marks: /\bichroma/i,
  sender: /ichroma/i,
  patientProcessing: /^T$/, // MSH-11 of patients
  finalStatuses: /^R$/, // of every row
  // `9.87 ng/mL ` holds value and unit.
  results: (result) => {
    const [, value, unit] = /^([<>]? ?\d[\d.,]*) +(\S+)$/.exec(result.value) ?? [];
    return [value === undefined || unit === undefined ? result : { ...result, value, unit: result.unit || unit }];
  },
};
