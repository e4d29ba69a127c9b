import {
  type EditedAnimal,
  type KnownOwner,
  NUMBER_TYPES,
  type OwnerFacts,
  type TypedAnimal,
  type TypedNumber,
} from "../../../../dashboard/types/animals.ts";

// An animal as its form has it: texts. A blank one is unknown.

export interface AnimalDraft {
  readonly name: string;
  readonly species: string;
  readonly breed: string;
  readonly sex: string;
  readonly date_of_birth: string;
  readonly weight: string;
  readonly numbers: readonly TypedNumber[];
  /** The chosen owner; null while a new one is typed. */
  readonly knownOwner: KnownOwner | null;
  readonly newOwner: OwnerDraft;
}

/** The facts of an owner as texts. */
export type OwnerDraft = Readonly<Record<keyof OwnerFacts, string>>;

const nobody: OwnerDraft = { name: "", phone: "", email: "", language: "", time_zone: "" };

export const emptyDraft: AnimalDraft = {
  ...{ name: "", species: "", breed: "", sex: "", date_of_birth: "", weight: "" },
  numbers: withUsual([]),
  knownOwner: null,
  newOwner: nobody,
};

/** Makes the draft of an animal that is edited, or of a new one that a device named. */
export function draftOf(animal: TypedAnimal, owner: EditedAnimal["owner"] | null): AnimalDraft {
  const { name, species, weight_kg } = animal;
  return {
    name,
    species,
    breed: animal.breed ?? "",
    sex: animal.sex ?? "",
    date_of_birth: animal.date_of_birth ?? "",
    weight: weight_kg === null ? "" : String(weight_kg),
    numbers: withUsual(animal.identifiers),
    knownOwner: owner,
    newOwner: "fp" in animal.owner ? nobody : ownerDraft(animal.owner),
  };
}

/** Adds an empty microchip and card number, the two that most animals have. */
function withUsual(numbers: readonly TypedNumber[]): TypedNumber[] {
  const missing = (["microchip", "card"] as const).filter((type) => !numbers.some((each) => each.type === type));
  const all = [...numbers, ...missing.map((type) => ({ type, value: "" }))];
  return all.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function placeOf({ type }: TypedNumber): number {
  return type === null ? NUMBER_TYPES.length : NUMBER_TYPES.indexOf(type);
}

export function ownerDraft(facts: OwnerFacts): OwnerDraft {
  const { name, phone, email, language, time_zone } = facts;
  return {
    name: name ?? "",
    phone: phone ?? "",
    email: email ?? "",
    language: language ?? "",
    time_zone: time_zone ?? "",
  };
}

export function ownerFacts(draft: OwnerDraft): OwnerFacts {
  const { name, phone, email, language, time_zone } = draft;
  return {
    name: name || null,
    phone: phone || null,
    email: email || null,
    language: language === "en" || language === "tr" ? language : null,
    time_zone: time_zone || null,
  };
}

/** Returns the animal of a draft. A weight may have a decimal comma; one that is not a number is 0, which the server refuses. */
export function typedAnimal(draft: AnimalDraft): TypedAnimal {
  const { name, species, breed, sex, date_of_birth, weight, numbers, knownOwner, newOwner } = draft;
  const kilograms = Number(weight.trim().replace(",", "."));
  return {
    name,
    species,
    breed: breed || null,
    sex: sex || null,
    date_of_birth: date_of_birth || null,
    weight_kg: weight.trim() === "" ? null : Number.isFinite(kilograms) ? kilograms : 0,
    identifiers: [...numbers],
    owner: knownOwner === null ? ownerFacts(newOwner) : { fp: knownOwner.fp },
  };
}
