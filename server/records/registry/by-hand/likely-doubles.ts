import { isNearName } from "../../../../shared/clinical/candidates.ts";
import { fold } from "../../../../shared/clinical/species.ts";
import type { DoubleSign, KnownOwner, LikelyDouble, OwnerFacts } from "../../../dashboard/types/animals.ts";
import type { KnownPatient } from "../../patients/clinic-patients.ts";
import { isSamePhone } from "../../patients/patient-search.ts";
import type { ReadAnimal } from "./typed-animal.ts";

// Animals of the clinic that may be the typed one, and owners who may be the typed owner. A person decides; nothing is refused.

const DOUBLES_MAX = 5;
const OWNERS_MAX = 5;
const ANIMALS_SHOWN = 4;

/** Letters of a typed name from which owners are suggested. */
const NAME_CHARS_MIN = 2;

/** Lists the animals that may be this one, those with the same number first. `edited` is the fp of the animal itself. */
export function likelyDoubles(
  animal: ReadAnimal,
  known: readonly KnownPatient[],
  edited: string | null,
): LikelyDouble[] {
  const numbers = new Set(animal.identifiers.map(({ identifier }) => identifier.toUpperCase()));
  const { name: typedName, owner } = animal;
  const folded = { name: fold(typedName), owner: fold(("fp" in owner ? null : owner.name) ?? "") };
  const found = known.flatMap((other): LikelyDouble[] => {
    if (other.fp === edited) return [];
    const number = other.identifiers.find((each) => numbers.has(each.toUpperCase())) ?? null;
    const signs: DoubleSign[] = [
      ...(number === null ? [] : ["number" as const]),
      ...signsOfNames(animal, other, folded),
    ];
    if (signs.length === 0) return [];
    const { fp, name, breed, sex, date_of_birth, owner_name, is_deceased } = other;
    const species = other.precise_species ?? other.species;
    return [{ fp, name, species, breed, sex, date_of_birth, owner_name, is_deceased, signs, number }];
  });
  return found.toSorted((a, b) => weight(b) - weight(a)).slice(0, DOUBLES_MAX);
}

/** A shared number weighs more than all signs of names. */
function weight({ number, signs }: LikelyDouble): number {
  return (number === null ? 0 : 10) + signs.length;
}

function signsOfNames(animal: ReadAnimal, other: KnownPatient, folded: Folded): DoubleSign[] {
  const isSameName = animal.name !== "" && folded.name === other.folded.name;
  const signs: DoubleSign[] = [];
  // The owner first: to compare names that are near takes far longer, and a clinic has thousands.
  if (isSameOwner(animal.owner, other, folded)) {
    if (isSameName) signs.push("nameAndOwner");
    else if (isNearName(animal.name, other.name)) signs.push("nearNameAndOwner");
  }
  const isSameAnimal = (animal.precise_species ?? animal.species) === (other.precise_species ?? other.species);
  const isSameBirth = animal.date_of_birth !== null && animal.date_of_birth === other.date_of_birth;
  if (isSameName && isSameAnimal && isSameBirth) signs.push("nameAndBirth");
  return signs;
}

type Folded = KnownPatient["folded"];

function isSameOwner(owner: ReadAnimal["owner"], other: KnownPatient, folded: Folded): boolean {
  if ("fp" in owner) return owner.fp === other.owner_fp;
  return (owner.name !== null && folded.owner === other.folded.owner) || hasSameAddress(owner, other);
}

function hasSameAddress({ phone, email }: OwnerFacts, other: KnownPatient): boolean {
  if (phone !== null && other.owner_phone !== null && isSamePhone(phone, other.owner_phone)) return true;
  return email !== null && email.toLowerCase() === other.owner_email?.toLowerCase();
}

/** Lists the owners of the clinic's animals with the typed phone, e-mail or beginning of a name. */
export function likelyOwners(owner: ReadAnimal["owner"], known: readonly KnownPatient[]): KnownOwner[] {
  if ("fp" in owner) return [];
  const words = fold(owner.name ?? "")
    .trim()
    .split(" ");
  const hasName = (owner.name ?? "").length >= NAME_CHARS_MIN;
  const found = new Map<string, KnownOwner & { isSure: boolean }>();
  for (const other of known) {
    const isSure = hasSameAddress(owner, other);
    if (!isSure && !(hasName && words.every((word) => other.folded.owner.includes(` ${word}`)))) continue;
    const before = found.get(other.owner_fp);
    if (before === undefined) found.set(other.owner_fp, { ...ownerOf(other), animals: [other.name], isSure });
    else if (before.animals.length < ANIMALS_SHOWN) before.animals.push(other.name);
  }
  const owners = [...found.values()].toSorted((a, b) => Number(b.isSure) - Number(a.isSure)).slice(0, OWNERS_MAX);
  return owners.map(({ isSure: _isSure, ...each }) => each);
}

function ownerOf({ owner_fp, owner_name, owner_phone }: KnownPatient): Omit<KnownOwner, "animals"> {
  return { fp: owner_fp, name: owner_name, phone: owner_phone };
}
