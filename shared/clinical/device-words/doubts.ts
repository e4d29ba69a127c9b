import type { SentencePair } from "./translator.ts";

// The words of the shipped profiles and of the agent, with their Turkish.

/** Reasons for which the device, or the agent for it, doubts a value: the words of the shipped profiles, as their files have them. */
export const doubts: readonly SentencePair[] = [
  ["the device marks the value with {mark} at place {place}", "cihaz değeri {place}. yerde {mark} ile işaretliyor"],
  ["the device marks the value with {mark}", "cihaz değeri {mark} ile işaretliyor"],
  ["the device suspects it", "cihaz değeri şüpheli buluyor"],
  ["the device suspects the value ({field} is {mark})", "cihaz değeri şüpheli buluyor ({field}: {mark})"],
  ["the device suspects the value ({mark})", "cihaz değeri şüpheli buluyor ({mark})"],
  ["the device doubts the value ({mark})", "cihaz değeri şüpheli buluyor ({mark})"],
  [
    "the device holds the value for questionable ({field} is {mark})",
    "cihaz değerin geçerliliğini tartışmalı buluyor ({field}: {mark})",
  ],
  [
    "the device holds the value for unreliable ({field} is {mark})",
    "cihaz değeri güvenilmez buluyor ({field}: {mark})",
  ],
  [
    "the device reports an error of the analysis ({field} is {mark})",
    "cihaz analizde hata bildiriyor ({field}: {mark})",
  ],
  ["the value was typed in at the device ({field} is {mark})", "değer cihaza elle girilmiş ({field}: {mark})"],
  ["the value was changed by hand ({field} is {text})", "değer elle değiştirilmiş ({field}: {text})"],
  [
    "the value is outside the device's linear range ({field} is {mark})",
    "değer cihazın doğrusal aralığının dışında ({field}: {mark})",
  ],
  ["the value is outside the device's measuring range ({mark})", "değer cihazın ölçüm aralığının dışında ({mark})"],
  ["the value is above the device's linear range ({mark})", "değer cihazın doğrusal aralığının üstünde ({mark})"],
  ["below the measuring range ({mark})", "ölçüm aralığının altında ({mark})"],
  ["above the measuring range ({mark})", "ölçüm aralığının üstünde ({mark})"],
  ["below the linear range ({mark})", "doğrusal aralığın altında ({mark})"],
  ["above the linear range ({mark})", "doğrusal aralığın üstünde ({mark})"],
  ["trouble while measuring ({mark})", "ölçüm sırasında sorun ({mark})"],
  ["trouble in the hemoglobin channel ({mark})", "hemoglobin kanalında sorun ({mark})"],
  ["hemoglobin is doubtful ({mark})", "hemoglobin şüpheli ({mark})"],
  ["the device found bubbles", "cihaz kabarcık buldu"],
  ["the device found a clog", "cihaz tıkanma buldu"],
  ["the device reports temperature {mark}", "cihaz {mark} sıcaklık hatası bildiriyor"],
  ["outside the measuring range", "ölçüm aralığının dışında"],
  ["the slide is expired", "slaytın son kullanma tarihi geçmiş"],
  ["the chip is expired", "çipin son kullanma tarihi geçmiş"],
  ["thermistor error", "termistör hatası"],
  ["photometer error", "fotometre hatası"],
  ["calculation or electrolyte error", "hesaplama veya elektrolit hatası"],
  ["the incubator is too hot", "inkübatör fazla sıcak"],
  ["the incubator is too cold", "inkübatör fazla soğuk"],
  ["the temperature is too high", "sıcaklık fazla yüksek"],
  ["the temperature is too low", "sıcaklık fazla düşük"],
  ["the waste box was opened", "atık kutusu açılmış"],
  ["abnormally high", "anormal derecede yüksek"],
  ["no sample on the slide", "slaytta numune yok"],
  ["calculated in a run of blood and urine", "kan ve idrarın birlikte çalışıldığı ölçümde hesaplandı"],
  // The agent: the value cannot be, in this unit or in any.
  ["{code} {value} cannot be below 0", "{code} {value} olamaz: 0’dan küçük olmaz"],
  ["{code} {value} cannot be in any unit", "{code} {value} hiçbir birimde olamaz"],
  [
    "{code} {value} {unit} cannot be: expected at most {high} {limit_unit}",
    "{code} {value} {unit} olamaz: en çok {high} {limit_unit} beklenir",
  ],
  [
    "{code} {value} {unit} cannot be: expected {low} to {high} {limit_unit}",
    "{code} {value} {unit} olamaz: {low} ile {high} {limit_unit} arası beklenir",
  ],
  [
    "{value} {unit} is above {max} {limit_unit}: {reason}",
    "{value} {unit}, en yüksek {max} {limit_unit} değerini aşıyor: {reason}",
  ],
  ["100 x 10*12 cells of 10 fL fill the litre", "10 fL’lik 100 × 10¹² hücre bir litreyi doldurur"],
  [
    "a density in g/L such as 1025 is no specific gravity",
    "1025 gibi g/L cinsinden bir yoğunluk, özgül ağırlık değildir",
  ],
  ["a litre of a body fluid weighs about 1 kg", "bir litre vücut sıvısı yaklaşık 1 kg gelir"],
  ["a part is not more than the whole", "parça bütünden büyük olamaz"],
  ["the end of the scale", "ölçeğin sonu"],
];

/** Remarks that the agent words for a device. */
export const remarks: readonly SentencePair[] = [
  ["{name}: grade {grade}", "{name}: derece {grade}"],
  ["Group: {text}", "Grup: {text}"],
];
