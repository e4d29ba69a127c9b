import { expect, test } from "vitest";
import { patientSex } from "../../../shared/clinical/sex.ts";
import { animalSpecies, intervalFacts } from "../../../shared/clinical/species.ts";

test.each([
  ["male", "male"],
  ["M", "male"],
  ["Erkek", "male"],
  ["male, intact", "male"],
  ["not neutered male", "male"],
  ["MI", "male"],
  ["female", "female"],
  ["f", "female"],
  ["dişi", "female"],
  ["DİŞİ", "female"],
  ["FI", "female"],
  ["male_neutered", "male_neutered"],
  ["Male (neutered)", "male_neutered"],
  ["MN", "male_neutered"],
  ["MC", "male_neutered"],
  ["castrated male", "male_neutered"],
  ["kısır erkek", "male_neutered"],
  ["Erkek (kısırlaştırılmış)", "male_neutered"],
  ["female_spayed", "female_spayed"],
  ["FS", "female_spayed"],
  ["SF", "female_spayed"],
  ["Female Spayed", "female_spayed"],
  ["KISIR DİŞİ", "female_spayed"],
  ["unknown", "unknown"],
  ["U", "unknown"],
  ["Bilinmiyor", "unknown"],
  ["", null],
  ["neutered", null],
  ["kısır", null],
  ["M/F", null],
  ["M/N", null],
  ["male?x", null],
  ["hermaphrodite", null],
  ["C", "male_neutered"],
  ["S", "female_spayed"],
  ["Castrated", "male_neutered"],
  ["Spayed", "female_spayed"],
  ["Gelding", "male_neutered"],
  ["Mare", "female"],
  ["männlich", "male"],
  ["MÄNNLICH", "male"],
  ["Rüde", "male"],
  ["Kater", "male"],
  ["mk", "male_neutered"],
  ["m kastr.", "male_neutered"],
  ["Wallach", "male_neutered"],
  ["weiblich", "female"],
  ["Hündin", "female"],
  ["wk", "female_spayed"],
  ["w, kastriert", "female_spayed"],
  ["mâle castré", "male_neutered"],
  ["femelle", "female"],
  ["stérilisée", "female_spayed"],
  ["macho", "male"],
  ["hembra", "female"],
  ["m/k", "male_neutered"],
  ["w/k", "female_spayed"],
  ["männl.", "male"],
  ["macho entero", "male"],
  ["femelle entière", "female"],
  ["Esterilizada", "female_spayed"],
  ["M^Y", "male_neutered"],
  ["F^N", "female"],
  ["unbekannt", "unknown"],
  ["1", null],
])("the sex %j is stored as %j", (words, sex) => {
  expect(patientSex(words)).toBe(sex);
});

test.each([
  ["dog", "dog"],
  ["Canine", "dog"],
  ["KÖPEK", "dog"],
  ["kedi", "cat"],
  ["KEDİ", "cat"],
  ["tavşan", "rabbit"],
  ["Kuş", "bird"],
  ["tortoise", "reptile"],
  ["exotic", "exotic"],
  ["OTHER", "exotic"],
  ["FEL", "cat"],
  ["Lapin", "rabbit"],
  ["pájaro", "bird"],
  ["SEA_TURTLE", "reptile"],
  ["448771007", "dog"],
])("the species %j is stored as %j", (words, species) => {
  expect(animalSpecies(words)).toEqual({ served: species, precise: null });
});

test.each([
  ["horse", "horse"],
  ["EQUINE", "horse"],
  ["Caballo", "horse"],
  ["inek", "cow"],
  ["Sığır", "cow"],
  ["SIĞIR", "cow"],
  ["Esel", "donkey"],
  ["katır", "mule"],
  ["manda", "buffalo"],
  ["guinea pig", "guinea_pig"],
  ["ferret", "ferret"],
  ["Frettchen", "ferret"],
  ["Goat", "goat"],
  ["LLAMA", "llama"],
  ["Stute", "horse"],
  ["cobaye", "guinea_pig"],
  ["Ratte", "rat"],
  ["çinçila", "chinchilla"],
])("the species %j is stored as %j, and served as exotic", (words, precise) => {
  expect(animalSpecies(words)).toEqual({ served: "exotic", precise });
  expect(animalSpecies(precise.replaceAll("_", " "))).toEqual({ served: "exotic", precise });
});

test.each([["dog or cat"], [""], ["0"], ["unicorn"], ["Zebra?"]])("the species %j is unknown", (words) => {
  expect(animalSpecies(words)).toBeNull();
});

test("a precise species selects the intervals of its own, and a breed that names a kind wins", () => {
  const exotic = { species: "exotic", breed: null };
  expect(intervalFacts(exotic, null)).toEqual(exotic);
  expect(intervalFacts(exotic, "horse")).toEqual({ species: "horse", breed: null });
  expect(intervalFacts(exotic, "donkey")).toEqual({ species: "horse", breed: "donkey" });
  expect(intervalFacts(exotic, "ferret")).toEqual({ species: "exotic", breed: "ferret" });
  expect(intervalFacts({ ...exotic, breed: "sable" }, "guinea_pig")).toEqual({
    species: "exotic",
    breed: "guinea pig",
  });
  expect(intervalFacts({ ...exotic, breed: "minipig" }, "pig")).toEqual({ species: "exotic", breed: "minipig" });
});
