import type { Language } from "../../../shared/api/language.ts";
import { type SentencePair, translator } from "../../../shared/clinical/device-words/translator.ts";

// Faults of a clinic's intervals in Turkish. The server and the command line write them in English; the names of the columns stay
// as the file has them. A sentence that is not here is shown as it is.

const pairs: readonly SentencePair[] = [
  ["line {count}: {reason}", "{count}. satır: {reason}"],
  [
    "{name} has the low {low}, not below the high {high}",
    "{name}: alt sınır {low}, üst sınır olan {high} değerinden küçük değil",
  ],
  [
    "{name} has the critical_low {low}, above the low {high}",
    "{name}: alt kritik sınır {low}, alt sınır olan {high} değerinden büyük",
  ],
  [
    "{name} has the critical_high {low}, below the high {high}",
    "{name}: üst kritik sınır {low}, üst sınır olan {high} değerinden küçük",
  ],
  ["{name} ends before the age at which it starts", "{name}: bitiş yaşı başlangıç yaşından küçük"],
  [
    "{name} has the same animals and start date as line {count}",
    "{name}: hayvanları ve başlangıç günü {count}. satırınkilerle aynı",
  ],
  ["id {name} is already in line {count}", "{name} kimliği {count}. satırda da var"],
  ["{name} has the unit {unit}, expected a unit of {code}", "{name}: birim {unit}, {code} için bir birim bekleniyordu"],
  ["{name} is of {code}, an unknown analyte", "{name}: {code} katalogda yok"],
  ["{name} is of {code}, which is a word", "{name}: {code} bir sözcük, sınırı olmaz"],
  ["{name} is of {code}, which is an ordinal", "{name}: {code} bir derece, sınırı olmaz"],
  ["{name} has no subgroup, expected one of {text}", "{name}: alt grup yok, şunlardan biri bekleniyordu: {text}"],
  [
    "{name} has the subgroup {mark}, expected one of {text}",
    "{name}: alt grup {mark}, şunlardan biri bekleniyordu: {text}",
  ],
  ["{name} has the day {code}, which does not exist", "{name}: {code} diye bir gün yok"],
  ["{name} is in force until {code}, not after {day}", "{name}: {code} gününe kadar geçerli, başlangıcı ise {day}"],
  ["{code} is missing", "{code} eksik"],
  ["{code} is not expected", "{code} beklenmiyordu"],
  ["invalid JSON", "JSON olarak okunamıyor"],
  ["the file has {count} rows, at most {most}", "dosyada {count} satır var, en çok {most} olur"],
  [
    'the file is not UTF-8: save it as UTF-8, in a spreadsheet as "CSV UTF-8"',
    "dosya UTF-8 değil: UTF-8 olarak, hesap tablosunda “CSV UTF-8” olarak kaydedin",
  ],
];

const translate = translator(pairs);

/** Returns a fault of the intervals in the language; null if it has no words in it. */
export function rangeFaultText(fault: string, language: Language): string | null {
  return language === "en" ? null : translate(fault, language);
}
