import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import { automatedCount, mindrayBlood } from "./mindray-bc.ts";

/** Dymind DF, hematology, HL7: Mindray's dialect with other codes. Source: a capture of a DF5x. Unverified: orders. */
export const dymindDf: Hl7Profile = {
  ...mindrayBlood,
  id: "dymind-df",
  sender: /\|Dymind$/i,
  orders: automatedCount("01001"),
};
