import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import { mindrayBlood } from "./mindray-bc.ts";

/** Zybio Z and EXR, hematology, HL7: Mindray's dialect. Unverified: no capture. Order queries are unknown. */
export const zybioZ: Hl7Profile = { ...mindrayBlood, id: "zybio-z", sender: /zybio/i };
