import type { AstmProfile } from "../protocols/astm/profile.ts";
import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import type { Poct1Profile } from "../protocols/poct1/profile.ts";
import type { TextProfile } from "../protocols/proprietary/profile.ts";

// What one model of device is like. A profile is a table: the code that reads messages knows no model by name.

export type Profile = AstmProfile | Hl7Profile | TextProfile | Poct1Profile;
