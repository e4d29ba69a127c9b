import type { Language } from "../../../shared/api/language.ts";

// The alphabet of the lists of patients: Turkish letters follow their Latin ones, other accents count as none, and numbers in names
// are numbers. A key is made once for each name, because a collator takes half a second for 40,000 of them.

const TURKISH: Readonly<Record<string, string>> = { ç: "c", ğ: "g", ı: "h", ö: "o", ş: "s", ü: "u" };

/** After each Latin letter: `ç~` is sorted after `cz`. */
const AFTER = "~";
const DIGITS = 12;

/** Returns a text whose order by its characters is the alphabetical one. The language decides whether I is a dotted letter. */
export function nameKey(name: string, language: Language): string {
  return name
    .normalize("NFC")
    .toLocaleLowerCase(language)
    .replaceAll(/[çğıöşü]/g, (letter) => `${TURKISH[letter]}${AFTER}`)
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/\d+/g, (digits) => digits.padStart(DIGITS, "0"));
}

/** Returns the first letter of a key as a heading of a list; `#` for a name that starts with something else. */
export function letterOf(key: string, language: Language): string {
  const [first = "", second] = key;
  const turkish = Object.entries(TURKISH).find(([, latin]) => second === AFTER && latin === first)?.[0];
  return /\p{L}/u.test(first) ? (turkish ?? first).toLocaleUpperCase(language) : "#";
}
