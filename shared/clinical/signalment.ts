import type { Patient } from "../api/patient.ts";
import type { FlaggedPatient } from "../api/study.ts";
import { isRealDate } from "../schema/timestamp.ts";
import { readNeutered, readSex } from "./sex.ts";
import { breedsNamed, subgroupOf } from "./species.ts";

const DAY_MS = 86_400_000;

/** The signalment of a patient at the time of the sample: the facts that select an interval. */
export interface Signalment {
  readonly species: string;
  readonly subgroup: string | null;
  /** The subgroups of a cross or of several breeds: they have caveats, and no intervals of their own. Absent without any. */
  readonly crossOf?: readonly string[];
  readonly ageDays: number | null;
  readonly sex: "M" | "F" | null;
  readonly neutered: boolean | null;
}

/** Returns the signalment of a patient at the time of the sample. The age is in full days from the date of birth (UTC). */
export function signalmentAt(
  patient: { species: string; breed: string | null; sex: string | null; date_of_birth: string | null },
  acquired_at: string,
): Signalment {
  const subgroup = subgroupOf(patient.species, patient.breed);
  const crossOf = subgroup === null ? breedsNamed(patient.species, patient.breed) : [];
  return {
    species: patient.species,
    subgroup,
    ...(crossOf.length === 0 ? {} : { crossOf }),
    ageDays: ageDays(patient.date_of_birth, acquired_at),
    sex: readSex(patient.sex),
    neutered: readNeutered(patient.sex),
  };
}

/** Returns the inputs of signalmentAt(), for the snapshot of a study. */
export function flaggedPatient({ species, breed, sex, date_of_birth }: Patient): FlaggedPatient {
  return { species, breed, sex, date_of_birth };
}

function ageDays(dateOfBirth: string | null, acquiredAt: string): number | null {
  if (dateOfBirth === null || !isRealDate(dateOfBirth)) return null;
  const days = Math.floor((Date.parse(acquiredAt) - Date.parse(dateOfBirth)) / DAY_MS);
  // A date of birth east of Greenwich may be tomorrow in UTC. A later one is wrong.
  return days >= -1 ? Math.max(days, 0) : null;
}
