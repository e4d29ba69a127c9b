import type { Patient } from "../api/patient.ts";
import { readSex } from "./sex.ts";
import { fold, otherAnimal, readSpecies } from "./species.ts";
import type { PatientHint } from "../api/study.ts";

// Candidates for a result without an exact identifier. A user chooses one; no program files a result by them.

/** A patient, and the clinic's records about it that can match a hint. */
export interface MatchEvidence {
  readonly patient: Patient;
  /** The animal itself, such as a ferret, where the species names a group; null if it is not known. */
  readonly precise: string | null;
  /** Card numbers and microchips. */
  readonly identifiers: readonly string[];
  /** Whether the patient has an event on the day of the sample. */
  readonly appointed: boolean;
  /** Owners in the hints of studies that were filed to the patient. */
  readonly owners: readonly string[];
}

export interface PatientCandidate {
  readonly patient: Patient;
  readonly precise: string | null;
  /** Points of the matching signs less those of the contradicting ones. It only sorts candidates. */
  readonly score: number;
  readonly reasons: readonly string[];
  /** The sign of each reason, for texts in other languages. */
  readonly signs: readonly CandidateSign[];
  /** The number of the patient that is equal or near to the device's; null if none is. */
  readonly number: string | null;
}

/** Points of each sign. Users mostly enter a name; the other signs only distinguish namesakes. */
const POINTS = {
  identifier: 40,
  nearIdentifier: 25,
  name: 40,
  nearName: 20,
  appointed: 20,
  species: 15,
  otherSpecies: -40,
  owner: 20,
  dateOfBirth: 20,
  otherDateOfBirth: -10,
  sex: 5,
  otherSex: -15,
  weight: 10,
  otherWeight: -10,
} as const;

export type CandidateSign = keyof typeof POINTS;

/** Min similarity of names; tolerances of weights, as shares. */
const NEAR_NAME = 0.7;
const WEIGHT_TOLERANCE = 0.15;
const WEIGHT_FAR = 0.5;

/**
 * Ranks patients by a device's hint, the best first, with the reasons. A candidate has a similar name, a similar
 * number or an event on that day.
 */
export function rankCandidates(
  hint: PatientHint,
  patients: Iterable<MatchEvidence>,
  limit: number,
): PatientCandidate[] {
  const sent = { ...hint, name: fold(hint.name ?? "").trim() };
  const likenessOf = likenessTo(sent.name);
  const ranked: PatientCandidate[] = [];
  for (const evidence of patients) {
    const candidate = weigh(sent, likenessOf(evidence.patient.name), evidence);
    if (candidate !== null) ranked.push(candidate);
  }
  const order = (a: PatientCandidate, b: PatientCandidate) =>
    b.score - a.score || (a.patient.fp < b.patient.fp ? -1 : 1);
  return ranked.toSorted(order).slice(0, limit);
}

/** Returns the similarity of a patient's name to the sent one, which is folded. A clinic has many namesakes. */
function likenessTo(sentName: string): (name: string) => number {
  const known = new Map<string, number>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const likeness = sentName === "" ? 0 : similarity(fold(name).trim(), sentName);
    known.set(name, likeness);
    return likeness;
  };
}

function weigh(
  sent: PatientHint,
  likeness: number,
  { patient, precise, identifiers, appointed, owners }: MatchEvidence,
): PatientCandidate | null {
  const reasons: string[] = [];
  const signs: CandidateSign[] = [];
  let score = 0;
  const note = (sign: CandidateSign, reason: string) => {
    score += POINTS[sign];
    reasons.push(reason);
    signs.push(sign);
  };

  const number = sent.identifier?.trim() ?? "";
  const near = nearNumber(number, identifiers);
  if (near !== null && near === number) note("identifier", `has the number ${number}`);
  else if (near !== null) note("nearIdentifier", `its number is ${near}`);

  if (likeness === 1) note("name", `is called ${patient.name}`);
  else if (likeness >= NEAR_NAME) note("nearName", `is called ${patient.name}, which is similar`);
  if (appointed) note("appointed", "has an event that day");
  if (reasons.length === 0) return null;

  const stated = sent.species ?? "";
  const other = otherAnimal(stated, patient, precise);
  if (other !== null) note("otherSpecies", `is a ${other[1]}, the device says ${other[0]}`);
  else if (readSpecies(stated) !== null) note("species", `is a ${precise ?? patient.species}`);
  const owner = fold(sent.owner ?? "");
  if (sent.owner !== null && owners.some((each) => fold(each) === owner))
    note("owner", `earlier results name the owner ${sent.owner}`);
  const contradicted = contradictedFacts(sent, patient);
  if (contradicted.includes("date_of_birth")) {
    note("otherDateOfBirth", `was born on ${patient.date_of_birth}, the device says ${sent.date_of_birth}`);
  } else if (sent.date_of_birth !== null && patient.date_of_birth !== null) {
    note("dateOfBirth", `was born on ${patient.date_of_birth}`);
  }
  if (contradicted.includes("sex")) note("otherSex", `is ${patient.sex}, the device says ${sent.sex}`);
  else if (readSex(sent.sex) !== null && readSex(patient.sex) !== null) note("sex", `is ${patient.sex}`);
  if (patient.weight_kg !== null && sent.weight_kg !== null) {
    const difference = Math.abs(patient.weight_kg - sent.weight_kg) / Math.max(patient.weight_kg, sent.weight_kg);
    if (difference <= WEIGHT_TOLERANCE) note("weight", `weighs ${patient.weight_kg} kg`);
    else if (difference > WEIGHT_FAR)
      note("otherWeight", `weighs ${patient.weight_kg} kg, the device says ${sent.weight_kg}`);
  }
  return { patient, precise, score, reasons, signs, number: near };
}

/** Facts of an animal in which a device may contradict the patient. The species has a stricter rule of its own. */
export const CONTRADICTED_FACTS = ["sex", "date_of_birth"] as const;
export type ContradictedFact = (typeof CONTRADICTED_FACTS)[number];

/** Lists the facts in which the device contradicts the patient. An unknown fact contradicts nothing. */
export function contradictedFacts(
  hint: Pick<PatientHint, "sex" | "date_of_birth">,
  { sex, date_of_birth }: Pick<Patient, "sex" | "date_of_birth">,
): ContradictedFact[] {
  return [
    ...(differ(readSex(hint.sex), readSex(sex)) ? (["sex"] as const) : []),
    ...(differ(hint.date_of_birth, date_of_birth) ? (["date_of_birth"] as const) : []),
  ];
}

function differ(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

/** Whether one name may be a typing error of the other. Case, accents and blanks make no difference. */
export function isNearName(one: string, other: string): boolean {
  const [first, second] = [fold(one).trim(), fold(other).trim()];
  return first !== "" && second !== "" && (slips(first, second) <= 1 || similarity(first, second) >= NEAR_NAME);
}

/** Returns the equal number, or else one with a single slip in more than three characters; null without one. */
function nearNumber(sent: string, numbers: readonly string[]): string | null {
  if (sent === "") return null;
  if (numbers.includes(sent)) return sent;
  if (sent.length <= 3) return null;
  return numbers.find((each) => Math.abs(each.length - sent.length) <= 1 && slips(each, sent) === 1) ?? null;
}

/** Returns 1 for equal texts, down to 0 for texts without a common part. */
function similarity(one: string, other: string): number {
  const length = Math.max(one.length, other.length);
  return length === 0 ? 0 : 1 - slips(one, other) / length;
}

/** Max characters that are compared. Further ones are ignored. */
const COMPARED_CHARS_MAX = 40;

/** Returns the Damerau-Levenshtein distance (optimal string alignment): omitted, added, wrong or swapped characters. */
function slips(first: string, second: string): number {
  const [one, other] = [first.slice(0, COMPARED_CHARS_MAX), second.slice(0, COMPARED_CHARS_MAX)];
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const wrong = one[i - 1] === other[j - 1] ? 0 : 1;
      const least = Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + wrong);
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      next.push(swapped ? Math.min(least, (before[j - 2] ?? 0) + 1) : least);
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
