import type { ShownPatient } from "../../../dashboard/types/results/unmatched.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { dayText, word } from "../../ui/words/words.ts";
import { t } from "./texts.ts";

/** Prints the facts of a patient that distinguish namesakes. */
export function patientFacts({
  species,
  breed,
  sex,
  date_of_birth,
  weight_kg,
  owner_name = null,
}: ShownPatient): string {
  const kind = [studyWord(species), breed].filter((fact) => fact !== null).join(", ");
  const weight = weight_kg === null ? null : `${weight_kg} kg`;
  const born = date_of_birth === null ? null : t("born", { day: dayText(date_of_birth) });
  return [kind, sex === null ? null : word(sex), born, weight, owner_name].filter((fact) => fact !== null).join(" · ");
}
