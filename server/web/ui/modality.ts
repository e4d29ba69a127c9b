import type { Modality } from "../../../shared/api/study.ts";
import { texts } from "../text.ts";

/** The kind of a study in the words of the page. An unknown one stays as it is. */
export function modalityName(modality: string): string {
  return Object.hasOwn(names, modality) ? t(modality as Modality) : modality;
}

const names = {
  HEMATOLOGY: "Hematology",
  BIOCHEMISTRY: "Biochemistry",
  URINALYSIS: "Urinalysis",
  RADIOLOGY: "Radiology",
  ULTRASOUND: "Ultrasound",
  ENDOSCOPY: "Endoscopy",
} as const satisfies Record<Modality, string>;

const t = texts(names, {
  HEMATOLOGY: "Hematoloji",
  BIOCHEMISTRY: "Biyokimya",
  URINALYSIS: "İdrar tahlili",
  RADIOLOGY: "Radyoloji",
  ULTRASOUND: "Ultrason",
  ENDOSCOPY: "Endoskopi",
});
