import { NO_PATIENT } from "../../shared/clinical/flag.ts";
import type { Patient } from "../../shared/api/patient.ts";
import type { FlaggedPatient, PushedStudy } from "../../shared/api/study.ts";
import { flaggedPatient, type Signalment, signalmentAt } from "../../shared/clinical/signalment.ts";

// Whether the agent flagged a study for the patient as the server knows it.

/** Begins the note of a study that the server has flagged anew. */
export const FLAGGED_ANEW = "flagged anew: ";

/** Why the results must be flagged anew for the patient, as a note; null where the agent's flags are for it. */
export function whyFlagAnew(
  { patient_fp, acquired_at, snapshot }: Pick<PushedStudy, "patient_fp" | "acquired_at" | "snapshot">,
  patient: Patient,
): string | null {
  const animal = snapshot?.animal;
  // An older agent tells of a missing patient in the rows alone.
  const isUnknown = animal === null || snapshot?.rows.some(({ reason }) => reason === NO_PATIENT) === true;
  if (patient_fp === null || isUnknown) {
    return `${FLAGGED_ANEW}the agent did not know the patient, or not as it is, when it flagged some of the results`;
  }
  if (animal === undefined) return null;
  // Without a breed in the snapshot the agent's subgroup is not known, and taken for the same.
  const taken = { ...animal, breed: animal.breed ?? patient.breed };
  const [before, now] = [signalmentAt(taken, acquired_at), signalmentAt(patient, acquired_at)];
  const differing = facts.filter(({ decides }) => decides.some((name) => before[name] !== now[name]));
  if (differing.length === 0) return null;
  const described = (known: FlaggedPatient) => {
    const words = differing.map(({ describe }) => describe(known));
    return before.species === now.species ? ["one", ...words].join(" ") : words.join(" ");
  };
  return `${FLAGGED_ANEW}the agent took the patient for ${described(taken)}, it is ${described(flaggedPatient(patient))}`;
}

/** Each fact of a patient that decides an interval, with its words. */
const facts: readonly { decides: readonly (keyof Signalment)[]; describe: (known: FlaggedPatient) => string }[] = [
  { decides: ["species"], describe: ({ species }) => `${/^[aeiou]/.test(species) ? "an" : "a"} ${species}` },
  { decides: ["subgroup"], describe: ({ breed }) => (breed == null ? "of unknown breed" : `of the breed ${breed}`) },
  { decides: ["sex", "neutered"], describe: ({ sex }) => (sex === null ? "of unknown sex" : `of the sex ${sex}`) },
  {
    decides: ["ageDays"],
    describe: ({ date_of_birth }) => (date_of_birth === null ? "of unknown age" : `born on ${date_of_birth}`),
  },
];
