import type { Reason } from "../api/reason.ts";
import type { FlagCode } from "./flag.ts";
import type { Language } from "../api/language.ts";

// The words of a missing range or flag, and of a remark about the breed: in pages, CSV files and `explain`.

type Words = Record<FlagCode, (...values: readonly string[]) => string>;

const english: Words = {
  "VALUE.WORDS": () => "the value is in words",
  "VALUE.DOUBTFUL": () => "the value is doubtful",
  "VALUE.NOT_A_NUMBER": (code) => `an ordinal for the measured ${code}`,
  "VALUE.NOT_AN_ORDINAL": (code) => `a number for the ordinal ${code}`,
  "VALUE.BOUND": () => "the printed bound leaves the flag open",
  "PATIENT.NONE": () => "no patient: the species is unknown",
  "UNIT.UNKNOWN": () => "the unit is unknown",
  "CODE.UNKNOWN": () => "the catalogue does not know the code",
  "INTERVAL.NONE": (code, animal, days) =>
    `no interval of ${code} for ${animal} of ${days === "" ? "unknown age" : daysOf(days)}`,
  "INTERVAL.NOT_FOR_BREED": (code, breed, source) =>
    `the general interval of ${code} does not fit the breed ${breed} (${source})`,
  "INTERVAL.NOT_FOR_AGE": (code, days, source) =>
    `the general interval of ${code} does not fit an age of ${daysOf(days)} (${source})`,
  "INTERVAL.NOT_FOR_IMAGES": () => "no reference intervals for measurements in images",
  "BREED.REMARK": (remark = "") => englishRemarks[remark] ?? remark,
  "LIMIT.EXCEPTED": (exception = "") =>
    `not critical by the clinic's limit: ${englishExceptions[exception] ?? exception}`,
};

const turkish: Words = {
  "VALUE.WORDS": () => "değer sözcükle verilmiş",
  "VALUE.DOUBTFUL": () => "değer şüpheli",
  "VALUE.NOT_A_NUMBER": (code) => `ölçülen ${code} için derece verilmiş`,
  "VALUE.NOT_AN_ORDINAL": (code) => `dereceli ${code} için sayı verilmiş`,
  "VALUE.BOUND": () => "yazdırılan sınır, işareti belirsiz bırakıyor",
  "PATIENT.NONE": () => "hasta yok: tür bilinmiyor",
  "UNIT.UNKNOWN": () => "birim bilinmiyor",
  "CODE.UNKNOWN": () => "katalog bu kodu tanımıyor",
  "INTERVAL.NONE": (code, animal, days) =>
    `${code} için bu hayvana uyan referans aralığı yok (${animal}, ${days === "" ? "yaşı bilinmiyor" : `${days} gün`})`,
  "INTERVAL.NOT_FOR_BREED": (code, breed, source) => `genel ${code} aralığı bu ırka uymaz: ${breed} (${source})`,
  "INTERVAL.NOT_FOR_AGE": (code, days, source) => `genel ${code} aralığı bu yaşa uymaz: ${days} gün (${source})`,
  "INTERVAL.NOT_FOR_IMAGES": () => "görüntü ölçümlerinin referans aralığı olmaz",
  "BREED.REMARK": (remark = "") => turkishRemarks[remark] ?? remark,
  "LIMIT.EXCEPTED": (exception = "") =>
    `kliniğin sınırına göre kritik değil: ${turkishExceptions[exception] ?? exception}`,
};

const englishRemarks: Record<string, string> = {
  large_platelets: "confirm the platelets of this breed on a smear: machines miss large ones",
  leaking_potassium: "potassium may leak from the red cells of this breed: separate without delay",
  small_red_cells: "healthy dogs of this breed may have smaller red cells",
  other_thyroid_values: "thyroid values of this breed differ from those of other dogs",
};

const turkishRemarks: Record<string, string> = {
  large_platelets: "bu ırkta trombositleri yaymada doğrulayın: cihazlar büyük olanları sayamaz",
  leaking_potassium: "bu ırkta potasyum eritrositlerden sızabilir: örneği beklemeden ayırın",
  small_red_cells: "bu ırkın sağlıklı köpeklerinde eritrositler daha küçük olabilir",
  other_thyroid_values: "bu ırkın tiroit değerleri diğer köpeklerden farklıdır",
};

function daysOf(days?: string): string {
  return days === "1" ? "1 day" : `${days} days`;
}

/** Where no critical limit applies; see critical-limits.json. */
const englishExceptions: Record<string, string> = {
  cavalier_platelets: "automated platelet counts of Cavaliers are low",
  clumped_platelets: "clumped platelets are counted too low",
  young_red_cells: "adult limits do not fit the hematocrit of an animal under one year",
  leaking_potassium: "potassium may leak from the red cells of Akitas and Shibas",
  hemolysed_potassium: "potassium of a hemolysed sample is too high",
};

const turkishExceptions: Record<string, string> = {
  cavalier_platelets: "Cavalier ırkında otomatik trombosit sayımı düşük çıkar",
  clumped_platelets: "kümelenmiş trombositler az sayılır",
  young_red_cells: "erişkin sınırları bir yaşından küçük hayvanın hematokritine uymaz",
  leaking_potassium: "Akita ve Shiba ırklarında potasyum eritrositlerden sızabilir",
  hemolysed_potassium: "hemolizli örnekte potasyum yüksek çıkar",
};

/** Returns the words of an exception from critical limits, by its id. */
export function limitExceptionText(id: string, language: Language): string {
  return (language === "tr" ? turkishExceptions : englishExceptions)[id] ?? id;
}

/** Returns the words of a reason. A code of another version is its own word. */
export function flagReasonText({ code, values }: Reason, language: Language): string {
  const words: Partial<Record<string, (...values: readonly string[]) => string>> =
    language === "tr" ? turkish : english;
  return words[code]?.(...values) ?? [code, ...values].join(" ");
}
