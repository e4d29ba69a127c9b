import type { PatientHint } from "../../../../shared/api/study.ts";
import { patientSex } from "../../../../shared/clinical/sex.ts";
import { animalSpecies } from "../../../../shared/clinical/species.ts";
import { TEXT_MAX, type TypedAnimal } from "../../../dashboard/types/animals.ts";
import { readTypedAnimal } from "./typed-animal.ts";

/** Digits of a microchip (ISO 11784). Staff type shorter numbers of their own. */
const CHIP = /^\d{15}$/;

/** Returns what a device sent about the animal of a study, as a form to complete. What it cannot be is left out. */
export function animalFromHint(hint: PatientHint | null, now: number): TypedAnimal {
  const read = animalSpecies(hint?.species ?? "");
  const number = hint?.identifier?.trim().slice(0, TEXT_MAX.number) ?? "";
  const owner = hint?.owner?.trim().slice(0, TEXT_MAX.name) || null;
  const animal: TypedAnimal = {
    name: hint?.name?.trim().slice(0, TEXT_MAX.name) ?? "",
    species: read?.precise ?? read?.served ?? "",
    breed: hint?.breed?.trim().slice(0, TEXT_MAX.breed) || null,
    sex: patientSex(hint?.sex ?? ""),
    date_of_birth: hint?.date_of_birth ?? null,
    weight_kg: hint?.weight_kg ?? null,
    identifiers: number === "" ? [] : [{ type: CHIP.test(number) ? "microchip" : "card", value: number }],
    owner: { name: owner, phone: null, email: null, language: null, time_zone: null },
  };
  const faulty = new Set(readTypedAnimal(animal, now).faults.map(({ field }) => field));
  return {
    ...animal,
    date_of_birth: faulty.has("date_of_birth") ? null : animal.date_of_birth,
    weight_kg: faulty.has("weight_kg") ? null : animal.weight_kg,
  };
}
