import type { DeviceResult } from "../../report/report.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import type { Segment } from "../../protocols/hl7/message/segment.ts";

/**
 * Bionote Vcheck V200 and F200, immunoassay, HL7 2.6 (IHE PCD). MSH-4 of an F200 is empty. Source: captures of both. Unverified:
 * results in words and invalid runs (source: notes on an F200).
 */
export const bionoteVcheck: Hl7Profile = {
  id: "bionote-vcheck",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Bionote Vcheck", // MSH-3 is the serial number
  modality: "BIOCHEMISTRY",
  marks: /\|(?:BN0\d{3}|SDB-\d{4})\^|Device Information,Date of manufacture=/i,
  sender: /\|BioNote$|^\s*[FV]A20/i,
  // `BN0010^Canine CRP^LN`, an invalid LOINC code.
  code: (obx) => [obx.component(3, 1), obx.component(3, 2)],
  noteValue: /^(?<unit>Cut Off Index),Value=(?<value>.+)$/, // `Cut Off Index,Value=0.57`, with an empty OBX-5
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

/** Bionote Vcheck C10, chemistry, HL7 2.5.1 (IHE LAW). Source: the code of a program that connects to it. Unverified. */
export const bionoteVcheckC10: Hl7Profile = {
  id: "bionote-vcheck-c10",
  marks: /\|C10\|BioNote|\^VCHECK\b/i,
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Bionote Vcheck C10",
  modality: "BIOCHEMISTRY",
  patient: (pid) => ({ owner: pid.component(21, 1) }), // in place of the mother's identifier
  // QBP^Q11 gets RSP^K11 and OML^O33: `DC001B^Comprehensive 17^VCHECK`.
  orders: {
    species: { dog: "Canine", cat: "Feline" },
    tests: { pattern: /^[A-Z]{2}\d{3}[A-Z]$/, example: "DC001B: the code of a rotor" },
    testSystem: "VCHECK",
    patientRows: true,
  },
};

/** Bionote Vcheck H6, hematology, HL7 2.3.1. Source: the code of a program that connects to it. Unverified. */
export const bionoteVcheckH6: Hl7Profile = {
  id: "bionote-vcheck-h6",
  marks: /\|H6\|BioNote|\|RBC Title\|/i,
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Bionote Vcheck H6",
  modality: "HEMATOLOGY",
  // In place of the race, and of the mother's maiden name.
  patient: (pid) => ({ species: pid.component(10, 2), owner: pid.component(6, 1) }),
  remarks: /^(Age|Weight)\b|Title/, // age and weight of the patient, and headings of the print-out
  // QRY^Q02 gets DSR^Q03 and QCK^Q02. Species 21 and 22 are defined by the clinic, so they are unknown.
  orders: {
    displayFirst: true,
    species: { dog: "0", cat: "1" },
    neutered: { M: "NM", F: "SF" },
    tests: { pattern: /^(CBC|DIFF|RET)$/, example: "CBC,DIFF" },
    lines: {
      name: 3,
      sex: 5,
      specimen: 12,
      age: { number: 13, unit: 14 },
      weight: 17,
      species: 19,
      tests: { CBC: 29, DIFF: 30, RET: 31 },
    },
  },
};
