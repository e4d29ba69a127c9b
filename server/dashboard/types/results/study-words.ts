import type { Modality } from "../../../../shared/api/study.ts";
import { speciesWords } from "../../../../shared/clinical/passport/species-words.ts";

// Words for the kind of a study and the species of its patient, in pages, reports and CSV files.

export const studyWords = {
  HEMATOLOGY: ["Hematology", "Hematoloji"],
  BIOCHEMISTRY: ["Biochemistry", "Biyokimya"],
  URINALYSIS: ["Urinalysis", "İdrar tahlili"],
  RADIOLOGY: ["Radiology", "Radyoloji"],
  ULTRASOUND: ["Ultrasound", "Ultrason"],
  ENDOSCOPY: ["Endoscopy", "Endoskopi"],
  ...speciesWords,
  exotic: ["exotic", "egzotik"],
} as const satisfies Record<Modality, readonly string[]> & Record<string, readonly string[]>;

export type StudyWord = keyof typeof studyWords;

/** Whether a stored word has one here. Another word stays as it was written. */
export function isStudyWord(stored: string): stored is StudyWord {
  return Object.hasOwn(studyWords, stored);
}

/** The kinds of a study in the order of every list, those of the laboratory first. */
export const MODALITIES: readonly Modality[] = [
  ...(["HEMATOLOGY", "BIOCHEMISTRY", "URINALYSIS"] as const),
  ...(["RADIOLOGY", "ULTRASOUND", "ENDOSCOPY"] as const),
];

/** Whether a study consists of images. Its results, if any, are measurements in them, which have a free name. */
export function isOfImages(modality: Modality): boolean {
  return MODALITIES.indexOf(modality) >= 3;
}
