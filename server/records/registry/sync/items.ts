import { RemovedSyncPatient, SyncOwner, SyncPatient, type SyncFault } from "./messages.ts";
import { EXTERNAL_ID_CHARS_MAX } from "../../../../shared/api/agent/registry.ts";
import { storedText } from "../../../../shared/runtime/stored-text.ts";
import { type Check, compileLater } from "../../../../shared/schema/compile-later.ts";
import { ruleFaults } from "../../../../shared/schema/problems.ts";
import { readInstant, timestampProblem } from "../../../../shared/schema/timestamp.ts";
import { animalFaults } from "../animal-checks.ts";
import type { Identifier } from "../animals.ts";
import { readMicrochip } from "../microchip.ts";

// Reads the items of practice software, each on its own: an item with a fault stops no other.

/** Max faults of an item that are reported. */
const FAULTS_MAX = 10;

export interface SyncedOwner {
  readonly externalId: string;
  /** Null if a file has the number alone. */
  readonly name: string | null;
  readonly phone: string | null;
  readonly email: string | null;
}

/** The facts of a patient, checked. Species and sex are in the words of the sender. */
export interface SyncedPatient {
  readonly name: string;
  readonly species: string;
  readonly sex: string | null;
  readonly breed: string | null;
  readonly date_of_birth: string | null;
  readonly weight_kg: number | null;
  readonly deceasedAt: number | null;
  readonly identifiers: readonly Identifier[];
  readonly owner: SyncedOwner;
}

export function chipOf({ identifiers }: SyncedPatient): string | null {
  return identifiers.find(({ type }) => type === "microchip")?.identifier ?? null;
}

interface ReadItem {
  readonly externalId: string;
  /** Milliseconds since 1970; null if the item does not say it. */
  readonly updatedAt: number | null;
}

export interface ReadPatient extends ReadItem {
  /** Null for a patient that is removed. */
  readonly patient: SyncedPatient | null;
}

export interface ReadOwner extends ReadItem {
  readonly owner: SyncedOwner;
}

export interface RefusedItem {
  /** Null if the item has no id that is a text. */
  readonly externalId: string | null;
  readonly faults: readonly SyncFault[];
}

const patientItem = compileLater(SyncPatient);
const removedItem = compileLater(RemovedSyncPatient);
const ownerItem = compileLater(SyncOwner);

export function readPatients(items: readonly unknown[], now: number): (ReadPatient | RefusedItem)[] {
  return readEach(items, (item) => readPatientItem(item, now));
}

export function readOwners(items: readonly unknown[], now: number): (ReadOwner | RefusedItem)[] {
  return readEach(items, (item) => readOwnerItem(item, now));
}

/** Reads the items of one request. Items with the same external_id are all refused: each may be the right one. */
export function readEach<Read>(items: readonly unknown[], readItem: (item: unknown) => Read): (Read | RefusedItem)[] {
  const times = new Map<string, number>();
  for (const item of items) {
    const id = externalIdOf(item);
    if (id !== null) times.set(id, (times.get(id) ?? 0) + 1);
  }
  return items.map((item) => {
    const id = externalIdOf(item);
    if (id === null || times.get(id) === 1) return readItem(item);
    const message = "external_id is in this request more than once, expected it once";
    return { externalId: id, faults: [{ field: "external_id", code: "duplicate", message }] };
  });
}

export function externalIdOf(item: unknown): string | null {
  const id = (item as { external_id?: unknown } | null)?.external_id;
  return typeof id === "string" && id.length <= EXTERNAL_ID_CHARS_MAX && storedText(id) === id ? id : null;
}

function readPatientItem(item: unknown, now: number): ReadPatient | RefusedItem {
  const isRemoved = (item as { deleted?: unknown } | null)?.deleted === true;
  const faults = isRemoved ? formFaults(removedItem, item, isOfOwner) : formFaults(patientItem, item, isOfOwner);
  if (faults.length > 0) return { externalId: externalIdOf(item), faults };
  const given = item as SyncPatient | RemovedSyncPatient;
  const noted: SyncFault[] = [];
  const updatedAt = readTime("updated_at", given.updated_at ?? null, now, noted);
  const patient = given.deleted === true ? null : readPatient(given, now, noted);
  const externalId = given.external_id;
  return noted.length > 0 ? { externalId, faults: noted.slice(0, FAULTS_MAX) } : { externalId, updatedAt, patient };
}

function readOwnerItem(item: unknown, now: number): ReadOwner | RefusedItem {
  const faults = formFaults(ownerItem, item, () => true);
  if (faults.length > 0) return { externalId: externalIdOf(item), faults };
  const given = item as SyncOwner;
  const noted: SyncFault[] = [];
  const updatedAt = readTime("updated_at", given.updated_at ?? null, now, noted);
  const owner = readOwner(given, "", noted);
  const externalId = given.external_id;
  return noted.length > 0 ? { externalId, faults: noted } : { externalId, updatedAt, owner };
}

/** Whether a field of a patient is one of its owner. */
const isOfOwner = (field: string): boolean => field.startsWith("owner");

/** Codes of the rules of JSON Schema. */
const CODES: Readonly<Record<string, string>> = {
  required: "missing",
  additionalProperties: "unknown_field",
  type: "wrong_type",
  enum: "not_allowed",
  const: "not_allowed",
  minLength: "too_short",
  maxLength: "too_long",
  maxItems: "too_many",
  pattern: "wrong_form",
};

/**
 * Returns the faults of the form. The values of an owner stay out of the sentences, because answers are kept: `isConcealed` says
 * which fields have them.
 */
export function formFaults(validator: Check, item: unknown, isConcealed: (field: string) => boolean): SyncFault[] {
  const faults = ruleFaults(validator, item, FAULTS_MAX).map(({ path, rule, expected, got }) => {
    const state = rule === "required" ? "missing" : isConcealed(path) ? "invalid" : got;
    return { field: shortened(path), code: CODES[rule] ?? "invalid", message: sentence(path, state, expected) };
  });
  return [...faults, ...textFaults(item, "")].slice(0, FAULTS_MAX);
}

function sentence(field: string, got: string, expected: string): string {
  return `${shortened(field) || "the item"} is ${got}, expected ${expected}`;
}

/** Bounds the name of a field that the sender made up. */
function shortened(field: string): string {
  return field.slice(0, 100);
}

/** Finds text that a database would not give back as it is. */
function textFaults(value: unknown, path: string): SyncFault[] {
  if (typeof value === "string" && storedText(value) !== value) {
    return [
      {
        field: shortened(path),
        code: "bad_text",
        message: sentence(path, "invalid", "text without NUL or half of a pair"),
      },
    ];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => textFaults(inner, path === "" ? name : `${path}/${name}`));
}

export function readTime(field: string, text: string | null, now: number, faults: SyncFault[]): number | null {
  if (text === null) return null;
  const read = readInstant(text.toUpperCase());
  const problem = read === null ? "a time that exists" : timestampProblem(new Date(read).toISOString(), now);
  if (problem === null) return read;
  const code = read === null ? "not_a_time" : "in_the_future";
  faults.push({ field, code, message: `${field} is ${JSON.stringify(text)}, expected ${problem}` });
  return null;
}

function readPatient(item: SyncPatient, now: number, faults: SyncFault[]): SyncedPatient {
  const { owner, sex = null, breed = null, date_of_birth = null, weight_kg = null } = item;
  const facts = { name: item.name.trim(), species: item.species, sex: sex?.trim() || null, date_of_birth, weight_kg };
  faults.push(...animalFaults(facts, now));
  return {
    ...facts,
    breed: breed?.trim() || null,
    deceasedAt: readTime("deceased_at", item.deceased_at ?? null, now, faults),
    identifiers: readIdentifiers(item.identifiers ?? [], faults),
    owner: readOwner(owner, "owner/", faults),
  };
}

function readOwner(given: SyncPatient["owner"], path: string, faults: SyncFault[]): SyncedOwner {
  const name = given.name.trim();
  const field = `${path}name`;
  if (name === "") faults.push({ field, code: "blank", message: sentence(field, "invalid", "a name") });
  return {
    externalId: given.external_id,
    name,
    phone: given.phone?.trim() || null,
    email: given.email?.trim() || null,
  };
}

function readIdentifiers(given: NonNullable<SyncPatient["identifiers"]>, faults: SyncFault[]): Identifier[] {
  const read = new Map<string, Identifier>();
  for (const [index, { type, value }] of given.entries()) {
    const field = `identifiers/${index}/value`;
    const note = (code: string, expected: string) =>
      faults.push({ field, code, message: `${field} is ${JSON.stringify(value)}, expected ${expected}` });
    const chip = type === "microchip" ? readMicrochip(value) : { number: value.trim() };
    if ("code" in chip) note(chip.code, chip.expected);
    else if (chip.number === "") note("blank", "a number");
    else if (!read.has(chip.number)) read.set(chip.number, { identifier: chip.number, type });
  }
  return [...read.values()];
}
