import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

/** Returns the same words for each of these marks. */
function meaning(words: string, ...marks: readonly string[]): Record<string, string> {
  return Object.fromEntries(marks.map((mark) => [mark, `${words} (${mark})`]));
}

/** Marks of OBX-8. They describe the measurement: `HL` and `HH` concern the hemoglobin channel, and are neither high nor low. */
const DOUBTS: Readonly<Record<string, string>> = {
  ...meaning("below the measuring range", "ML"),
  ...meaning("above the measuring range", "MH"),
  ...meaning("below the linear range", "BL"),
  ...meaning("above the linear range", "AL"),
  ...meaning("trouble while measuring", "OR", "DF", "DP", "LF", "LP", "TE", "TL", "TU", "ST", "TB"),
  ...meaning("hemoglobin is doubtful", "HF", "HH", "HL", "HN", "HO", "HS", "HW"),
  ...meaning("trouble in the hemoglobin channel", "HT"),
  ...meaning("the device doubts the value", ..."SE DE FD NM OM O2 TM BD RP AF NR MB ER".split(" ")),
  ...meaning("the device doubts the value", ..."EC EF EP LW LM MM GM L2 SC XF".split(" ")),
};

/**
 * Boule Exigo H400 and its sisters (BM850, Swelab), hematology, HL7 2.7. Source: the maker's document 22794-2, and a log of one
 * run of an H400 (a dog, three populations). Unverified: the marks of OBX-8, human models, controls.
 */
export const bouleExigo: Hl7Profile = {
  id: "boule-exigo",
  protocol: "hl7",
  link: { kind: "mllp" },
  device_name: "Boule Exigo", // MSH-3 is set at the device, and BM850 at the factory
  modality: "HEMATOLOGY",
  marks:
    /\|Boule Medical|\|BM850\b|\^HL7MW|\|(?:Exigo|Swelab)|[\r\n]OBX\|\d*\|\w*\|PROF\|[\s\S]*[\r\n]OBX\|\d*\|\w*\|METH\|/i,
  runTime: 22, // OBR-22, to the minute; there is no OBR-7
  sampleField: 4, // sample id 1; OBR-3 is a running number
  patient: (_, obr) => (/\d/.test(obr.field(4)) ? { identifier: obr.field(4) } : { name: obr.field(4) }), // as staff type it
  finalStatuses: /^P$/, // of every row
  nullIsEmpty: true,
  speciesRow: /^PROF$/, // the profile, in the clinic's language: `DOG (3POP)`
  // Sample id 2, opening of the tube, operator; alert limits of an analyte, as `MCHCAL`, without a value; histograms.
  remarks: /^(ID2|METH|OPID|[A-Z0-9]{3,4}AL|HGRAM\w*)$/,
  doubts: DOUBTS,
};
