import * as fc from "fast-check";
import { expect, test } from "vitest";
import { dataFile } from "../../../shared/clinical/analytes/data.ts";
import {
  breedGroupOf,
  breedsNamed,
  isBreedGroup,
  readSpecies,
  subgroupOf,
  subgroupsOf,
} from "../../../shared/clinical/species.ts";

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
  ["Donkey", "horse"],
  ["pig", "exotic"],
  ["Pig, guinea", "exotic"],
  ["Prairie dog", "exotic"],
  ["hedge-hog", "exotic"],
  ["kangaroo rat", "exotic"],
  ["Siberian hamster", "exotic"],
  ["Rat Terrier", "dog"],
  ["Shetland Sheep Dog", "dog"],
  ["Australian Cattle Dog", "dog"],
  ["rat snake", "reptile"],
  ["hog-nosed snake", "reptile"],
  ["guinea fowl", "bird"],
  ["turtle dove", "bird"],
  ["Persian", "cat"],
  ["Italian Greyhound", "dog"],
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
  ["exotic", "Pig", "pig"],
  ["exotic", "Vietnamese pot-bellied pig", "potbellied_pig"],
  ["dog", "Greyhound", "greyhound"],
  ["dog", "Italian Greyhound", "italian_greyhound"],
  ["dog", "Greyhound, Italian", "italian_greyhound"],
  ["dog", "İTALYAN TAZISI", "italian_greyhound"],
  ["dog", "Petit lévrier italien", "italian_greyhound"],
  ["dog", "Galgo Español", "galgo"],
  ["dog", "Galgo inglés", "greyhound"],
  ["dog", "Persian Greyhound", "saluki"],
  ["dog", "Rough Collie", "collie"],
  ["dog", "Collie (Border)", "border_collie"],
  ["dog", "Golden Retriever", "golden_retriever"],
  ["cat", "Siberian", "siberian"],
  ["reptile", "Griechische Landschildkröte", "hermanns_tortoise"],
  ["horse", "Eşek", "donkey"],
  ["horse", "Katır", "mule"],
  ["horse", "Zebra", "zebra"],
  ["cow", "Manda", "buffalo"],
  ["cow", "American Buffalo", "bison"],
  ["rabbit", "Feldhase", "hare"],
  ["dog", "Küçük İngiliz tazısı", "italian_greyhound"],
  ["dog", "KÜÇÜK İNGİLİZ TAZI", "italian_greyhound"],
  ["dog", "Mini Greyhound", "italian_greyhound"],
  ["dog", "Italienischer Windhund", "italian_greyhound"],
  ["dog", "Levrette d'Italie", "italian_greyhound"],
  ["dog", "Galgo inglés (pequeño)", "italian_greyhound"],
  ["dog", "Mini English Greyhound", "italian_greyhound"],
  ["dog", "Ital. Greyhound", "italian_greyhound"],
  ["dog", "Italienischer Greyhound", "italian_greyhound"],
  ["dog", "Greyhound (IG)", "italian_greyhound"],
  ["dog", "Küçük greyhound", "italian_greyhound"],
  ["dog", "Greyhound nain", "italian_greyhound"],
  ["dog", "Windhund, italienisch", "italian_greyhound"],
  ["dog", "Retired racing greyhound", "greyhound"],
  ["dog", "Small greyhound cross", null],
  ["dog", "Piccolo Levriero", "italian_greyhound"],
  ["dog", "Rampur Greyhound", "sighthound"],
  ["dog", "İNGİLİZ TAZISI", "greyhound"],
  ["dog", "İngiliz Tazı", "greyhound"],
  ["dog", "İtalyan Tazı", "italian_greyhound"],
  ["dog", "Afgan Tazı", "afghan_hound"],
  ["dog", "İskoç Geyik Tazısı", "scottish_deerhound"],
  ["dog", "İrlanda kurt köpeği", "irish_wolfhound"],
  ["dog", "Tazı", "sighthound"],
  ["dog", "Şarpei", "shar_pei"],
  ["dog", "Golden", "golden_retriever"],
  ["dog", "golden retriver", "golden_retriever"],
  ["cat", "Main Coon", "maine_coon"],
  ["cat", "Mainecoon", "maine_coon"],
  ["cat", "Avrupa kısa tüylü", "domestic_shorthair"],
  ["cat", "İran", "persian"],
  ["cat", "İRAN KEDİSİ", "persian"],
  ["cat", "Sibirya kedisi", "siberian"],
  ["bird", "Jako papağanı", "african_grey"],
  ["exotic", "Sıçan", "rat"],
])("a %s of breed %s is of the subgroup %s", (species, breed, subgroup) => {
  expect(subgroupOf(species, breed)).toBe(subgroup);
});

test("a word that is a breed alone names none among other words", () => {
  expect(subgroupOf("dog", "Golden Doodle")).toBeNull();
  expect(subgroupOf("dog", "golden mix")).toBeNull();
  expect(subgroupOf("cat", "Van, İran")).toBeNull();
  expect(readSpecies("Golden")).toBeNull();
});

test("a breed of a group is of one group, and a breed outside it of none", () => {
  expect(breedGroupOf("dog", "whippet")).toBe("sighthound");
  expect(breedGroupOf("dog", "sighthound")).toBeNull();
  expect(breedGroupOf("dog", "akita")).toBeNull();
  expect(breedGroupOf("cat", "whippet")).toBeNull();
  for (const species of ["dog", "cat", "bird"]) {
    const groups = subgroupsOf(species).filter((each) => isBreedGroup(species, each));
    expect(groups).toEqual(species === "dog" ? ["sighthound"] : []);
  }
});

test("a breed of another species, of two subgroups, or of none has no subgroup", () => {
  expect(subgroupOf("dog", "Rat Terrier")).toBeNull();
  expect(subgroupOf("dog", "Alaskan Husky")).toBeNull();
  expect(subgroupOf("dog", "Czechoslovakian Wolfhound")).toBeNull();
  expect(subgroupOf("dog", "Afghan Shepherd")).toBeNull();
  expect(subgroupOf("rabbit", "Belgian Hare")).toBeNull();
  expect(subgroupOf("reptile", "Rattlesnake")).toBeNull();
  expect(subgroupOf("exotic", "Rattlesnake")).toBeNull();
  expect(subgroupOf("cat", "DSH / Maine Coon")).toBeNull();
  expect(subgroupOf("cat", "")).toBeNull();
  expect(subgroupOf("cat", null)).toBeNull();
  expect(subgroupOf("unicorn", "rat")).toBeNull();
  expect(subgroupOf("bird", "Guinea hen")).toBeNull();
  expect(subgroupOf("exotic", "Hedge hog")).toBeNull();
});

test.each(["Greyhound x Labrador", "greyhound mix", "Cross: Greyhound", "Tazı × Greyhound", "GREYHOUND MELEZİ"])(
  "%s is a cross, with the caveats of the breed and without its subgroup",
  (breed) => {
    expect(subgroupOf("dog", breed)).toBeNull();
    expect(breedsNamed("dog", breed)).toContain("greyhound");
  },
);

test.each(["Italian Grey Hound", "Grayhound, Spanish", "Min. grey hound", "Persian Grey Hound"])(
  "%s is no greyhound",
  (breed) => {
    expect(subgroupOf("dog", breed)).not.toBe("greyhound");
  },
);

test("every phrase of the map finds its own subgroup", () => {
  const map = JSON.parse(dataFile("species-map.json").toString("utf8")) as Record<string, MapEntry> & {
    other: Record<string, MapEntry>;
  };
  let phrases = 0;
  for (const [species, { subgroups = {}, alone = {}, groups = {} }] of Object.entries({ ...map, ...map.other })) {
    const mentioned = [...Object.keys({ ...alone, ...groups }), ...Object.values(groups).flat()];
    expect(mentioned.filter((subgroup) => !(subgroup in subgroups))).toEqual([]);
    for (const [subgroup, words] of [...Object.entries(subgroups), ...Object.entries(alone)]) {
      for (const word of words) {
        expect([word, subgroupOf(species, word)]).toEqual([word, subgroup]);
        phrases += 1;
      }
    }
  }
  expect(phrases).toBeGreaterThan(200);
});

interface MapEntry {
  readonly subgroups?: Record<string, string[]>;
  readonly alone?: Record<string, string[]>;
  readonly groups?: Record<string, string[]>;
}

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
