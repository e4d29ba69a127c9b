import { fold, withoutAccents } from "../../../shared/clinical/species.ts";

// The search for a patient by what people know of it: its name, a number, the name, phone or e-mail of its owner, or its fp. It
// ignores case and accents, which no SQL of both engines does.

/** Bounds of a search, which reads each patient of the clinic for each word. */
const SEARCH_CHARS_MAX = 200;
const SEARCH_WORDS_MAX = 10;

/** Digits from which a text counts as a phone number. Fewer are part of a card number, whose leading zeros count. */
const PHONE_DIGITS_MIN = 7;

interface Searched {
  readonly name: string;
  readonly identifiers: readonly string[];
  readonly owner_name: string | null;
  readonly owner_phone: string | null;
  readonly owner_email: string | null;
}

/** Returns what a search of a patient reads, without case and accents. */
export function searchText(patient: Searched): string {
  const { name, identifiers, owner_name, owner_phone, owner_email } = patient;
  const owner = [owner_name, owner_phone === null ? null : digitsOf(owner_phone), owner_email];
  return withoutAccents([name, ...identifiers, ...owner].filter((each) => each !== null).join(" "));
}

/** Makes the test of a search: each of its words is in the text of the patient, or the phone number, or it is the fp. */
export function searchFor(search: string): (patient: { readonly fp: string; readonly words: string }) => boolean {
  const text = search.slice(0, SEARCH_CHARS_MAX).trim();
  const fp = text.toLowerCase();
  const phone = phoneOf(text);
  const words = withoutAccents(text).split(/\s+/).slice(0, SEARCH_WORDS_MAX);
  return (patient) =>
    words.every((word) => patient.words.includes(word)) ||
    (phone !== null && patient.words.includes(phone)) ||
    patient.fp.toLowerCase() === fp;
}

interface Ranked {
  readonly identifiers: readonly string[];
  readonly folded: { readonly name: string };
}

/** Makes the order of what a search finds, the nearest first: a patient with this name or number, then names that begin so. */
export function rankFor(search: string): (patient: Ranked) => number {
  const text = search.slice(0, SEARCH_CHARS_MAX).trim();
  const [name, number] = [fold(text), withoutAccents(text)];
  const start = name.trimEnd();
  return ({ identifiers, folded }) => {
    if (folded.name === name || identifiers.some((each) => withoutAccents(each) === number)) return 0;
    return folded.name.startsWith(start) ? 1 : 2;
  };
}

/** Returns the digits of a phone number that do not depend on the country from which one calls; null for another text. */
function phoneOf(text: string): string | null {
  if (!/^[+\d][\d\s()./-]*$/.test(text)) return null;
  const digits = digitsOf(text);
  return digits.length < PHONE_DIGITS_MIN ? null : digits.replace(/^0+/, "");
}

function digitsOf(phone: string): string {
  return phone.replaceAll(/\D/g, "");
}

/** Whether two phone numbers may be the same one: with the country or with a zero in its place. */
export function isSamePhone(one: string, other: string): boolean {
  const [first, second] = [one, other].map((each) => digitsOf(each).replace(/^0+/, "")) as [string, string];
  if (Math.min(first.length, second.length) < PHONE_DIGITS_MIN) return first !== "" && first === second;
  return first.endsWith(second) || second.endsWith(first);
}
