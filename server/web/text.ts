import { signal } from "@preact/signals";
import type { Language } from "../../shared/api/language.ts";
import { remember, remembered } from "./browser-storage.ts";
import { filled, type Gaps } from "./filled.ts";

// Texts in English and Turkish. Each screen has its own table; a missing language is a type error. Values of results are
// never localised: they stay as the analyzer printed them.

export const language = signal<Language>(chosenLanguage());

/** Changes the language and stores it in this browser. */
export function chooseLanguage(chosen: Language): void {
  remember("language", chosen);
  language.value = chosen;
  document.documentElement.lang = chosen;
}

/** Uses the clinic's language, unless the user chose one in this browser. */
export function adoptLanguage(ofClinic: Language | null): void {
  if (ofClinic === null || remembered("language") !== null) return;
  language.value = ofClinic;
  document.documentElement.lang = ofClinic;
}

function chosenLanguage(): Language {
  const stored = remembered("language");
  const chosen = stored === "en" || stored === "tr" ? stored : navigator.language.startsWith("tr") ? "tr" : "en";
  document.documentElement.lang = chosen;
  return chosen;
}

/** Each text by its key, in English and in Turkish. */
export type Words<Key extends string = string> = Readonly<Record<Key, Text>>;

type Text = readonly [english: string, turkish: string];

/**
 * Makes the function that returns a text of a table in the page's language. `{name}` in a text is filled from the second
 * argument: `t("found", { count: 3 })`, and `{count|patient|patients}` is the word for that number.
 */
export function translations<const Table extends Words>(table: Table) {
  return <Key extends keyof Table>(
    key: Key,
    ...[values]: Gaps<Table[Key][0]> extends never ? [] : [Record<Gaps<Table[Key][0]>, string | number>]
  ): string => {
    const [english, turkish] = table[key] as Text;
    const text = language.value === "tr" ? turkish : english;
    return values === undefined ? text : filled(text, values);
  };
}

/** The time zone in which the page prints times: the clinic's, else the browser's. */
export const timeZone = signal<string | undefined>(undefined);

/** The browser's variant of the page's language, such as en-GB. Formats of dates differ between variants. */
export function locale(): string {
  const own = navigator.languages.find((name) => name.startsWith(language.value));
  return own ?? { en: "en-GB", tr: "tr-TR" }[language.value];
}

/** Prints an instant of the API as date and time. */
export function dateTime(instant: string): string {
  return format(instant, { dateStyle: "medium", timeStyle: "short" });
}

/** Prints an instant of the API as a date. */
export function date(instant: string): string {
  return format(instant, { dateStyle: "medium" });
}

/** Prints today's day with its weekday. */
export function todayText(): string {
  return format(new Date().toISOString(), { weekday: "long", day: "numeric", month: "long" });
}

/** Prints how long ago an instant is, such as `3 min. ago`. */
export function ago(instant: string): string {
  const seconds = Math.round((Date.parse(instant) - Date.now()) / 1000);
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ];
  const formatter = new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: "short" });
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return formatter.format(Math.trunc(seconds / length), unit);
  }
  return formatter.format(Math.min(0, seconds), "second");
}

function format(instant: string, style: Intl.DateTimeFormatOptions): string {
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value };
  return new Intl.DateTimeFormat(locale(), { ...style, ...zone }).format(new Date(instant));
}
