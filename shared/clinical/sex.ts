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

/**
 * Words of practice software in English, Turkish, German, French and Spanish, each the complete text of a field. Devices do not send
 * them. `C` and `S` are the castrated and spayed of OpenVPMS and IDEXX.
 */
const PRACTICE_WORDS: readonly (readonly [PatientSex, string])[] = [
  [
    "male",
    "männlich, männl, rüde, kater, hengst, stallion, mâle, mâle entier, étalon, macho, macho entero, aygır, male entire",
  ],
  [
    "male_neutered",
    "c, castrated, gelding, mk, m k, m kast, m kastr, m kastriert, männlich kastriert, kastriert männlich, rüde kastriert, kater kastriert, " +
      "wallach, castré, mâle castré, hongre, castrado, macho castrado, iğdiş",
  ],
  [
    "female",
    "w, weiblich, weibl, hündin, kätzin, stute, mare, femelle, femelle entière, jument, hembra, hembra entera, yegua, kısrak",
  ],
  [
    "female_spayed",
    "s, spayed, wk, w k, w kast, w kastr, w kastriert, weiblich kastriert, kastriert weiblich, weiblich sterilisiert, hündin kastriert, " +
      "stérilisée, femelle stérilisée, femelle castrée, esterilizada, hembra esterilizada, castrada, hembra castrada",
  ],
  ["unknown", "unbekannt, inconnu, desconocido, unspecified"],
];

const practiceWords = new Map(
  PRACTICE_WORDS.flatMap(([sex, words]) => words.split(", ").map((word) => [fold(word), sex] as const)),
);

/** Sex and alteration of HL7 PID-8 in the form of dcm4chee: `M^Y` is a neutered male. */
const HL7_SEXES: ReadonlyMap<string, PatientSex> = new Map([
  ["M^Y", "male_neutered"],
  ["M^N", "male"],
  ["F^Y", "female_spayed"],
  ["F^N", "female"],
]);

/** Reads a clinic's words for the sex ("FS", "kısır dişi"). @returns null for no sex, both, or any other word */
export function patientSex(words: string): PatientSex | null {
  const stored = PATIENT_SEXES.find((each) => each === words) ?? HL7_SEXES.get(words.trim().toUpperCase());
  if (stored !== undefined) return stored;
  const text = fold(words);
  if (UNKNOWN_SEX.includes(text)) return "unknown";
  const ofPractice = practiceWords.get(text);
  if (ofPractice !== undefined) return ofPractice;
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
