import type { Patient } from "../../../shared/api/patient.ts";
import { type ReasonOf, reasonOf } from "../../../shared/api/reason.ts";
import type { PatientHint } from "../../../shared/api/study.ts";
import { fold, kindOf, otherAnimal, readSpecies } from "../../../shared/clinical/species.ts";

// The one rule about species: a study of a device that states another species than the patient's waits for a person.

/** @returns null if the species agree, or the device states none, or words that the species map does not contain */
export function speciesContradiction(
  hint: Pick<PatientHint, "species"> | null,
  patient: Pick<Patient, "species" | "breed">,
  precise: string | null,
): ReasonOf<"MATCH.OTHER_SPECIES"> | null {
  const other = otherAnimal(hint?.species ?? "", patient, precise);
  return other === null ? null : reasonOf("MATCH.OTHER_SPECIES", ...other);
}

/**
 * Whether a text names the patient's species, in any language that devices use: a ferret, or the word that the API serves. Who types
 * it confirms a contradiction.
 */
export function namesSpecies(
  typed: string,
  { species, breed }: Pick<Patient, "species" | "breed">,
  precise: string | null,
): boolean {
  if (fold(typed) === fold(species)) return true;
  const own = readSpecies(precise ?? species);
  if (own === null || readSpecies(typed) !== own) return false;
  return kindOf(own, typed) === (kindOf(own, precise) ?? kindOf(own, breed));
}
