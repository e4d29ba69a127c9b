import type { ListedPatient } from "../../../dashboard/types/patients.ts";
import { studyWord } from "./study-word.ts";
import { speciesOf } from "./words.ts";

/** Returns the facts that distinguish namesakes. */
export function patientFacts(patient: ListedPatient): string {
  const facts = [studyWord(speciesOf(patient)), patient.owner_name, ...patient.identifiers.slice(0, 1)];
  return facts.filter((fact) => fact !== null).join(" · ");
}
