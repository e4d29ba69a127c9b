import { isStudyWord, studyEnglish, studyTurkish } from "../../../dashboard/types/results/study-words.ts";
import { texts } from "../../text.ts";

/** The kind of a study or the species of a patient in the words of the page. An unknown one stays as it is. */
export function studyWord(stored: string): string {
  return isStudyWord(stored) ? t(stored) : stored;
}

const t = texts(studyEnglish, studyTurkish);
