import type { DeviceResult } from "../../report/report.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import { CHEMISTRY_MARKS } from "../text/fuji-dri-chem-nx.ts";
import { doubtsOf } from "../text/fuji-text.ts";

// The note after a result holds marks whose meaning depends on their place: `3D010000002329101\T\MDT^GLU^JC10` has lot, validity,
// marks, emergency, validity of the lot and expiry.

/** Adds the doubts of the row after a result. */
export const marksByPlace: Partial<Hl7Profile> = {
  results: (result, _obx, { notes }) => [marked(result, notes)],
};

function marked(result: DeviceResult, notes: readonly string[]): DeviceResult {
  const doubts = notes.flatMap((note) => doubtsOf(note.split(",")[2] ?? "", CHEMISTRY_MARKS));
  return doubts.length === 0 ? result : { ...result, doubt: doubts.join("; ") };
}
