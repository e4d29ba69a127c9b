import type { Language } from "../../../shared/api/language.ts";
import type { PatientLetter, PatientSort } from "../../dashboard/types/patients.ts";
import type { KnownPatient } from "./clinic-patients.ts";

// The order of a list of patients: names by the alphabet of the clinic's language, and numbers in them as numbers.

type Patients = readonly KnownPatient[];

/** The orders of each list, in each language that a clinic had. Sorting 40,000 patients takes a tenth of a second. */
const kept = new WeakMap<Patients, Map<string, Patients>>();

/** Returns the patients in an order. One without the value is last both ways. */
export function inOrder(patients: Patients, sort: PatientSort, language: Language): Patients {
  const orders = kept.get(patients) ?? new Map<string, Patients>();
  kept.set(patients, orders);
  const key = `${language} ${sort}`;
  const known = orders.get(key);
  if (known !== undefined) return known;
  const found = ordered(patients, sort, language);
  orders.set(key, found);
  return found;
}

function ordered(patients: Patients, sort: PatientSort, language: Language): Patients {
  if (sort === "name") return sortedByName(patients, language);
  const byName = inOrder(patients, "name", language);
  return sort === "-name" ? byName.toReversed() : sortedBy(byName, sort, language);
}

function sortedByName(patients: Patients, language: Language): Patients {
  const { compare } = alphabetOf(language);
  // Blanks before a name, from a file, do not count.
  return patients.toSorted((a, b) => compare(a.name.trimStart(), b.name.trimStart()) || (a.fp < b.fp ? -1 : 1));
}

function sortedBy(byName: Patients, sort: PatientSort, language: Language): Patients {
  const isByOwner = sort === "owner" || sort === "-owner";
  const { compare } = alphabetOf(language);
  const valueOf = ({ owner_name, date_of_birth }: KnownPatient) =>
    (isByOwner ? owner_name?.trimStart() : date_of_birth) ?? "";
  // The oldest animal has the first date of birth.
  const sign = sort === "owner" || sort === "-age" ? 1 : -1;
  return byName.toSorted((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)];
    if (one === "" || other === "") return Number(one === "") - Number(other === "");
    return sign * (isByOwner ? compare(one, other) : Number(one > other) - Number(one < other));
  });
}

function alphabetOf(language: Language): Intl.Collator {
  return new Intl.Collator(language, { numeric: true });
}

/** Returns where each first letter begins in a list by name. */
export function lettersOf(sorted: Patients, pageSize: number, language: Language): PatientLetter[] {
  const letters = new Map<string, PatientLetter>();
  const known = new Map<string, string>();
  for (const [index, { fp, name }] of sorted.entries()) {
    const first = name.trimStart().slice(0, 1);
    const letter = known.get(first) ?? letterOf(first, language);
    known.set(first, letter);
    if (!letters.has(letter)) letters.set(letter, { letter, page: Math.floor(index / pageSize) + 1, fp });
  }
  return [...letters.values()];
}

/** Returns the heading of names that start with a character: `#` for a number or a sign. Turkish has letters that English has not. */
function letterOf(first: string, language: Language): string {
  const upper = first.toLocaleUpperCase(language);
  if (language === "tr" && /[ÇĞİÖŞÜ]/.test(upper)) return upper;
  return /\p{L}/u.test(upper) ? upper.normalize("NFD").replaceAll(/\p{M}/gu, "") : "#";
}
