import type { FlagCode } from "../../../shared/clinical/flag.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import type { FlaggedPatient, PushedStudy } from "../../../shared/api/study.ts";
import { flaggedPatient, type Signalment, signalmentAt } from "../../../shared/clinical/signalment.ts";

// Detects studies that the agent flagged for other facts of the patient than the stored ones.

/** Prefix of the note in a study that the server flagged again. */
const FLAGGED_ANEW = "flagged anew: ";

/**
 * `served` is the patient as agents read it, whose species may be a group of animals. @returns the reason to flag the results again,
 * as a note; null if the agent flagged them for the same facts
 */
export function flagMismatchNote(
  { patient_fp, acquired_at, snapshot }: Pick<PushedStudy, "patient_fp" | "acquired_at" | "snapshot">,
  patient: Patient,
  served = patient,
): string | null {
  const animal = snapshot?.animal;
  // Older agents report a missing patient in the rows alone.
  const isUnknown =
    animal === null ||
    snapshot?.rows.some(({ reason }) => reason?.code === ("PATIENT.NONE" satisfies FlagCode)) === true;
  if (patient_fp === null || isUnknown) {
    return `${FLAGGED_ANEW}the agent did not know the patient, or not as it is, when it flagged some of the results`;
  }
  if (animal === undefined) return null;
  // Without a breed in the snapshot, assume that the agent used the patient's subgroup.
  const taken = { ...animal, breed: animal.breed ?? served.breed };
  const [before, now] = [signalmentAt(taken, acquired_at), signalmentAt(patient, acquired_at)];
  const differing = facts.filter(({ decides }) => decides.some((name) => String(before[name]) !== String(now[name])));
  if (differing.length === 0) return null;
  const described = (known: FlaggedPatient) => {
    const words = differing.map(({ describe }) => describe(known));
    return before.species === now.species ? ["one", ...words].join(" ") : words.join(" ");
  };
  return `${FLAGGED_ANEW}the agent took the patient for ${described(taken)}, it is ${described(flaggedPatient(patient))}`;
}

/** Facts of a patient that select an interval, with their description. */
const facts: readonly { decides: readonly (keyof Signalment)[]; describe: (known: FlaggedPatient) => string }[] = [
  { decides: ["species"], describe: ({ species }) => `${/^[aeiou]/.test(species) ? "an" : "a"} ${species}` },
  {
    decides: ["subgroup", "crossOf"],
    describe: ({ breed }) => (breed == null ? "of unknown breed" : `of the breed ${breed}`),
  },
  { decides: ["sex", "neutered"], describe: ({ sex }) => (sex === null ? "of unknown sex" : `of the sex ${sex}`) },
  {
    decides: ["ageDays"],
    describe: ({ date_of_birth }) => (date_of_birth === null ? "of unknown age" : `born on ${date_of_birth}`),
  },
];
