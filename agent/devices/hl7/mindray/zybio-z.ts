import type { Hl7Profile } from "../../../protocols/hl7/profile.ts";
import { mindrayBlood } from "./mindray-bc.ts";

/**
 * Zybio Z and EXR, hematology with CRP, SAA and cardiac markers, HL7: Mindray's dialect. The modality is the analyte's. Source:
 * notes on an EXR100, whose MSH-3 is `Q3`. Unverified: no capture. Order queries are unknown.
 */
export const zybioZ: Hl7Profile = {
  ...mindrayBlood,
  id: "zybio-z",
  defaultName: "Zybio",
  modality: null,
  marks: /\|Zybio\b/i,
  sender: /zybio|^EXR\d/i,
};
