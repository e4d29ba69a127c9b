import type { Language } from "../api/language.ts";
import { unitText } from "./units/unit-text.ts";

// The words for what a device says of its results. A study keeps them in English, as the agent wrote them; a page shows them in its
// language. Words of the device itself, and of a clinic's own profile, are in neither table and are shown as they are.

/** A sentence with gaps in braces, in both languages. */
export type SentencePair = readonly [english: string, turkish: string];

/**
 * Gaps that may hold several words; every other gap holds one. `{reason}` is a sentence of the same table, and a gap that ends with
 * `unit` or `units` is written as people write units.
 */
const LONG_GAP = /^(?:text\d?|reason|name|mark|units)$/;
/** Units of an analyte, as the agent lists them. */
const UNIT_LIST = / or /;

interface Sentence {
  readonly english: string;
  readonly turkish: string;
  readonly pattern: RegExp;
}

/** @returns a function that translates one sentence, or null if no pair fits it */
export function translator(pairs: readonly SentencePair[]): (text: string, language: Language) => string | null {
  const fixed = new Map(pairs.filter(([english]) => !english.includes("{")));
  const sentences = pairs.filter(([english]) => english.includes("{")).map(sentenceOf);
  const translate = (text: string, language: Language): string | null => {
    const whole = fixed.get(text);
    if (whole !== undefined) return language === "tr" ? whole : text;
    for (const { english, turkish, pattern } of sentences) {
      const values = pattern.exec(text)?.groups;
      if (values === undefined) continue;
      return (language === "tr" ? turkish : english).replace(/\{(\w+)\}/g, (_, gap: string) => {
        const value = values[gap] ?? "";
        if (gap === "reason") return translate(value, language) ?? value;
        return /units?$/.test(gap) ? unitsText(value, language) : value;
      });
    }
    return null;
  };
  return translate;
}

function unitsText(units: string, language: Language): string {
  return units
    .split(UNIT_LIST)
    .map(unitText)
    .join(language === "tr" ? " veya " : " or ");
}

function sentenceOf([english, turkish]: SentencePair): Sentence {
  const source = english
    .replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replace(/\{(\w+)\}/g, (_, gap: string) => `(?<${gap}>${LONG_GAP.test(gap) ? ".+" : String.raw`\S+`})`);
  return { english, turkish, pattern: new RegExp(`^${source}$`, "su") };
}

/** Why the device, or the agent for it, doubts a value. The words of the shipped profiles are here, as their files have them. */
const doubts: readonly SentencePair[] = [
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
const remarks: readonly SentencePair[] = [
  ["{name}: grade {grade}", "{name}: derece {grade}"],
  ["Group: {text}", "Grup: {text}"],
];

const doubtIn = translator(doubts);
const remarkIn = translator(remarks);

/** Returns a device's doubt about a value, a sentence or several, in the language. */
export function doubtText(doubt: string, language: Language): string {
  return doubt
    .split("; ")
    .map((sentence) => doubtIn(sentence, language) ?? sentence)
    .join("; ");
}

/** Returns whether every sentence of a doubt has its words in both languages. */
export function isKnownDoubt(doubt: string): boolean {
  return doubt.split("; ").every((sentence) => doubtIn(sentence, "tr") !== null);
}

/** Returns a device's remark on a sample in the language. */
export function remarkText(remark: string, language: Language): string {
  return remarkIn(remark, language) ?? remark;
}
