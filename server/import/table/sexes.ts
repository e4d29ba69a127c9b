import { fold } from "../../../shared/clinical/species.ts";
import { patientSex, type PatientSex } from "../../../shared/clinical/sex.ts";

// The sex of an animal from its column, a column that says whether it is neutered, and words for a species that imply it.

type ReadSex =
  | { sex: PatientSex | null }
  | { field: "sex" | "neutered"; code: "unknown_sex" | "unknown_neutered" | "sex_contradiction" };

const wordsOf = (words: string) => new Set(words.split(", ").map(fold));

const YES = wordsOf(
  "y, yes, true, 1, x, e, evet, var, j, ja, o, oui, s, si, v, vrai, neutered, spayed, castrated, altered, desexed, fixed, sterilized, " +
    "kısır, kısırlaştırılmış, yapıldı, kastriert, sterilisiert, castré, castrée, stérilisé, stérilisée, castrado, castrada, esterilizado, " +
    "esterilizada, spayed neutered",
);
const NO = wordsOf(
  "n, no, false, 0, h, hayır, yok, nein, non, faux, intact, entire, unneutered, unaltered, not neutered, kısır değil, yapılmadı, nicht kastriert, " +
    "unkastriert, intakt, entier, entière, entero, entera",
);
const UNKNOWN = wordsOf("unknown, u, bilinmiyor, unbekannt, inconnu, desconocido");

/** Words for a species that mean one sex. Katze is not among them: it is the species. */
const SEXED = wordsOf(
  "kater, kätzin, rüde, hündin, hengst, stute, wallach, mare, gelding, stallion, kısrak, aygır, chatte, gata, jument, yegua, étalon",
);

export function readSexes(sexWords: string, neuteredWords: string, species: string): ReadSex {
  const neutered = readNeutered(neuteredWords);
  if (neutered === undefined) return { field: "neutered", code: "unknown_neutered" };
  const words = isNone(sexWords) ? (SEXED.has(fold(species)) ? species : "") : sexWords;
  if (words === "") return { sex: null };
  const sex = patientSex(words);
  if (sex === null) return { field: "sex", code: "unknown_sex" };
  if (sex === "unknown" || neutered === null) return { sex };
  const isNeutered = sex === "male_neutered" || sex === "female_spayed";
  if (isNeutered && !neutered) return { field: "neutered", code: "sex_contradiction" };
  if (!neutered || isNeutered) return { sex };
  return { sex: sex === "male" ? "male_neutered" : "female_spayed" };
}

/** @returns null if unknown, undefined for another word */
function readNeutered(words: string): boolean | null | undefined {
  const folded = fold(words);
  if (isNone(words) || UNKNOWN.has(folded)) return null;
  if (YES.has(folded)) return true;
  return NO.has(folded) ? false : undefined;
}

function isNone(words: string): boolean {
  return fold(words).trim() === "";
}
