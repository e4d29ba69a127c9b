import { isStudyWord } from "../../../dashboard/types/results/study-words.ts";
import { ageOn } from "../../../dashboard/types/patients.ts";
import { dateTime, language, locale, translations, timeZone } from "../../text.ts";
import { studyWord } from "./study-word.ts";

// Facts of an animal, and days and times, in the page's language.

/** Translates a stored species or sex. Unknown words of an imported file are shown unchanged. */
export function word(stored: string): string {
  if (Object.hasOwn(sexes, stored)) return t(stored as keyof typeof sexes);
  // A stored word of several, such as a species without a word here.
  if (!isStudyWord(stored)) return stored.replaceAll("_", " ");
  const species = studyWord(stored);
  return species.slice(0, 1).toLocaleUpperCase(language.value) + species.slice(1);
}

/** The animal itself, such as `horse`, or the word of the API if that is all that is known. */
export function speciesOf({ species, precise_species }: { species: string; precise_species: string | null }): string {
  return precise_species ?? species;
}

/** The name of an analyte in the page's language; a device's own name has no translation. */
export function analyteName({ name, name_tr }: { name: string | null; name_tr: string | null }): string | null {
  return (language.value === "tr" ? name_tr : null) ?? name;
}

/** The day of an instant in the clinic's time zone, like `2026-11-21`. */
export function dayOf(instant: string): string {
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value };
  const format = new Intl.DateTimeFormat("en", { year: "numeric", month: "2-digit", day: "2-digit", ...zone });
  const parts = Object.fromEntries(format.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
  return `${parts["year"]}-${parts["month"]}-${parts["day"]}`;
}

/** Prints a calendar day, which no time zone may shift. */
export function plainDate(day: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeZone: "UTC" }).format(new Date(day));
}

/** Prints a day of a device or a file; any other text stays as it is. */
export function dayText(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? plainDate(text) : text;
}

/** Prints the time of day alone for an instant of today, else the day with it. */
export function shortTime(instant: string): string {
  return dayOf(instant) === dayOf(new Date().toISOString()) ? clockTime(instant) : dateTime(instant);
}

/** Prints the time of day of an instant. */
export function clockTime(instant: string): string {
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value };
  return new Intl.DateTimeFormat(locale(), { timeStyle: "short", ...zone }).format(new Date(instant));
}

/** Prints the age today; empty for a birth in the future. */
export function age(dateOfBirth: string): string {
  return ageOn(dayOf(new Date().toISOString()), dateOfBirth)
    .map(({ unit, count }) =>
      new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "long" }).format(count),
    )
    .join(" ");
}

const sexes = {
  male: ["male", "erkek"],
  female: ["female", "dişi"],
  male_neutered: ["male, neutered", "erkek, kısırlaştırılmış"],
  female_spayed: ["female, spayed", "dişi, kısırlaştırılmış"],
  unknown: ["sex unknown", "cinsiyeti bilinmiyor"],
} as const;

const t = translations(sexes);
