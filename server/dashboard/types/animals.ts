import type { Language } from "../../../shared/api/language.ts";

// Animals and owners that a user writes.

export const NUMBER_TYPES = ["microchip", "card", "tattoo", "other"] as const;
export type NumberType = (typeof NUMBER_TYPES)[number];

/** The sexes that a user can choose. */
export const SEXES = ["male", "male_neutered", "female", "female_spayed", "unknown"] as const;

/** Bounds of the texts, in characters. */
export const TEXT_MAX = { name: 200, breed: 200, number: 64, phone: 40, email: 254 } as const;

/** Max numbers of an animal. */
export const NUMBERS_MAX = 100;

export interface TypedNumber {
  /** Null if the door brought the number without it. */
  type: NumberType | null;
  value: string;
}

/** Facts about an owner for people of the clinic. The read API shows none of them. */
export interface OwnerFacts {
  /** Null if it is unknown. */
  name: string | null;
  phone: string | null;
  email: string | null;
  /** Language of reports; null for the clinic's. */
  language: Language | null;
  /** IANA name; null for the clinic's. */
  time_zone: string | null;
}

export interface ShownOwner extends OwnerFacts {
  fp: string;
  /** Identifies the facts. An edit names the version that the user saw. */
  version: string;
}

/** An animal as the form has it. */
export interface TypedAnimal {
  name: string;
  /** A word for the animal itself; empty before one is chosen. */
  species: string;
  breed: string | null;
  sex: string | null;
  date_of_birth: string | null;
  weight_kg: number | null;
  identifiers: TypedNumber[];
  /** An owner whom the clinic knows, or a new one. */
  owner: { fp: string } | OwnerFacts;
}

/** A study to file to the new animal, as the user saw it. */
export interface WaitingResult {
  fp: string;
  revision: number;
}

/** The body of `POST patients`, and with `version` that of `PUT patients/<fp>`. */
export interface AnimalBody {
  animal: TypedAnimal;
  /** Fps of the animals that the user saw to be alike. */
  seen: string[];
}

export interface NewAnimalBody extends AnimalBody {
  result?: WaitingResult;
}

export interface EditAnimalBody extends AnimalBody {
  version: string;
}

/** The response to a write about an animal or an owner. */
export interface Written {
  /** Fp of its batch, with which it is undone for 24 hours; null if nothing changed. */
  batch: string | null;
}

/** The response to both. */
export interface SavedAnimal extends Written {
  fp: string;
  /** The revision of the study that was filed; null without one. */
  revision: number | null;
}

/** The response to `GET patients/<fp>/edit`. */
export interface EditedAnimal {
  animal: TypedAnimal;
  version: string;
  owner: KnownOwner;
  is_shared: boolean;
  /** Names of practice software that sends the animal, and overwrites what a user writes. */
  sources: string[];
}

/** The body of `POST patients/check`. */
export interface CheckBody {
  animal: TypedAnimal;
  /** The fp of the animal that is edited; null for a new one. */
  edited: string | null;
}

/** A value that is refused, or one to look at twice. The field is one of the body, such as `identifiers/0` or `owner/email`. */
export interface FieldFault {
  field: string;
  code: string;
}

/** Why two animals may be one. */
export type DoubleSign = "number" | "nameAndOwner" | "nearNameAndOwner" | "nameAndBirth";

export interface LikelyDouble {
  fp: string;
  name: string;
  species: string;
  breed: string | null;
  sex: string | null;
  date_of_birth: string | null;
  owner_name: string | null;
  is_deceased: boolean;
  signs: DoubleSign[];
  /** The number that both have; null without one. */
  number: string | null;
}

/** An owner of animals that the clinic sees. */
export interface KnownOwner {
  fp: string;
  name: string | null;
  phone: string | null;
  /** Names of some of the animals. */
  animals: string[];
}

/** The response to `POST patients/check`. */
export interface AnimalCheck {
  /** They refuse the animal. */
  faults: FieldFault[];
  warnings: FieldFault[];
  doubles: LikelyDouble[];
  /** Known owners who may be the typed one. */
  owners: KnownOwner[];
}

/** The body of `PUT patients/<fp>/deceased`. */
export interface DeceasedBody {
  /** The day in the clinic's time zone; null if the animal lives. */
  died_on: string | null;
}

/** The response to `GET patients/removed`, the last removed first. */
export interface RemovedAnimals {
  animals: { fp: string; name: string; species: string; owner_name: string | null; removed_at: string }[];
}

/** The body of `PUT owners/<fp>`. */
export interface EditOwnerBody extends OwnerFacts {
  version: string;
}

/** A change of an animal by a user within 24 hours, or a merge of another animal into it. */
export interface RecentChange {
  batch: string;
  what: "added" | "changed" | "deceased" | "removed" | "restored" | "owner" | "merged";
  /** Name of the animal that was merged. */
  merged: string | null;
  at: string;
  /** The user; null for practice software. */
  by: string | null;
}

/** One of two animals that may be one. */
export interface ComparedAnimal extends Pick<EditedAnimal, "animal" | "owner" | "is_shared" | "sources"> {
  fp: string;
  is_deceased: boolean;
  /** The records that go with it. */
  counts: { studies: number; soap_records: number; events: number; orders: number };
}

/** The response to `GET patients/<fp>/merge/<fp>`. */
export interface MergeComparison {
  /** The animal of the path, then the other one. */
  animals: [ComparedAnimal, ComparedAnimal];
  is_other_species: boolean;
  /** Identifies what the user saw of both. */
  version: string;
}

/** The body of `POST patients/<fp>/merge`. The animal of the path stays. */
export interface MergeBody {
  merged: string;
  version: string;
}

/** The response to `GET patients/<fp>/doubles`. */
export interface LikelyDoubles {
  /** Name of the animal of the path. */
  name: string;
  doubles: LikelyDouble[];
}

/** The kinds of what is erased, in the order of a report. */
export const ERASED_KINDS = [
  "facts",
  "softwareNames",
  "reportLinks",
  "undo",
  "files",
  "answers",
  "hints",
  "messages",
] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];

/** The response to `GET owners/<fp>/erasure`: what an admin sees before. */
export interface ErasurePlan {
  name: string | null;
  /** Identifies the facts that the admin saw. */
  version: string;
  /** Animals and studies that stay. */
  animals: number;
  studies: number;
  /** Other clinics that see an animal of the owner, or name the owner in their practice software. */
  other_clinics: number;
  /** Texts that people wrote about the animals and that have the name, a phone or the e-mail. They stay. */
  mentions: number;
  /** The oldest backup that the server knows; null if it knows of none. */
  oldest_backup: string | null;
}

/** The response to `POST owners/<fp>/erase`. It has no data of the owner. */
export interface ErasureReport extends Omit<ErasurePlan, "name" | "version"> {
  owner: string;
  clinic: string;
  at: string;
  erased: Record<ErasedKind, number>;
}
