import { Type } from "typebox";
import { readData } from "./data.ts";

// Words for species. Whole words match only, since "rattlesnake" contains "rat".

const Words = Type.Array(Type.String({ minLength: 1 }));
const Species = Type.Object({
  device_words: Words,
  subgroups: Type.Optional(Type.Record(Type.String(), Words)),
});
const { other, ...api } = readData(
  "species-map.json",
  Type.Object({
    note: Type.String(),
    dog: Species,
    cat: Species,
    rabbit: Species,
    bird: Species,
    reptile: Species,
    exotic: Species,
    /** Species that the API does not filter by. They have intervals of their own. */
    other: Type.Object({ horse: Words, cow: Words, note: Type.String() }),
  }),
);

/** The species of the API. */
export const API_SPECIES = ["dog", "cat", "rabbit", "bird", "reptile", "exotic"] as const;
export type ApiSpecies = (typeof API_SPECIES)[number];

interface SpeciesWords {
  readonly species: string;
  readonly words: readonly string[];
  readonly subgroups: readonly { readonly subgroup: string; readonly words: readonly string[] }[];
}

const species: readonly SpeciesWords[] = [
  ...API_SPECIES.map((name) => ({
    species: name,
    words: phrases(api[name].device_words),
    subgroups: Object.entries(api[name].subgroups ?? {}).map(([subgroup, words]) => ({
      subgroup,
      words: phrases(words),
    })),
  })),
  ...(["horse", "cow"] as const).map((name) => ({ species: name, words: phrases(other[name]), subgroups: [] })),
];

/**
 * Reads the species in a device's words, in any case and with or without accents. A ferret is "exotic". A single digit is not a
 * word, since only a profile knows such codes. @returns null if the words name no species or several
 */
export function readSpecies(words: string): string | null {
  const text = fold(words);
  return onlyOne(
    species
      .filter((entry) => names(text, entry.words) || entry.subgroups.some((subgroup) => names(text, subgroup.words)))
      .map((entry) => entry.species),
  );
}

/** Reads the API's species in a clinic's words ("Canine", "kedi"). @returns null for no species, several, or one that the API lacks */
export function apiSpecies(words: string): ApiSpecies | null {
  return ofApi(words) ?? ofApi(readSpecies(words));
}

function ofApi(name: string | null): ApiSpecies | null {
  return API_SPECIES.find((each) => each === name) ?? null;
}

/** Reads the subgroup of a species in a breed, if it has intervals of its own. @returns null for none or several */
export function subgroupOf(ofSpecies: string, breed: string | null): string | null {
  if (breed === null) return null;
  const text = fold(breed);
  const subgroups = species.find((entry) => entry.species === ofSpecies)?.subgroups ?? [];
  return onlyOne(subgroups.filter((entry) => names(text, entry.words)).map((entry) => entry.subgroup));
}

/** Returns the subgroups of a species with intervals of their own. */
export function subgroupsOf(ofSpecies: string): readonly string[] {
  const subgroups = species.find((entry) => entry.species === ofSpecies)?.subgroups ?? [];
  return subgroups.map(({ subgroup }) => subgroup);
}

/** Returns the words of a text between single blanks, in lower case and without accents: " kopek ". */
export function fold(text: string): string {
  return ` ${withoutAccents(text.slice(0, 200))
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(" ")} `;
}

/** Returns the text in lower case and without accents. */
export function withoutAccents(text: string): string {
  // Turkish has a dotted and a dotless i. Devices send KEDI, KEDİ and kedı for one word.
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ı", "i");
}

function names(text: string, words: readonly string[]): boolean {
  return words.some((word) => text.includes(word));
}

function phrases(words: readonly string[]): string[] {
  return words.filter((word) => !/^\d+$/.test(word)).map(fold);
}

function onlyOne(found: readonly string[]): string | null {
  return found.length === 1 ? (found[0] ?? null) : null;
}
