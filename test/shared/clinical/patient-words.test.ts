import { expect, test } from "vitest";
import { patientSex } from "../../../shared/clinical/sex.ts";
import { apiSpecies } from "../../../shared/clinical/species.ts";

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
  ["guinea pig", "exotic"],
  ["ferret", "exotic"],
  ["exotic", "exotic"],
  ["horse", null],
  ["inek", null],
  ["dog or cat", null],
  ["", null],
  ["0", null],
  ["unicorn", null],
])("the species %j is stored as %j", (words, species) => {
  expect(apiSpecies(words)).toBe(species);
});
