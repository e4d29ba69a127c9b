import type { DeviceResult } from "../../report/report.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import { CHEMISTRY_MARKS } from "../text/fuji-dri-chem-nx.ts";
import { doubtsOf } from "../text/fuji-text.ts";

/**
 * Fujifilm DRI-CHEM NX over LAN, formats 4 and C: HL7 2.5.1, OUL^R22 (IHE LAB-29). The sender is empty, and there is neither a
 * PID nor a species. Source: the maker's document 027-004-01E and its example. Unverified: no log of a device. The framing
 * without VT of some Japanese devices is not read.
 */
export const fujiDriChemNxHl7: Hl7Profile = {
  id: "fuji-dri-chem-nx-hl7",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Fujifilm DRI-CHEM NX",
  modality: "BIOCHEMISTRY",
  marks: /\\T\\MDT\^|DRI-?CHEM/i,
  sender: /fuji|dri-?chem/i,
  // `3D010000002329101\T\MDT^GLU^JC10`: lot, validity, marks, emergency, validity of the lot, expiry.
  commentRows: /&MDT(\^|$)/,
  results: (result, _obx, { notes }) => [marked(result, notes)],
};

/** Adds the marks of the row after the result. */
function marked(result: DeviceResult, notes: readonly string[]): DeviceResult {
  const doubts = notes.flatMap((note) => doubtsOf(note.split(",")[2] ?? "", CHEMISTRY_MARKS));
  return doubts.length === 0 ? result : { ...result, doubt: doubts.join("; ") };
}
