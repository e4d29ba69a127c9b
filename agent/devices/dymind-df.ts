import { mindrayBc } from "./mindray-bc.ts";
import type { Hl7Profile } from "./profile.ts";

/** Dymind DF hematology analyzers: Mindray's dialect with mode codes of their own, after a capture of a DF5x. */
export const dymindDf: Hl7Profile = { ...mindrayBc, id: "dymind-df", sender: /\|Dymind$/i };
