import { isStudyWord, studyWords } from "../../../dashboard/types/results/study-words.ts";
import { translations } from "../../text.ts";

/** Translates the kind of a study or the species of a patient. Unknown ones are shown unchanged. */
export function studyWord(stored: string): string {
  return isStudyWord(stored) ? t(stored) : stored;
}

const t = translations(studyWords);
