import { language } from "../text.ts";

// The reasons of a missing interval or flag, and remarks about a breed, come from shared/clinical in English. Turkish has a sentence for each.

const turkish: readonly [RegExp, string][] = [
  [/^the value is in words$/, "değer sözcükle verilmiş"],
  [/^no patient: the species is unknown$/, "hasta yok: tür bilinmiyor"],
  [/^the value is doubtful$/, "değer şüpheli"],
  [/^the unit is unknown$/, "birim bilinmiyor"],
  [/^the printed bound leaves the flag open$/, "yazdırılan sınır, işareti belirsiz bırakıyor"],
  [/^no reference intervals for measurements in images$/, "görüntü ölçümlerinin referans aralığı olmaz"],
  [/^the catalogue does not know the code$/, "katalog bu kodu tanımıyor"],
  [/^an ordinal for the measured (.+)$/, "ölçülen $1 için derece verilmiş"],
  [/^a number for the ordinal (.+)$/, "dereceli $1 için sayı verilmiş"],
  [/^no interval of (\S+) for (.+)$/, "$1 için bu hayvana uyan referans aralığı yok ($2)"],
  [/^the general interval of (\S+) does not fit the breed (.+) \((.+)\)$/, "genel $1 aralığı bu ırka uymaz: $2 ($3)"],
  [
    /^the general interval of (\S+) does not fit an age of (\d+) days \((.+)\)$/,
    "genel $1 aralığı bu yaşa uymaz: $2 gün ($3)",
  ],
  [
    /^confirm the platelets of this breed on a smear: machines miss large ones$/,
    "bu ırkta trombositleri yaymada doğrulayın: cihazlar büyük olanları sayamaz",
  ],
  [
    /^potassium may leak from the red cells of this breed: separate without delay$/,
    "bu ırkta potasyum eritrositlerden sızabilir: örneği beklemeden ayırın",
  ],
  [
    /^healthy dogs of this breed may have smaller red cells$/,
    "bu ırkın sağlıklı köpeklerinde eritrositler daha küçük olabilir",
  ],
  [
    /^thyroid values of this breed differ from those of other dogs$/,
    "bu ırkın tiroit değerleri diğer köpeklerden farklıdır",
  ],
];

/** Returns the reason in the page's language; an unknown one stays as it is. */
export function reasonText(reason: string): string {
  const found = language.value === "tr" ? turkish.find(([pattern]) => pattern.test(reason)) : undefined;
  return found === undefined ? reason : reason.replace(found[0], found[1]);
}
