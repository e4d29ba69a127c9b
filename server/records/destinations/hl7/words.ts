import type { Language } from "../../../../shared/api/language.ts";
import { speciesWords } from "../../../../shared/clinical/passport/species-words.ts";

// Words in messages, in the language of the clinic.

const words = {
  published: ["Interval: {animal}.", "Referans aralığı: {animal}."],
  clinic: ["Interval: {animal}, of the clinic.", "Referans aralığı: {animal}, kliniğin kendi aralığı."],
  device: ["Interval: {animal}, of the device.", "Referans aralığı: {animal}, cihazın aralığı."],
  unknown: ["species unknown", "tür bilinmiyor"],
} as const;

/** States whose interval is in use, and for which animal. */
export function intervalWords(intervalId: string | null, species: string | null, language: Language): string {
  const whose =
    intervalId === "device" ? "device" : intervalId?.startsWith("clinic:") === true ? "clinic" : "published";
  const animal = species === null ? words.unknown[indexOf(language)] : speciesName(species, language);
  return words[whose][indexOf(language)].replace("{animal}", () => animal);
}

/** The name of a species; the stored word itself if no name is known. */
export function speciesName(species: string, language: Language): string {
  const names = Object.hasOwn(speciesWords, species) ? speciesWords[species as keyof typeof speciesWords] : undefined;
  return names?.[indexOf(language)] ?? species;
}

/** The names of the kinds of studies, which are the panels of results without an order. */
const panels: Readonly<Record<string, readonly [string, string]>> = {
  HEMATOLOGY: ["Hematology", "Hematoloji"],
  BIOCHEMISTRY: ["Biochemistry", "Biyokimya"],
  URINALYSIS: ["Urinalysis", "İdrar analizi"],
  RADIOLOGY: ["Radiology", "Radyoloji"],
  ULTRASOUND: ["Ultrasound", "Ultrason"],
  ENDOSCOPY: ["Endoscopy", "Endoskopi"],
};

export function panelName(modality: string, language: Language): string {
  return panels[modality]?.[indexOf(language)] ?? modality;
}

function indexOf(language: Language): 0 | 1 {
  return language === "tr" ? 1 : 0;
}
