import type { Reason } from "../../../../shared/api/reason.ts";
import { filingReasonText } from "../../../../shared/clinical/filing-reasons.ts";
import { animalWord, isAnimal } from "../../../../shared/clinical/passport/animal-words.ts";
import { flagReasonText } from "../../../../shared/clinical/flag-reasons.ts";
import { language } from "../../text.ts";

/** Translates the reason for a missing range or flag, with the animal that it names. */
export function flagReason({ code, values }: Reason): string {
  const [analyte, animal, ...rest] = values;
  const named = (code === "INTERVAL.NONE" || code === "INTERVAL.NOT_FOR_BREED") && animal !== undefined;
  return flagReasonText(
    { code, values: named ? [analyte ?? "", animalWords(animal), ...rest] : values },
    language.value,
  );
}

/** Translates a breed such as `italian greyhound`, a species, or both: `saluki dog`. */
function animalWords(stored: string): string {
  const whole = stored.replaceAll(" ", "_");
  const [, subgroup, species] = /^(.+)_([a-z]+)$/.exec(whole) ?? [];
  const parts = isAnimal(whole) || subgroup === undefined || species === undefined ? [whole] : [subgroup, species];
  return parts.map((part) => animalWord(part, language.value)).join(" ");
}

/** The values of a reason that are species. */
const SPECIES_AT: Readonly<Record<string, readonly number[]>> = {
  "MATCH.SPECIES": [0, 1],
  "MATCH.OTHER_SPECIES": [0, 1],
  "MATCH.NAME_UNKNOWN": [0],
};

/** Translates the reason of an unmatched or contradicting study, with the species that it names. */
export function filingReason({ code, values }: Reason): string {
  const places = SPECIES_AT[code] ?? [];
  const named = values.map((value, place) => (places.includes(place) ? animalWord(value, language.value) : value));
  return filingReasonText({ code, values: named }, language.value);
}
