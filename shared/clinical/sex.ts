import { fold } from "./species.ts";

// The words of clinics and devices for the sex of a patient.

const MALE = ["m", "male", "mn", "nm", "mc", "cm", "mi", "erkek"].map(fold);

const FEMALE = ["f", "female", "fs", "sf", "fn", "nf", "fi", "disi"].map(fold);

const NEUTERED = [
  "mn",
  "nm",
  "mc",
  "cm",
  "fs",
  "sf",
  "fn",
  "nf",
  "neutered",
  "castrated",
  "spayed",
  "kisir",
  "kisirlastirilmis",
  "kastre",
].map(fold);

const INTACT = ["mi", "fi", "intact", "entire", "unneutered", "uncastrated", "unspayed"].map(fold);

/** Reads the sex in words. @returns null for no sex or both */
export function readSex(sex: string | null): "M" | "F" | null {
  const words = fold(sex ?? "");
  const isMale = MALE.some((word) => words.includes(word));
  const isFemale = FEMALE.some((word) => words.includes(word));
  if (isMale === isFemale) return null;
  return isMale ? "M" : "F";
}

/** Reads from a clinic's words for the sex whether the patient is neutered. @returns null if unknown, also for "not neutered" */
export function readNeutered(sex: string | null): boolean | null {
  const words = fold(sex ?? "");
  const isNeutered = NEUTERED.some((word) => words.includes(word));
  const isIntact = INTACT.some((word) => words.includes(word));
  if (isNeutered === isIntact || words.includes(fold("not"))) return null;
  return isNeutered;
}

/** The stored words for the sex of a patient. */
export const PATIENT_SEXES = ["male", "female", "male_neutered", "female_spayed", "unknown"] as const;

export type PatientSex = (typeof PATIENT_SEXES)[number];

const UNKNOWN_SEX = ["unknown", "u", "bilinmiyor"].map(fold);

const SEX_WORDS = new Set([...MALE, ...FEMALE, ...NEUTERED, ...INTACT, fold("not")]);

/** Reads a clinic's words for the sex ("FS", "kısır dişi"). @returns null for no sex, both, or any other word */
export function patientSex(words: string): PatientSex | null {
  const stored = PATIENT_SEXES.find((each) => each === words);
  if (stored !== undefined) return stored;
  const text = fold(words);
  if (UNKNOWN_SEX.includes(text)) return "unknown";
  const isKnown = text
    .trim()
    .split(" ")
    .every((word) => SEX_WORDS.has(fold(word)));
  const sex = isKnown ? readSex(words) : null;
  if (sex === null) return null;
  const isNeutered = readNeutered(words) === true;
  if (sex === "M") return isNeutered ? "male_neutered" : "male";
  return isNeutered ? "female_spayed" : "female";
}
