import type { Modality } from "../../../../shared/api/study.ts";

// Words for the kind of a study and the species of its patient, in pages, reports and CSV files.

export const studyEnglish = {
  HEMATOLOGY: "Hematology",
  BIOCHEMISTRY: "Biochemistry",
  URINALYSIS: "Urinalysis",
  RADIOLOGY: "Radiology",
  ULTRASOUND: "Ultrasound",
  ENDOSCOPY: "Endoscopy",
  dog: "dog",
  cat: "cat",
  rabbit: "rabbit",
  bird: "bird",
  reptile: "reptile",
  exotic: "exotic",
  horse: "horse",
  cow: "cow",
} as const satisfies Record<Modality, string> & Record<string, string>;

export type StudyWord = keyof typeof studyEnglish;

export const studyTurkish: Record<StudyWord, string> = {
  HEMATOLOGY: "Hematoloji",
  BIOCHEMISTRY: "Biyokimya",
  URINALYSIS: "İdrar tahlili",
  RADIOLOGY: "Radyoloji",
  ULTRASOUND: "Ultrason",
  ENDOSCOPY: "Endoskopi",
  dog: "köpek",
  cat: "kedi",
  rabbit: "tavşan",
  bird: "kuş",
  reptile: "sürüngen",
  exotic: "egzotik",
  horse: "at",
  cow: "sığır",
};

/** Whether a stored word has one here. Another word stays as it was written. */
export function isStudyWord(stored: string): stored is StudyWord {
  return Object.hasOwn(studyEnglish, stored);
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
