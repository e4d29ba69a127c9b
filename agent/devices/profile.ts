import type { AstmProfile } from "../protocols/astm/profile.ts";
import type { FileProfile } from "../protocols/file/profile.ts";
import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import type { Poct1Profile } from "../protocols/poct1/profile.ts";
import type { TextProfile } from "../protocols/text/profile.ts";

// Profile of one device model. A profile is a table: the code that reads messages names no model.

export type Profile = AstmProfile | Hl7Profile | TextProfile | Poct1Profile | FileProfile;
