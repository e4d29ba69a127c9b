import { mindrayBc } from "./mindray-bc.ts";
import type { Hl7Profile } from "./profile.ts";

/** Zybio Z and EXR hematology analyzers: Mindray's dialect (unverified: no capture of ours). */
export const zybioZ: Hl7Profile = { ...mindrayBc, id: "zybio-z", sender: /zybio/i };
