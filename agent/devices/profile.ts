import type { AstmProfile } from "../astm/profile.ts";
import type { Hl7Profile } from "../hl7/profile.ts";
import type { Poct1Profile } from "../poct1/profile.ts";
import type { TextProfile } from "../text-profile.ts";

// What one model of device is like. A profile is a table: the code that reads messages knows no model by name.

export type Profile = AstmProfile | Hl7Profile | TextProfile | Poct1Profile;
