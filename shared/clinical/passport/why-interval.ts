import { type ReasonOf, reasonOf } from "../../api/reason.ts";
import type { FlaggedPatient, RowSnapshot, Snapshot } from "../../api/study.ts";
import { type ClinicRanges, clinicRangeById } from "../clinic-ranges.ts";
import { ADULT_FROM_DAYS, catalogueVersion, type IntervalFields, publishedRow } from "../reference.ts";
import { type Signalment, signalmentAt } from "../signalment.ts";
import { breedGroupOf, hasBreeds, isBreedGroup } from "../species.ts";

// Why the interval of a result applies. A snapshot names the row that was chosen, and the animal for which. Both are read here, and
// nothing is chosen again.

export type WhyCode =
  | "CLINIC.ROW"
  | "DEVICE.RANGE"
  | "CATALOGUE.ROW"
  | "CATALOGUE.PAD"
  | "CATALOGUE.OTHER"
  | "BREED.OWN"
  | "BREED.GROUP"
  | "BREED.NO_ROW"
  | "BREED.NO_CLINIC_ROW"
  | "BREED.CROSS"
  | "BREED.NO_GROUP"
  | "BREED.UNSTATED"
  | "AGE.YOUNG"
  | "AGE.OWN"
  | "AGE.ADULT"
  | "AGE.UNKNOWN"
  | "AGE.NO_ROW"
  | "AGE.NO_CLINIC_ROW"
  | "SEX.OWN"
  | "SEX.NEUTERED"
  | "SEX.INTACT"
  | "DEVICE.OWN";

export interface WhyContext {
  /** The animal of the flags and what was read of it. Null if the sender named none. */
  readonly animal: FlaggedPatient | null;
  readonly signalment: Signalment | null;
  /** Whether the catalogue of the choice is this one. Another one may have read a breed in another way, or had other rows. */
  readonly isSameCatalogue: boolean;
}

/** Prepares the reasons of a study: reading a breed takes longer than all the rest. */
export function whyContext(snapshot: Pick<Snapshot, "animal" | "catalogue"> | null, acquired_at: string): WhyContext {
  const animal = snapshot?.animal ?? null;
  return {
    animal,
    signalment: animal === null ? null : signalmentAt({ ...animal, breed: animal.breed ?? null }, acquired_at),
    isSameCatalogue: snapshot?.catalogue === catalogueVersion,
  };
}

/** Returns why the interval of a result applies. Empty without one, and for a row that neither the catalogue nor `ranges` has. */
export function whyInterval(
  { interval_id: id, device_species }: Pick<RowSnapshot, "interval_id" | "device_species">,
  ranges: ClinicRanges | undefined,
  context: WhyContext,
): ReasonOf<WhyCode>[] {
  if (id === null) return [];
  if (id === "device") return whyRange("device", device_species);
  const own = ranges && clinicRangeById(ranges, id);
  if (own !== undefined) return whyRow("clinic", own, context);
  const found = publishedRow(id);
  if (found === null) return [];
  return found.row === null
    ? whyRange("pad", context.animal?.species ?? null)
    : whyRow("catalogue", found.row, context);
}

/** Whose row it is. A clinic's general row precedes a published one of the breed or the age. */
type Origin = "clinic" | "catalogue";

/** Returns the reasons for which a row applied: first whose row it is, then what it is for, then what it is not for. */
export function whyRow(of: Origin, row: IntervalFields, context: WhyContext): ReasonOf<WhyCode>[] {
  return [
    of === "clinic" ? reasonOf("CLINIC.ROW") : reasonOf("CATALOGUE.ROW", row.species),
    ...whyBreed(of, row, context),
    ...whyAge(of, row, context),
    ...(row.sex === undefined ? [] : [reasonOf("SEX.OWN" as const, row.sex)]),
    ...(row.neutered === undefined ? [] : [reasonOf(row.neutered ? "SEX.NEUTERED" : "SEX.INTACT")]),
    ...(row.device === undefined ? [] : [reasonOf("DEVICE.OWN" as const, row.device)]),
    ...(context.isSameCatalogue ? [] : [reasonOf("CATALOGUE.OTHER" as const)]),
  ];
}

function whyBreed(of: Origin, { species, subgroup }: IntervalFields, context: WhyContext): ReasonOf<WhyCode>[] {
  const { animal, signalment: found, isSameCatalogue } = context;
  if (subgroup !== undefined) {
    const isOfGroup = isBreedGroup(species, subgroup) && found?.subgroup != null;
    return isOfGroup && breedGroupOf(species, found.subgroup) === subgroup
      ? [reasonOf("BREED.GROUP", subgroup, found.subgroup)]
      : [reasonOf("BREED.OWN", subgroup, species)];
  }
  if (found === null || animal?.breed === undefined || !isSameCatalogue || !hasBreeds(species)) return [];
  if (found.subgroup !== null) {
    return [reasonOf(of === "clinic" ? "BREED.NO_CLINIC_ROW" : "BREED.NO_ROW", found.subgroup, species)];
  }
  if (found.crossOf !== undefined) return [reasonOf("BREED.CROSS", ...found.crossOf)];
  return [animal.breed === null ? reasonOf("BREED.UNSTATED") : reasonOf("BREED.NO_GROUP", animal.breed)];
}

function whyAge(of: Origin, row: IntervalFields, { signalment }: WhyContext): ReasonOf<WhyCode>[] {
  const { age_min_days: from, age_max_days: to, life_stage: stage } = row;
  const days = signalment?.ageDays ?? null;
  const unknown = signalment !== null && days === null ? [reasonOf("AGE.UNKNOWN" as const)] : [];
  if (stage === "adult") return [reasonOf("AGE.ADULT"), ...unknown];
  if (from !== undefined || to !== undefined) return [reasonOf("AGE.OWN", String(from ?? ""), String(to ?? ""))];
  if (stage === "juvenile") return [reasonOf("AGE.YOUNG")];
  if (days === null || days >= ADULT_FROM_DAYS) return unknown;
  return [reasonOf(of === "clinic" ? "AGE.NO_CLINIC_ROW" : "AGE.NO_ROW", String(days))];
}

/** Returns the reason of the range that the device printed, or of the highest normal rank of a urine pad, for a species. */
function whyRange(of: "device" | "pad", species: string | null): ReasonOf<WhyCode>[] {
  return [reasonOf(of === "device" ? "DEVICE.RANGE" : "CATALOGUE.PAD", ...(species === null ? [] : [species]))];
}
