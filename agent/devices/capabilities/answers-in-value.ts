import type { DeviceResult } from "../../report/report.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import type { Segment } from "../../protocols/hl7/message/segment.ts";

// A combined test has several answers in one OBX-5, each with its code and name: `BN0330-1^CPV Ag^Positive^LN`.

/** Reads each answer of a row as a result. A note `Z` means that the run is invalid. */
export const answersInValue: Partial<Hl7Profile> = {
  results: (result, obx, { notes }) => answers(result, obx).map((answer) => valid(answer, notes)),
};

/** Code of a result within OBX-5: `BN0330-1^CPV Ag^Positive^LN`. A separator may precede it. */
const ANSWER_CODE = /(?:^|[^\w-])((?:BN|SDB-)\w*\d(?:-\d+)?)$/;

/** Returns the results of a row, each with its code and name. A combined test has several in one OBX-5. */
function answers(result: DeviceResult, obx: Segment): DeviceResult[] {
  const parts = obx
    .repetitions(5)
    .flat()
    .map((part) => part.trim());
  const found = parts.flatMap((part, at) => {
    const code = ANSWER_CODE.exec(part)?.[1];
    if (code === undefined) return [];
    const [name = "", value = ""] = parts.slice(at + 1, at + 3);
    return [{ ...result, names: [code, name], code, label: name, value }];
  });
  if (found.length > 0) return found;
  // The third part is a word, or for a coded value the name of its coding system.
  const [, , word = ""] = parts;
  return [/\p{Ll}/u.test(word) ? { ...result, value: word } : result];
}

/** A note `Z` means the same as status X. */
function valid(result: DeviceResult, notes: readonly string[]): DeviceResult {
  const isInvalid = notes.some((note) => /^(status *[=,:] *)?Z$/i.test(note.trim()));
  return isInvalid ? { ...result, notFinal: "the run is invalid (its note is Z)" } : result;
}
