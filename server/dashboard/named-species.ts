import type { Patient } from "../../shared/api/patient.ts";
import { fold, readSpecies } from "../../shared/clinical/species.ts";

/** Whether a text names the patient's species, in any language that devices use. */
export function namesSpecies(typed: string, { species }: Pick<Patient, "species">): boolean {
  return fold(typed) === fold(species) || (readSpecies(typed) !== null && readSpecies(typed) === readSpecies(species));
}
