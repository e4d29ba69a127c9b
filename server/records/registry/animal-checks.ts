import { PATIENT_SEXES, patientSex } from "../../../shared/clinical/sex.ts";
import { animalSpecies, API_SPECIES } from "../../../shared/clinical/species.ts";
import { shown } from "../../../shared/schema/problems.ts";
import { isRealDate, isRealInstant } from "../../../shared/schema/timestamp.ts";

// Checks the facts of an animal, whatever brings them: a line of an import or an item of practice software.

/** A value that is refused. Programs read the code, people the message. */
export interface Fault {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** The facts as they came, of the right types. */
export interface GivenAnimal {
  readonly name: string;
  readonly species: string;
  readonly sex: string | null;
  readonly date_of_birth: string | null;
  readonly weight_kg: number | null;
  /** The last day on which it may be born, if that is before today. */
  readonly deleted_at?: string | null | undefined;
}

/** Weight of the heaviest bulls and draught horses. A larger value is in grams or mistyped. */
const WEIGHT_KG_MAX = 1500;

const BORN_FROM = "1950-01-01";

/** Offset of the easternmost time zone, where it is already the next day. */
const EAST_MS = 14 * 3_600_000;

/** @returns the faults of well-formed facts that are unknown words, impossible or out of bounds */
export function animalFaults(animal: GivenAnimal, now: number): Fault[] {
  const { name, species, sex, weight_kg } = animal;
  const faults: Fault[] = [];
  const note = (field: string, code: string, value: unknown, expected: string) =>
    faults.push({ field, code, message: `${field} is ${shown(value)}, expected ${expected}` });

  if (name.trim() === "") note("name", "blank", name, "a name");
  if (animalSpecies(species) === null) {
    note("species", "unknown_species", species, `a word for one of ${API_SPECIES.join(", ")}, horse, cow`);
  }
  if (sex !== null && patientSex(sex) === null) {
    note("sex", "unknown_sex", sex, `a word for one of ${PATIENT_SEXES.join(", ")}, or null`);
  }
  if (weight_kg !== null && !(weight_kg > 0 && weight_kg <= WEIGHT_KG_MAX)) {
    note("weight_kg", "out_of_range", weight_kg, `more than 0 and at most ${WEIGHT_KG_MAX}, or null`);
  }
  return [...faults, ...birthFaults(animal, now)];
}

function birthFaults({ date_of_birth, deleted_at }: GivenAnimal, now: number): Fault[] {
  if (date_of_birth === null) return [];
  const end = deleted_at && isRealInstant(deleted_at) ? Date.parse(deleted_at) : now;
  const last = new Date(end + EAST_MS).toISOString().slice(0, 10);
  const fault = (code: string, expected: string): Fault[] => {
    const message = `date_of_birth is ${shown(date_of_birth)}, expected ${expected}`;
    return [{ field: "date_of_birth", code, message }];
  };
  if (!isRealDate(date_of_birth)) return fault("not_a_day", "a day that exists");
  const isPossible = date_of_birth >= BORN_FROM && date_of_birth <= last;
  return isPossible ? [] : fault("out_of_range", `a day from ${BORN_FROM} to ${last}`);
}

/** @returns the words that are stored for species and sex. The checks refused unknown words. */
export function storedWords({ species, sex }: Pick<GivenAnimal, "species" | "sex">) {
  const read = animalSpecies(species);
  return {
    species: read?.served ?? species,
    precise_species: read?.precise ?? null,
    sex: sex === null ? null : (patientSex(sex) ?? sex),
  };
}
