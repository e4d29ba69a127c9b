import type { Language } from "../../api/language.ts";
import { speciesWords } from "./species-words.ts";

// Names of species, breeds and kinds of species-map.json.

/** English and Turkish. */
const names: Readonly<Record<string, readonly [string, string]>> = {
  ...speciesWords,
  exotic: ["exotic animal", "egzotik hayvan"],
  greyhound: ["Greyhound", "İngiliz tazısı"],
  saluki: ["Saluki", "Saluki"],
  golden_retriever: ["Golden Retriever", "Golden Retriever"],
  shiba: ["Shiba", "Şiba"],
  whippet: ["Whippet", "Whippet"],
  italian_greyhound: ["Italian Greyhound", "İtalyan tazısı"],
  galgo: ["Galgo", "İspanyol tazısı"],
  borzoi: ["Borzoi", "Rus tazısı"],
  scottish_deerhound: ["Scottish Deerhound", "İskoç geyik tazısı"],
  irish_wolfhound: ["Irish Wolfhound", "İrlanda kurt köpeği"],
  afghan_hound: ["Afghan Hound", "Afgan tazısı"],
  sloughi: ["Sloughi", "Arap tazısı"],
  azawakh: ["Azawakh", "Azawakh"],
  lurcher: ["Lurcher", "Lurcher"],
  sighthound: ["sighthound", "tazı"],
  maltese: ["Maltese", "Malta köpeği"],
  siberian_husky: ["Siberian Husky", "Sibirya kurdu"],
  scottish_terrier: ["Scottish Terrier", "İskoç terrieri"],
  cavalier_king_charles_spaniel: ["Cavalier King Charles Spaniel", "Cavalier King Charles Spaniel"],
  akita: ["Akita", "Akita"],
  hokkaido: ["Hokkaido", "Hokkaido"],
  shar_pei: ["Shar Pei", "Şar Pei"],
  alaskan_malamute: ["Alaskan Malamute", "Alaska malamutu"],
  collie: ["Collie", "Collie"],
  border_collie: ["Border Collie", "Border Collie"],
  bearded_collie: ["Bearded Collie", "Bearded Collie"],
  english_setter: ["English Setter", "İngiliz setteri"],
  keeshond: ["Keeshond", "Keeshond"],
  samoyed: ["Samoyed", "Samoyed"],
  maine_coon: ["Maine Coon", "Maine Coon"],
  domestic_shorthair: ["Domestic Shorthair", "kısa tüylü ev kedisi"],
  birman: ["Birman", "Kutsal Birman"],
  chartreux: ["Chartreux", "Chartreux"],
  persian: ["Persian", "İran kedisi"],
  siberian: ["Siberian", "Sibirya kedisi"],
  siamese: ["Siamese", "Siyam kedisi"],
  somali: ["Somali", "Somali"],
};

/** Whether it is a species or a subgroup of the catalogue. */
export function isAnimal(stored: string): boolean {
  return Object.hasOwn(names, stored);
}

/** Names a species or a subgroup of the catalogue. One of another version stays as it is stored. */
export function animalWord(stored: string, language: Language): string {
  const known = isAnimal(stored) ? names[stored] : undefined;
  return known?.[language === "tr" ? 1 : 0] ?? stored.replaceAll("_", " ");
}
