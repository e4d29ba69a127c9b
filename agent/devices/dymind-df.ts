import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import { automatedCount, mindrayBlood } from "./mindray-bc.ts";

/**
 * Dymind DF hematology analyzers: Mindray's dialect with codes of their own, after a capture of a DF5x; that they take our
 * orders is unverified.
 */
export const dymindDf: Hl7Profile = {
  ...mindrayBlood,
  id: "dymind-df",
  sender: /\|Dymind$/i,
  orders: automatedCount("01001"),
};
