import type { Language } from "../../api/language.ts";
import type { Reason } from "../../api/reason.ts";
import { animalWord } from "./animal-words.ts";
import type { WhyCode } from "./why-interval.ts";

// The words of why an interval applies, in pages and CSV files. They complete "This interval applies:".

type Words = Record<WhyCode, (...values: readonly string[]) => string>;

const en = (stored = "") => animalWord(stored, "en");
const tr = (stored = "") => animalWord(stored, "tr");

/** A dog and a cat have breeds; a kind of bird is an animal of its own. */
function isBreed(species = ""): boolean {
  return species === "dog" || species === "cat";
}

const english: Words = {
  "CLINIC.ROW": () => "the clinic's own interval, in force on the day of the sample",
  "DEVICE.RANGE": (species) =>
    `the device's own interval${species === undefined ? "" : ` for the ${en(species)}`}, since the clinic has none that applies`,
  "CATALOGUE.ROW": (species) =>
    `a published interval for the ${en(species)}, since neither clinic nor device has one that applies`,
  "CATALOGUE.PAD": (species) => `the highest normal grade of a urine pad for the ${en(species)}`,
  "CATALOGUE.OTHER": () => "chosen with another version of the published intervals",
  "BREED.OWN": (subgroup, species) => `for the ${isBreed(species) ? "breed " : ""}${en(subgroup)}`,
  "BREED.GROUP": (group, breed) => `for the ${en(group)}s, to which the breed ${en(breed)} belongs`,
  "BREED.NO_ROW": (subgroup, species) =>
    `no interval for the ${isBreed(species) ? "breed " : ""}${en(subgroup)} applies here, so the general one does`,
  "BREED.NO_CLINIC_ROW": (subgroup, species) =>
    `the clinic has none for the ${isBreed(species) ? "breed " : ""}${en(subgroup)} that applies here, so its general one does`,
  "BREED.CROSS": (...breeds) =>
    `a cross (${breeds.map(en).join(", ")}) has no interval of one breed, so the general one applies`,
  "BREED.NO_GROUP": (breed) => `the breed "${breed}" has no intervals of its own, so the general one applies`,
  "BREED.UNSTATED": () => "no breed is stated, so the general one applies",
  "AGE.YOUNG": () => "for animals under one year",
  "AGE.OWN": (from = "", to = "") =>
    `for an age ${to === "" ? `from ${from} days` : from === "" ? `up to ${to} days` : `of ${from} to ${to} days`}`,
  "AGE.ADULT": () => "for adults",
  "AGE.UNKNOWN": () => "the age is unknown, so none of a young age applies",
  "AGE.NO_ROW": (days = "") =>
    `no interval for an age of ${days === "1" ? "1 day" : `${days} days`} applies here, so the one of all ages does`,
  "AGE.NO_CLINIC_ROW": (days = "") =>
    `the clinic has none for an age of ${days === "1" ? "1 day" : `${days} days`} that applies here, so its one of all ages does`,
  "SEX.OWN": (sex) => (sex === "F" ? "for females" : "for males"),
  "SEX.NEUTERED": () => "for neutered animals",
  "SEX.INTACT": () => "for intact animals",
  "DEVICE.OWN": (name = "") => `for the device ${name}`,
};

const turkish: Words = {
  "CLINIC.ROW": () => "kliniğin kendi aralığı, numune gününde geçerli",
  "DEVICE.RANGE": (species) =>
    `cihazın kendi aralığı${species === undefined ? "" : ` (${tr(species)})`}, çünkü kliniğin bu hayvana uyan aralığı yok`,
  "CATALOGUE.ROW": (species) =>
    `yayımlanmış aralık (${tr(species)}), çünkü ne kliniğin ne cihazın bu hayvana uyan aralığı var`,
  "CATALOGUE.PAD": (species) => `idrar pedinin en yüksek normal derecesi (${tr(species)})`,
  "CATALOGUE.OTHER": () => "yayımlanmış aralıkların başka bir sürümüyle seçildi",
  "BREED.OWN": (subgroup, species) => `${tr(subgroup)}${isBreed(species) ? " ırkı" : ""} için`,
  "BREED.GROUP": (group, breed) => `${tr(group)} grubu için; ${tr(breed)} ırkı bu gruptandır`,
  "BREED.NO_ROW": (subgroup, species) =>
    `${tr(subgroup)}${isBreed(species) ? " ırkı" : ""} için burada geçerli aralık yok, genel aralık geçerli`,
  "BREED.NO_CLINIC_ROW": (subgroup, species) =>
    `kliniğin ${tr(subgroup)}${isBreed(species) ? " ırkı" : ""} için burada geçerli aralığı yok, kendi genel aralığı geçerli`,
  "BREED.CROSS": (...breeds) =>
    `melezin (${breeds.map(tr).join(", ")}) tek bir ırkın aralığı olmaz, genel aralık geçerli`,
  "BREED.NO_GROUP": (breed) => `“${breed}” ırkının kendi aralığı yok, genel aralık geçerli`,
  "BREED.UNSTATED": () => "ırk belirtilmemiş, genel aralık geçerli",
  "AGE.YOUNG": () => "bir yaşından küçükler için",
  "AGE.OWN": (from = "", to = "") =>
    `${to === "" ? `en az ${from} günlükler` : from === "" ? `en çok ${to} günlükler` : `${from}–${to} günlükler`} için`,
  "AGE.ADULT": () => "erişkinler için",
  "AGE.UNKNOWN": () => "yaş bilinmiyor, bu nedenle genç hayvan aralığı geçerli değil",
  "AGE.NO_ROW": (days = "") => `${days} günlük yaş için burada geçerli aralık yok, bütün yaşların aralığı geçerli`,
  "AGE.NO_CLINIC_ROW": (days = "") =>
    `kliniğin ${days} günlük yaş için burada geçerli aralığı yok, kendi bütün yaşlar aralığı geçerli`,
  "SEX.OWN": (sex) => (sex === "F" ? "dişiler için" : "erkekler için"),
  "SEX.NEUTERED": () => "kısırlaştırılmış hayvanlar için",
  "SEX.INTACT": () => "kısırlaştırılmamış hayvanlar için",
  "DEVICE.OWN": (name = "") => `${name} cihazı için`,
};

/** Returns the words of why an interval applies. A code of another version is its own word. */
export function whyText(reasons: readonly Reason[], language: Language): string {
  const words: Partial<Record<string, (...values: readonly string[]) => string>> =
    language === "tr" ? turkish : english;
  return reasons.map(({ code, values }) => words[code]?.(...values) ?? [code, ...values].join(" ")).join("; ");
}
