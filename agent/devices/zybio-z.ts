import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import { mindrayBlood } from "./mindray-bc.ts";

/**
 * Zybio Z and EXR hematology analyzers: Mindray's dialect (unverified: no capture). Their order queries are unknown.
 */
export const zybioZ: Hl7Profile = { ...mindrayBlood, id: "zybio-z", sender: /zybio/i };
