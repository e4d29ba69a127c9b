import { IANAZone } from "luxon";
import type { FieldFault, OwnerFacts, TypedAnimal } from "../../../dashboard/types/animals.ts";
import { animalFaults, storedWords } from "../animal-checks.ts";
import type { Identifier } from "../animals.ts";
import { readMicrochip } from "../microchip.ts";

// Reads an animal that a user typed, by the checks of every door.

/** An animal without faults, as it is stored. */
export interface ReadAnimal extends ReturnType<typeof storedWords> {
  readonly name: string;
  readonly breed: string | null;
  readonly date_of_birth: string | null;
  readonly weight_kg: number | null;
  readonly identifiers: readonly Identifier[];
  readonly owner: { readonly fp: string } | OwnerFacts;
}

interface Reading {
  readonly animal: ReadAnimal;
  /** They refuse the animal. */
  readonly faults: readonly FieldFault[];
  readonly warnings: readonly FieldFault[];
}

/** Lengths of the numbers of microchips: ISO 11784, AVID and FDX-A. */
const CHIP_LENGTHS: readonly number[] = [15, 9, 10];

export function readTypedAnimal(typed: TypedAnimal, now: number): Reading {
  const name = typed.name.trim();
  const faults: FieldFault[] = animalFaults({ ...typed, name }, now).map(({ field, code }) => ({ field, code }));
  const warnings: FieldFault[] = [];
  const identifiers = new Map<string, Identifier>();
  for (const [index, { type, value }] of typed.identifiers.entries()) {
    if (value.trim() === "") continue;
    const field = `identifiers/${index}`;
    const read = type === "microchip" ? readMicrochip(value) : { number: value.trim() };
    if ("code" in read) {
      faults.push({ field, code: read.code });
      continue;
    }
    if (type === "microchip" && !CHIP_LENGTHS.includes(read.number.length)) warnings.push({ field, code: "unusual" });
    if (!identifiers.has(read.number)) identifiers.set(read.number, { identifier: read.number, type });
  }
  const owner = "fp" in typed.owner ? typed.owner : readOwner(typed.owner);
  if (!("fp" in owner)) faults.push(...ownerFaults(owner));
  const { date_of_birth, weight_kg } = typed;
  const facts = { name, breed: trimmed(typed.breed), date_of_birth, weight_kg, ...storedWords(typed) };
  return { animal: { ...facts, identifiers: [...identifiers.values()], owner }, faults, warnings };
}

/** Removes the blanks around the facts of an owner; a blank one is unknown. */
export function readOwner({ name, phone, email, language, time_zone }: OwnerFacts): OwnerFacts {
  return { name: trimmed(name), phone: trimmed(phone), email: trimmed(email), language, time_zone };
}

function trimmed(text: string | null): string | null {
  return text?.trim() || null;
}

/** @returns the faults of the facts of an owner, without the facts: they stay out of every message */
export function ownerFaults({ name, phone, email, time_zone }: OwnerFacts): FieldFault[] {
  const faults: FieldFault[] = [];
  if (name === null && (phone !== null || email !== null)) faults.push({ field: "owner/name", code: "blank" });
  if (phone !== null && !/\d{3}/.test(phone.replaceAll(/\D/g, ""))) {
    faults.push({ field: "owner/phone", code: "wrong_form" });
  }
  if (email !== null && !/^[^\s@]+@[^\s@]+$/.test(email)) faults.push({ field: "owner/email", code: "wrong_form" });
  if (time_zone !== null && !IANAZone.isValidZone(time_zone))
    faults.push({ field: "owner/time_zone", code: "unknown_zone" });
  return faults;
}
