import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readSpecies, subgroupOf } from "../../../shared/clinical/species.ts";

test.each([
  ["Dog", "dog"],
  ["CANINE", "dog"],
  [" Canine (adult) ", "dog"],
  ["K9", "dog"],
  ["KÖPEK", "dog"],
  ["Ko\u0308pek", "dog"],
  ["kopek", "dog"],
  ["KEDİ", "cat"],
  ["KEDI", "cat"],
  ["kedı", "cat"],
  ["Cat^Feline", "cat"],
  ["TAVŞAN", "rabbit"],
  ["KUŞ", "bird"],
  ["Avian/Parrot", "bird"],
  ["SÜRÜNGEN", "reptile"],
  ["Ferret", "exotic"],
  ["Guinea pig", "exotic"],
  ["small  mammal", "exotic"],
  ["RAT", "exotic"],
  ["Green Iguana", "reptile"],
  ["Equine", "horse"],
  ["at", "horse"],
  ["Bovine", "cow"],
])("the words %j are a %s", (words, species) => {
  expect(readSpecies(words)).toBe(species);
});

test.each([
  "",
  "0",
  "1",
  "rattlesnake",
  "dogs",
  "Category",
  "catfish",
  "General",
  "Child",
  "Male",
  "canis",
  "parrots",
  "dog 1 cat 0",
  "Dog or Cat",
  "constructor",
])("the words %j name no species, or several", (words) => {
  expect(readSpecies(words)).toBeNull();
});

test.each([
  ["cat", "Maine Coon", "maine_coon"],
  ["cat", "DSH", "domestic_shorthair"],
  ["cat", "European Shorthair, tabby", "domestic_shorthair"],
  ["bird", "Rose-ringed parakeet", "ringneck_parakeet"],
  ["bird", "rose ringed", "ringneck_parakeet"],
  ["bird", "Tavuk", "chicken"],
  ["reptile", "Gopherus agassizii", "desert_tortoise"],
  ["exotic", "GELİNCİK", "ferret"],
  ["exotic", "guinea-pig", "guinea_pig"],
  ["exotic", "rat", "rat"],
])("a %s of breed %s is of the subgroup %s", (species, breed, subgroup) => {
  expect(subgroupOf(species, breed)).toBe(subgroup);
});

test("a breed of another species, of two subgroups, or of none has no subgroup", () => {
  expect(subgroupOf("dog", "Rat Terrier")).toBeNull();
  expect(subgroupOf("reptile", "Rattlesnake")).toBeNull();
  expect(subgroupOf("exotic", "Rattlesnake")).toBeNull();
  expect(subgroupOf("cat", "DSH / Maine Coon")).toBeNull();
  expect(subgroupOf("cat", "")).toBeNull();
  expect(subgroupOf("cat", null)).toBeNull();
  expect(subgroupOf("unicorn", "rat")).toBeNull();
});

test("a word inside a longer one is never found", () => {
  const letters = fc.string({
    unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz".split("")),
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(letters, fc.constantFrom("rat", "dog", "cat", "hen", "kedi"), letters, (before, word, after) => {
      fc.pre(readSpecies(before) === null);
      expect(readSpecies(`x${before}${word}${after}x`)).toBeNull();
      expect(readSpecies(`${before} ${word}`)).not.toBeNull();
    }),
  );
});
