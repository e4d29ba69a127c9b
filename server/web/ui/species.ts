import { texts } from "../text.ts";

/** Prints a species of the API in the page's language. Any other word stays as it is. */
export function speciesName(species: string): string {
  return isKnown(species) ? t(species) : species;
}

const english = { dog: "dog", cat: "cat", rabbit: "rabbit", bird: "bird", reptile: "reptile", exotic: "exotic" };

function isKnown(species: string): species is keyof typeof english {
  return Object.hasOwn(english, species);
}

const t = texts(english, {
  dog: "köpek",
  cat: "kedi",
  rabbit: "tavşan",
  bird: "kuş",
  reptile: "sürüngen",
  exotic: "egzotik",
});
