import type { ShownPatient } from "../../../dashboard/types/results/unmatched.ts";
import { word } from "../../ui/words/words.ts";

/** Prints the facts of a patient that distinguish namesakes. */
export function patientFacts({ breed, sex, date_of_birth, weight_kg, owner_name = null }: ShownPatient): string {
  const weight = weight_kg === null ? null : `${weight_kg} kg`;
  return [breed, sex === null ? null : word(sex), date_of_birth, weight, owner_name]
    .filter((fact) => fact !== null)
    .join(" · ");
}
