import type { Patient } from "../api/patient.ts";
import { readSex } from "./reference.ts";
import { fold, readSpecies } from "./species.ts";
import type { PatientHint } from "../api/study.ts";

// Candidates for a result without an exact identifier: for a person to choose from, never for a program.

/** A patient and what the clinic knows beside it. */
export interface MatchEvidence {
  readonly patient: Patient;
  /** Card numbers and microchips. */
  readonly identifiers: readonly string[];
  /** An event of it is in the calendar on the day of the sample. */
  readonly appointed: boolean;
  /** Owners whom devices named in studies that were filed to it. */
  readonly owners: readonly string[];
}

export interface PatientCandidate {
  readonly patient: Patient;
  /** Only for the order: what speaks for the patient less what speaks against it. */
  readonly score: number;
  readonly reasons: readonly string[];
}

/** How much each sign says. A name is what people give; all else only tells namesakes apart. */
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
  sex: 5,
  otherSex: -15,
  weight: 10,
  otherWeight: -10,
} as const;

/** Min similarity of names; tolerances of weights, as shares. */
const NEAR_NAME = 0.7;
const WEIGHT_TOLERANCE = 0.15;
const WEIGHT_FAR = 0.5;

/**
 * The likeliest patients for what a device said of the animal, best first, each with the reasons. Who has neither a similar
 * name or number nor an event that day is none of them.
 */
export function rankCandidates(hint: PatientHint, known: Iterable<MatchEvidence>, limit: number): PatientCandidate[] {
  const said = { ...hint, name: fold(hint.name ?? "").trim(), species: readSpecies(hint.species ?? "") };
  const ranked: PatientCandidate[] = [];
  for (const each of known) {
    const candidate = weigh(said, each);
    if (candidate !== null) ranked.push(candidate);
  }
  const order = (a: PatientCandidate, b: PatientCandidate) =>
    b.score - a.score || (a.patient.fp < b.patient.fp ? -1 : 1);
  return ranked.toSorted(order).slice(0, limit);
}

function weigh(said: PatientHint, { patient, identifiers, appointed, owners }: MatchEvidence): PatientCandidate | null {
  const reasons: string[] = [];
  let score = 0;
  const note = (sign: keyof typeof POINTS, reason: string) => {
    score += POINTS[sign];
    reasons.push(reason);
  };

  const number = said.identifier?.trim() ?? "";
  const [nearest = ""] = identifiers.toSorted((a, b) => similarity(b, number) - similarity(a, number));
  if (number !== "" && number === nearest) note("identifier", `has the number ${number}`);
  else if (number.length > 3 && slips(nearest, number) === 1) note("nearIdentifier", `its number is ${nearest}`);

  const name = fold(patient.name).trim();
  const likeness = said.name === null || said.name === "" ? 0 : similarity(name, said.name);
  if (likeness === 1) note("name", `is called ${patient.name}`);
  else if (likeness >= NEAR_NAME) note("nearName", `is called ${patient.name}, which is similar`);
  if (appointed) note("appointed", "has an event that day");
  if (reasons.length === 0) return null;

  if (said.species !== null) {
    if (said.species === patient.species) note("species", `is a ${patient.species}`);
    else note("otherSpecies", `is a ${patient.species}, the device says ${said.species}`);
  }
  const owner = fold(said.owner ?? "");
  if (said.owner !== null && owners.some((each) => fold(each) === owner))
    note("owner", `earlier results name the owner ${said.owner}`);
  if (said.date_of_birth !== null && said.date_of_birth === patient.date_of_birth) {
    note("dateOfBirth", `was born on ${patient.date_of_birth}`);
  }
  const [sex, saidSex] = [readSex(patient.sex), readSex(said.sex)];
  if (sex !== null && saidSex !== null) {
    if (sex === saidSex) note("sex", `is ${patient.sex}`);
    else note("otherSex", `is ${patient.sex}, the device says ${said.sex}`);
  }
  if (patient.weight_kg !== null && said.weight_kg !== null) {
    const difference = Math.abs(patient.weight_kg - said.weight_kg) / Math.max(patient.weight_kg, said.weight_kg);
    if (difference <= WEIGHT_TOLERANCE) note("weight", `weighs ${patient.weight_kg} kg`);
    else if (difference > WEIGHT_FAR)
      note("otherWeight", `weighs ${patient.weight_kg} kg, the device says ${said.weight_kg}`);
  }
  return { patient, score, reasons };
}

/** Whether one name may be a slip of the other; case, accents and blanks are no difference. */
export function isNearName(one: string, other: string): boolean {
  const [name, said] = [fold(one).trim(), fold(other).trim()];
  return name !== "" && said !== "" && (slips(name, said) <= 1 || similarity(name, said) >= NEAR_NAME);
}

/** 1 for the same text, 0 for texts that share nothing. */
function similarity(one: string, other: string): number {
  const length = Math.max(one.length, other.length);
  return length === 0 ? 0 : 1 - slips(one, other) / length;
}

const COMPARED_LETTERS_MAX = 40;

/** How many slips of the finger part two texts: letters left out, added, wrong, or two that changed places. */
function slips(first: string, second: string): number {
  const [one, other] = [first.slice(0, COMPARED_LETTERS_MAX), second.slice(0, COMPARED_LETTERS_MAX)];
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
