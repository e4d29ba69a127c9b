import { Type } from "typebox";
import { readData } from "./analytes/data.ts";

// Words for species and breeds. Only complete words match, since "rattlesnake" contains "rat". The longest phrase takes its
// words: an Italian Greyhound is not a greyhound, a guinea pig not a pig, a prairie dog not a dog.

const Words = Type.Array(Type.String({ minLength: 1 }));
const Species = Type.Object({
  device_words: Words,
  subgroups: Type.Optional(Type.Record(Type.String(), Words)),
  /** Words of a subgroup as the complete text of a breed only: a Golden is a retriever, a Golden Doodle is not. */
  alone: Type.Optional(Type.Record(Type.String(), Words)),
  /** Subgroups of several breeds, such as sighthounds, with their breeds. */
  groups: Type.Optional(Type.Record(Type.String(), Words)),
});
const file = readData(
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
    other: Type.Object({ horse: Species, cow: Species, note: Type.String() }),
  }),
);

/** The species of the API. */
export const API_SPECIES = ["dog", "cat", "rabbit", "bird", "reptile", "exotic"] as const;
export type ApiSpecies = (typeof API_SPECIES)[number];

/** A phrase of the file, folded. `subgroup` is null for a word of the species itself. */
interface Phrase {
  readonly text: string;
  readonly species: string;
  readonly subgroup: string | null;
}

const rows = { ...file, ...file.other };
const species = [...API_SPECIES, "horse", "cow"] as const;
const phrases: readonly Phrase[] = species.flatMap((name) => [
  ...phrasesOf(rows[name].device_words, name, null),
  ...Object.entries(rows[name].subgroups ?? {}).flatMap(([subgroup, words]) => phrasesOf(words, name, subgroup)),
]);

/** Species whose subgroups are breeds. A breed is an adjective in the name of another animal: a Siberian hamster is not a cat. */
const SPECIES_OF_BREEDS: readonly string[] = ["dog", "cat"];

/**
 * Whether the subgroups of a species are its breeds, which share its general values. All others are animals of their own: no value of
 * a horse is judged for a donkey, none of cattle for a water buffalo.
 */
export function hasBreeds(ofSpecies: string): boolean {
  return SPECIES_OF_BREEDS.includes(ofSpecies);
}

/** Words for a cross of breeds, folded. */
const CROSS =
  / (x|mix|mixed|mixture|cross|crossed|crossbred|crossbreed|melez|melezi|kirma|kirmasi|mischling|mestizo|cruce|croise|croisee|meticcio|incrocio|krizenec) /;

/** Words for a small greyhound, folded. An Italian one has so many names that no list has them all, and none of a greyhound's values. */
const SMALL =
  / (ital|itali\w+|italyan|ig|mini|miniature|minyatur|micro|toy|small|little|pocket|teacup|dwarf|kucuk|cuce|klein\w*|zwerg\w*|petite?|nain|nano|piccol[oa]|pequen[oa]|enan[oa]) /;
const GREYHOUNDS: readonly (string | null)[] = ["greyhound", "galgo", "sighthound"];

/**
 * Reads the species in a device's words, in any case and with or without accents. A ferret is "exotic". A single digit is not a
 * word, since only a profile knows such codes. @returns null if the words name no species or several
 */
export function readSpecies(words: string): string | null {
  const found = named(words);
  const animals = found.filter((one) => one.subgroup === null || !hasBreeds(one.species));
  return onlyOne((animals.length > 0 ? animals : found).map((one) => one.species));
}

/** Returns whether a text is words of species and breeds alone: `Canine`, not `Can Demir`. */
export function isSpeciesAlone(text: string): boolean {
  const rest = named(text).reduce((left, phrase) => left.replaceAll(phrase.text, " "), fold(text));
  return rest.trim() === "";
}

/** The species of a patient: the word that the API serves, and the animal itself where that word names a group. */
export interface AnimalSpecies {
  readonly served: ApiSpecies;
  /** Such as `horse` or `ferret`, which have intervals of their own; null if `served` is all that is known. */
  readonly precise: string | null;
}

/** Species that the API serves as `exotic`. */
const SERVED_AS_EXOTIC: readonly string[] = ["horse", "cow"];

/**
 * Words and codes of practice software beside those of the devices: German, French, Spanish and Turkish words, SNOMED CT codes, and
 * animals without intervals. Each is the complete text of a field, and means a word that is read.
 */
const PRACTICE_WORDS: readonly (readonly [string, string])[] = [
  ["dog", "hündin, rüde, canis lupus familiaris, canis familiaris, 448771007"],
  ["cat", "fel, kater, kätzin, chatte, gata, felis catus, 448169003"],
  ["rabbit", "lapin, conejo, hase, zwergkaninchen, leporine, oryctolagus cuniculus"],
  [
    "bird",
    "oiseau, pájaro, ave, psittacine, wellensittich, kanarienvogel, kanarya, duck, ördek, goose, kaz, pigeon, güvercin, taube, macaw, " +
      "makav, cockatoo, kakadu, cockatiel, nymphensittich, budgerigar, budgie, sittich, lovebird, amazon parrot, amazone, canary",
  ],
  ["chicken", "huhn, poule, gallina, hahn, horoz, rooster"],
  [
    "reptile",
    "reptil, eidechse, schlange, serpent, tortue, lézard, serpiente, tortuga, lagarto, yılan, kertenkele, bukalemun, " +
      "landschildkröte, wasserschildkröte, terrapin, leguan, bartagame, sakallı ejder, chamäleon, ball python, königspython, corn snake, kornnatter",
  ],
  [
    "exotic",
    "egzotik, exot, heimtier, nac, exotique, exótico, monkey, maymun, affe, singe, mono, fish, balık, fisch, igel, kirpi, camel, deve",
  ],
  ["ferret", "furet, hurón"],
  ["hamster", "goldhamster, zwerghamster, hámster"],
  [
    "horse",
    "at, pony, midilli, cheval, caballo, hengst, stute, wallach, fohlen, mare, gelding, stallion, foal, kısrak, aygır, tay, beygir, " +
      "equus caballus, 35354009",
  ],
  [
    "cow",
    "kuh, vache, vaca, bovin, dana, buzağı, düve, boğa, öküz, tosun, bull, calf, heifer, steer, kalb, färse, stier, ochse, " +
      "bos taurus, 34618005",
  ],
  ["donkey", "âne, asno, merkep, sıpa"],
  ["sheep", "koç, kuzu, toklu, ewe, lamb, lamm, schafbock, ovis aries"],
  ["goat", "teke, oğlak, ziegenbock, zicklein, capra hircus"],
  ["pig", "cochon, porc, cerdo, hausschwein, ferkel, piglet, sau, eber, minischwein"],
  ["guinea pig", "cobaye, cobayo, ginepig"],
  ["llama", "lama"],
  ["rat", "ratte, sıçan, rattus norvegicus"],
  ["mouse", "maus, mus musculus"],
  ["gerbil", "rennmaus, wüstenrennmaus, mongolische rennmaus"],
];

const practiceWords = new Map(
  PRACTICE_WORDS.flatMap(([word, others]) => others.split(", ").map((other) => [fold(other), word] as const)),
);

/** Reads the species of a patient in a clinic's words ("Canine", "kedi", "Frettchen"). @returns null for no species or several */
export function animalSpecies(words: string): AnimalSpecies | null {
  const read = practiceWords.get(fold(words)) ?? words;
  const exact = ofApi(read);
  if (exact !== null) return { served: exact, precise: null };
  const found = readSpecies(read);
  if (found === null) return null;
  const subgroup = hasBreeds(found) ? null : subgroupOf(found, read);
  const served = ofApi(found);
  return served !== null ? { served, precise: subgroup } : { served: "exotic", precise: subgroup ?? found };
}

/** Returns the word that the API serves for a species that was read: `exotic` for a horse. */
export function servedSpecies(animal: string): string {
  return SERVED_AS_EXOTIC.includes(animal) ? "exotic" : animal;
}

/** Returns the species and breed that select the intervals of a patient whose precise species is known. */
export function intervalFacts<Facts extends { readonly species: string; readonly breed: string | null }>(
  facts: Facts,
  precise: string | null,
): Facts {
  if (precise === null) return facts;
  const word = precise.replaceAll("_", " ");
  const own = readSpecies(word) ?? facts.species;
  const isNamedByBreed = precise === own || subgroupOf(own, facts.breed) !== null;
  return { ...facts, species: own, breed: isNamedByBreed ? facts.breed : word };
}

/**
 * Compares the animal that a device's words state with a patient's: its species and breed, and `precise`, the animal itself, if it is
 * known. A cow contradicts a horse, a guinea pig a ferret, and neither contradicts an animal that is only known as `exotic`.
 * @returns the stated and the known animal, if they differ; null if they agree, or the words name no species
 */
export function otherAnimal(
  words: string,
  { species: served, breed }: { readonly species: string; readonly breed: string | null },
  precise: string | null,
): readonly [stated: string, known: string] | null {
  const stated = readSpecies(words);
  if (stated === null) return null;
  const own = readSpecies(precise ?? served) ?? served;
  if (stated !== own) {
    const known = precise ?? kindOf(served, breed);
    return known === null && servedSpecies(stated) === own ? null : [stated, known ?? served];
  }
  const statedKind = kindOf(stated, words);
  // A horse that is known as one is not a donkey. A device's word for a horse may be its only word for all equines.
  const ownKind = kindOf(own, precise) ?? kindOf(own, breed) ?? precise;
  if (statedKind === null || ownKind === null || statedKind === ownKind) return null;
  return PIGS.includes(statedKind) && PIGS.includes(ownKind) ? null : [statedKind, ownKind];
}

/** Kinds of one animal. */
const PIGS: readonly string[] = ["pig", "potbellied_pig"];

/** Reads the animal that a text names within a group of species: a ferret within `exotic`. A breed is not an animal of its own. */
export function kindOf(ofSpecies: string, text: string | null): string | null {
  return hasBreeds(ofSpecies) ? null : subgroupOf(ofSpecies, text);
}

function ofApi(name: string | null): ApiSpecies | null {
  return API_SPECIES.find((each) => each === name) ?? null;
}

/**
 * Reads the subgroup of a species in a breed, if it has intervals or caveats of its own.
 * @returns null for none, for several, and for a cross, whose values are not those of one breed
 */
export function subgroupOf(ofSpecies: string, breed: string | null): string | null {
  if (breed === null || CROSS.test(fold(breed.replaceAll("×", " x ")))) return null;
  const only = onlyOne(breedsNamed(ofSpecies, breed));
  return ofSpecies === "dog" && GREYHOUNDS.includes(only) && SMALL.test(fold(breed)) ? "italian_greyhound" : only;
}

/** Returns all subgroups of a species that a breed names, also those of a cross. */
export function breedsNamed(ofSpecies: string, breed: string | null): string[] {
  if (breed === null) return [];
  const found = named(breed).flatMap((one) => (one.species === ofSpecies ? (one.subgroup ?? []) : []));
  return [...new Set([...found, ...subgroupsWith(rowOf(ofSpecies)?.alone, breed, fold)])].toSorted();
}

/** Returns the group of breeds to which a breed belongs, such as `sighthound` of a whippet. @returns null for none */
export function breedGroupOf(ofSpecies: string, breed: string): string | null {
  return subgroupsWith(rowOf(ofSpecies)?.groups, breed, (name) => name)[0] ?? null;
}

/** Whether a subgroup has several breeds. */
export function isBreedGroup(ofSpecies: string, subgroup: string): boolean {
  return Object.hasOwn(rowOf(ofSpecies)?.groups ?? {}, subgroup);
}

/** Returns the subgroups of a species, which a clinic's interval may name. */
export function subgroupsOf(ofSpecies: string): readonly string[] {
  return Object.keys(rowOf(ofSpecies)?.subgroups ?? {});
}

function rowOf(ofSpecies: string) {
  const name = species.find((each) => each === ofSpecies);
  return name === undefined ? undefined : rows[name];
}

function subgroupsWith(
  lists: Readonly<Record<string, readonly string[]>> = {},
  text: string,
  read: (word: string) => string,
): string[] {
  const wanted = read(text);
  return Object.keys(lists).filter((subgroup) => lists[subgroup]?.some((word) => read(word) === wanted));
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

/** Finds the phrases that a text names, without those inside a longer one. */
function named(words: string): Phrase[] {
  const text = fold(words);
  const found = phrases.flatMap((phrase) => placesOf(phrase.text, text).map((from) => ({ phrase, from })));
  const isInside = ({ phrase, from }: (typeof found)[number]) =>
    found.some(
      (other) =>
        other.phrase.text.length > phrase.text.length &&
        other.from <= from &&
        other.from + other.phrase.text.length >= from + phrase.text.length,
    );
  return found.filter((one) => !isInside(one)).map(({ phrase }) => phrase);
}

function placesOf(phrase: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(phrase); at !== -1; at = text.indexOf(phrase, at + 1)) places.push(at);
  return places;
}

function phrasesOf(words: readonly string[], ofSpecies: string, subgroup: string | null): Phrase[] {
  const texts = words.filter((word) => !/^\d+$/.test(word)).flatMap((word) => [fold(word), lastFirst(word)]);
  return [...new Set(texts)].map((text) => ({ text, species: ofSpecies, subgroup }));
}

/** Folds a phrase as lists of breeds write it: "Greyhound, Italian". */
function lastFirst(phrase: string): string {
  const words = fold(phrase).trim().split(" ");
  return fold([words.at(-1), ...words.slice(0, -1)].join(" "));
}

function onlyOne(found: readonly string[]): string | null {
  const names = new Set(found);
  return names.size === 1 ? (found[0] ?? null) : null;
}
