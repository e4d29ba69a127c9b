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
  chicken: "chicken",
  donkey: "donkey",
  sheep: "sheep",
  goat: "goat",
  pig: "pig",
  ferret: "ferret",
  guinea_pig: "guinea pig",
  hamster: "hamster",
  rat: "rat",
  mouse: "mouse",
  gerbil: "gerbil",
  chinchilla: "chinchilla",
  alpaca: "alpaca",
  llama: "llama",
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
  chicken: "tavuk",
  donkey: "eşek",
  sheep: "koyun",
  goat: "keçi",
  pig: "domuz",
  ferret: "gelincik",
  guinea_pig: "kobay",
  hamster: "hamster",
  rat: "sıçan",
  mouse: "fare",
  gerbil: "gerbil",
  chinchilla: "çinçilla",
  alpaca: "alpaka",
  llama: "lama",
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
