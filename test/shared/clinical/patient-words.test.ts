import { expect, test } from "vitest";
import { patientSex } from "../../../shared/clinical/sex.ts";
import { speciesWords } from "../../../shared/clinical/passport/species-words.ts";
import {
  animalSpecies,
  API_SPECIES,
  hasBreeds,
  intervalFacts,
  servedSpecies,
  subgroupOf,
  subgroupsOf,
} from "../../../shared/clinical/species.ts";

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

/** Words that clinics write for an animal, in English, Turkish and German, and the animal that is stored. */
const WRITTEN: readonly (readonly [string, string])[] = [
  [
    "horse",
    "horse, equine, foal, stallion, pony, at, tay, kısrak, aygır, midilli, beygir, Pferd, Fohlen, Stute, Equus caballus",
  ],
  ["donkey", "donkey, burro, eşek, merkep, sıpa, Esel, Equus asinus"],
  ["mule", "mule, hinny, katır, Maultier, Maulesel"],
  [
    "cow",
    "cow, cattle, bovine, calf, heifer, bull, inek, sığır, dana, buzağı, düve, boğa, öküz, Rind, Kuh, Kalb, Ochse, Bos taurus",
  ],
  ["buffalo", "water buffalo, manda, camız, Wasserbüffel"],
  ["sheep", "sheep, ovine, lamb, ewe, koyun, kuzu, koç, toklu, Schaf, Lamm, Ovis aries"],
  ["goat", "goat, caprine, keçi, oğlak, teke, Ziege, Zicklein, Capra hircus"],
  ["pig", "pig, swine, porcine, piglet, domuz, Schwein, Ferkel, minipig"],
  ["potbellied_pig", "pot-bellied pig, Vietnam domuzu, Hängebauchschwein"],
  ["alpaca", "alpaca, alpaka, Vicugna pacos"],
  ["llama", "llama, lama, Lama glama"],
  ["ferret", "ferret, gelincik, dağ gelinciği, Frettchen, Mustela putorius furo"],
  ["guinea_pig", "guinea pig, cavy, kobay, ginepig, gine domuzu, hint domuzu, Meerschweinchen, Cavia porcellus"],
  ["chinchilla", "chinchilla, çinçilla, şinşilla"],
  ["hamster", "hamster, Goldhamster"],
  ["rat", "rat, sıçan, Ratte, Rattus norvegicus"],
  ["mouse", "mouse, fare, Maus, Mus musculus"],
  ["gerbil", "gerbil, çöl faresi, Rennmaus, Wüstenrennmaus"],
  ["chicken", "chicken, hen, rooster, tavuk, horoz, Huhn, Hahn"],
  [
    "african_grey",
    "African grey, Afrika gri papağanı, jako papağanı, Graupapagei, Psittacus erithacus, Timneh African grey",
  ],
  ["hispaniolan_amazon", "Hispaniolan amazon, Hispaniola-Amazone, Amazona ventralis"],
  ["parrotlet", "parrotlet, Sperlingspapagei, Forpus"],
  ["ringneck_parakeet", "ring-necked parakeet, halkalı papağan, Halsbandsittich, Psittacula krameri"],
  [
    "bird",
    "parrot, cockatiel, budgie, macaw, papağan, sultan papağanı, sevda papağanı, muhabbet kuşu, Papagei, Wellensittich, Kakadu",
  ],
  ["hermanns_tortoise", "Hermann's tortoise, Hermann kaplumbağası, Griechische Landschildkröte, Testudo hermanni"],
  ["greek_tortoise", "Greek tortoise, adi tosbağa, Maurische Landschildkröte, Testudo graeca"],
  ["marginated_tortoise", "marginated tortoise, kenarlı kaplumbağa, Breitrandschildkröte, Testudo marginata"],
  [
    "horsfield_tortoise",
    "Russian tortoise, Horsfield's tortoise, bozkır kaplumbağası, Vierzehenschildkröte, Testudo horsfieldii",
  ],
  ["desert_tortoise", "desert tortoise, çöl kaplumbağası, Gopherus agassizii"],
  ["green_iguana", "green iguana, yeşil iguana, Grüner Leguan, Iguana iguana"],
  [
    "reptile",
    "tortoise, turtle, snake, kaplumbağa, kara kaplumbağası, su kaplumbağası, yılan, Schildkröte, Landschildkröte, Bartagame",
  ],
];

test.each(WRITTEN)("a %s is stored for each of %s", (animal, words) => {
  for (const each of words.split(", ")) {
    const read = animalSpecies(each);
    expect([each, read?.precise ?? read?.served]).toEqual([each, animal]);
    const capitals = animalSpecies(each.toLocaleUpperCase("tr"));
    expect([each, capitals]).toEqual([each, read]);
  }
});

test("each name that pages and reports print for an animal is read as that animal", () => {
  const wrong = Object.entries(speciesWords).flatMap(([animal, names]) =>
    [...names, animal].filter((name) => {
      const read = animalSpecies(name);
      // A zebra is a kind of horse in the text of a breed alone.
      return read === null ? animal !== "zebra" : (read.precise ?? read.served) !== animal;
    }),
  );
  expect(wrong).toEqual([]);
});

test.each([["dog or cat"], [""], ["0"], ["unicorn"], ["Zebra?"], ["Widder"], ["ram"], ["kid"], ["sow"]])(
  "the species %j is unknown",
  (words) => {
    expect(animalSpecies(words)).toBeNull();
  },
);

test("each kind of animal, as it is stored, selects its own intervals", () => {
  const kinds = [...API_SPECIES, "horse", "cow"].flatMap((species) =>
    // A zebra is never stored: only the text of a horse's breed may name one.
    hasBreeds(species) ? [] : subgroupsOf(species).flatMap((kind) => (kind === "zebra" ? [] : [{ species, kind }])),
  );
  expect(kinds.length).toBeGreaterThan(29);
  for (const { species, kind } of kinds) {
    const facts = intervalFacts({ species: servedSpecies(species), breed: null }, kind);
    expect([kind, facts.species, subgroupOf(facts.species, facts.breed)]).toEqual([kind, species, kind]);
  }
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
