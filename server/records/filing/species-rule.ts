import type { Patient } from "../../../shared/api/patient.ts";
import { type ReasonOf, reasonOf } from "../../../shared/api/reason.ts";
import type { PatientHint } from "../../../shared/api/study.ts";
import { fold, readSpecies, servedSpecies } from "../../../shared/clinical/species.ts";

// The one rule about species: a study of a device that states another species than the patient's waits for a person.

/**
 * Compares the species that the device states with the patient's. `precise` is the animal itself, such as a ferret, if it is known: a
 * cow's result contradicts a horse, and neither contradicts an animal of which no more than `exotic` is known.
 * @returns null if they agree, or the device states none, or words that the species map does not contain
 */
export function speciesContradiction(
  hint: Pick<PatientHint, "species"> | null,
  { species }: Pick<Patient, "species">,
  precise: string | null,
): ReasonOf<"MATCH.OTHER_SPECIES"> | null {
  const stated = readSpecies(hint?.species ?? "");
  const own = readSpecies(precise ?? species) ?? species;
  if (stated === null || stated === own || (precise === null && servedSpecies(stated) === own)) return null;
  return reasonOf("MATCH.OTHER_SPECIES", stated, precise ?? species);
}

/** Whether a text names the patient's species, in any language that devices use. Who types it confirms a contradiction. */
export function namesSpecies(typed: string, { species }: Pick<Patient, "species">): boolean {
  return fold(typed) === fold(species) || (readSpecies(typed) !== null && readSpecies(typed) === readSpecies(species));
}
