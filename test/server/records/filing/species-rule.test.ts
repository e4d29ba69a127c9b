import { expect, test } from "vitest";
import { namesSpecies, speciesContradiction } from "../../../../server/records/filing/species-rule.ts";

function compared(words: string | null, [species, breed, precise]: readonly [string, string | null, string | null]) {
  const found = speciesContradiction({ species: words }, { species, breed }, precise);
  return found === null ? null : found.values;
}

const ferret = ["exotic", null, "ferret"] as const;
const horse = ["exotic", null, "horse"] as const;
const donkey = ["exotic", null, "donkey"] as const;
const grey = ["bird", null, "african_grey"] as const;
const hermann = ["reptile", "Griechische Landschildkröte", null] as const;
const exotic = ["exotic", null, null] as const;

test.each([
  ["Guinea pig", ferret, ["guinea_pig", "ferret"]],
  ["Meerschweinchen", ["exotic", "Frettchen", null], ["guinea_pig", "ferret"]],
  ["Equine", ["exotic", "Frettchen", null], ["horse", "ferret"]],
  ["Equine", ferret, ["horse", "ferret"]],
  ["Bovine", horse, ["cow", "horse"]],
  ["Eşek", horse, ["donkey", "horse"]],
  ["Mule", donkey, ["mule", "donkey"]],
  ["Tavuk", grey, ["chicken", "african_grey"]],
  ["Iguana", hermann, ["green_iguana", "hermanns_tortoise"]],
  ["Testudo graeca", hermann, ["greek_tortoise", "hermanns_tortoise"]],
  ["Dog", hermann, ["dog", "hermanns_tortoise"]],
  ["Dog", exotic, ["dog", "exotic"]],
  ["Goat", ["exotic", null, "sheep"], ["goat", "sheep"]],
  ["Cat", ["dog", "Persian Greyhound", null], ["cat", "dog"]],
] as const)("the device's %s contradicts a patient of %j: %j", (words, patient, values) => {
  expect(compared(words, patient)).toEqual(values);
});

test.each([
  ["Ferret", ferret],
  ["Frettchen", ["exotic", "ferret", null]],
  ["Exotic", ferret],
  ["Small mammal", ferret],
  ["Ferret", exotic],
  ["Equine", exotic],
  ["Equine", donkey],
  ["Horse", horse],
  ["Parrot", grey],
  ["Avian", grey],
  ["Tortoise", hermann],
  ["Pig", ["exotic", null, "potbellied_pig"]],
  ["Vietnamese potbellied pig", ["exotic", null, "pig"]],
  ["Rabbit", ["rabbit", "Feldhase", null]],
  ["Greyhound", ["dog", "Saluki", null]],
  ["General", ferret],
  ["Zebra?", horse],
  ["", ferret],
  [null, ferret],
] as const)("the device's %s does not contradict a patient of %j", (words, patient) => {
  expect(compared(words, patient)).toBeNull();
});

test("a person confirms a contradiction by the animal itself or the word of the API, and not by the device's word", () => {
  const names = (typed: string, [species, breed, precise]: readonly [string, string | null, string | null]) =>
    namesSpecies(typed, { species, breed }, precise);
  expect(["Frettchen", "gelincik", "exotic", "guinea pig", "horse", ""].map((typed) => names(typed, ferret))).toEqual([
    ...[true, true, true, false, false, false],
  ]);
  expect(["at", "Pferd", "EXOTIC", "donkey", "inek"].map((typed) => names(typed, horse))).toEqual([
    ...[true, true, true, false, false],
  ]);
  expect(["ferret", "guinea pig"].map((typed) => names(typed, ["exotic", "Ferret", null]))).toEqual([true, false]);
  expect(["Köpek", "Saluki", "cat"].map((typed) => names(typed, ["dog", "Saluki", null]))).toEqual([true, true, false]);
});
