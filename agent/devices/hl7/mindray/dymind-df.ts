import type { Hl7Profile } from "../../../protocols/hl7/profile.ts";
import { automatedCount, mindrayBlood } from "./mindray-bc.ts";

/** Names of remarks, where the device sends names without codes. */
const REMARKS = /^(Remarks?|Blood Type|\w+ Alarm)$/i;

/**
 * Dymind DF and DH, and the same devices under other names (Analyx Panca), hematology, HL7: Mindray's dialect with other
 * codes. A Panca sends no sender and bare names. Source: logs of a DF5x, a DH3x and a Panca. Unverified: orders.
 */
export const dymindDf: Hl7Profile = {
  ...mindrayBlood,
  id: "dymind-df",
  marks:
    /\|Dymind\b|\b(?:01001\^Automated Count|0200[123]\^[^|]*)\^99MRC|[\r\n]OBX\|\d*\|NM\|Neu#\|[\s\S]*[\r\n]OBX\|\d*\|NM\|NLR\|/i,
  defaultName: "Dymind",
  sender: /\|Dymind$|^D[FH]\d/i,
  doubts: {},
  // A accompanies every H and L. Alone it means that the device suspects the value.
  results: (result) => [/^(N )?A$/.test(result.flag) ? { ...result, doubt: mindrayBlood.doubts.A } : result],
  remarks: new RegExp(`${mindrayBlood.remarks.source}|${REMARKS.source}`, "i"),
  orders: automatedCount("01001"),
};
