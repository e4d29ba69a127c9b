import { fold } from "../../../shared/clinical/species.ts";
import type { FileLine, LineFault, LineOutcome } from "../../dashboard/types/file-import.ts";
import { query, type Session } from "../../database/query.ts";
import { storedWords } from "../../records/registry/animal-checks.ts";
import type { Batch } from "../../records/registry/batches.ts";
import { identifiersOf, patientByFp } from "../../records/registry/animals.ts";
import { isSamePhone } from "../../records/patients/patient-search.ts";
import { animalsWithChip } from "../../records/registry/same-chip.ts";
import { findNamedOwner, namePatient, ownNameOf, type SourceName } from "../../records/registry/sources.ts";
import {
  chipOf,
  type ReadOwner,
  type ReadPatient,
  type RefusedItem,
  type SyncedOwner,
  type SyncedPatient,
} from "../../records/registry/sync/items.ts";
import { syncOwners } from "../../records/registry/sync/owners.ts";
import { syncPatients } from "../../records/registry/sync/patients.ts";
import type { SyncRequest } from "../../records/registry/sync/request.ts";
import type { FileItem } from "./rows.ts";
import { storeStock } from "./store-stock.ts";

// Stores the lines of a file as items of practice software are stored. A file has what its columns have: an empty cell keeps what
// is stored, and an animal that the file lacks stays.

export interface StoredLine extends FileLine {
  readonly outcome: LineOutcome;
}

/** The facts that are stored with the lines of a file. */
export type FileRequest = Omit<SyncRequest<unknown>, "items" | "batch" | "full"> & { readonly batch: Batch | null };

/** Stores lines. Run it in a transaction. @returns what becomes of each, in order */
export async function storeItems(
  session: Session,
  items: readonly FileItem[],
  request: FileRequest,
): Promise<StoredLine[]> {
  const prepared = [];
  for (const item of items) prepared.push(await prepare(session, item, request));
  const animals = prepared.flatMap(({ animal }) => animal ?? []);
  const owners = prepared.flatMap(({ owner }) => owner ?? []);
  const stored = [
    ...(await syncPatients(session, { ...request, items: animals, full: null, isMatchedByChip: true })).items,
    ...(await syncOwners(session, { ...request, items: owners, full: null })).items,
  ].values();
  const stocked = new Map<FileItem, Omit<StoredLine, "line" | "name">>();
  for (const item of items) if (item.stock !== null) stocked.set(item, await storeStock(session, item.stock, request));
  return prepared.map(({ item, animal, owner, changes, faults }) => {
    const { line, name, faults: found } = item;
    const ofStock = stocked.get(item);
    if (ofStock !== undefined) return { line, name, ...ofStock };
    if (found.length + faults.length > 0)
      return { line, name, changes: [], faults: [...found, ...faults], outcome: "refused" };
    const outcome =
      animal === null && owner === null ? "unchanged" : OUTCOMES[stored.next().value?.outcome ?? "unchanged"];
    return { line, name, changes: outcome === "changed" ? changes : [], faults: [], outcome };
  });
}

const OUTCOMES = {
  created: "new",
  updated: "changed",
  unchanged: "unchanged",
  deleted: "changed",
  rejected: "refused",
} as const;

interface Prepared {
  readonly item: FileItem;
  readonly animal: (ReadPatient | RefusedItem) | null;
  readonly owner: (ReadOwner | RefusedItem) | null;
  readonly changes: readonly string[];
  readonly faults: readonly LineFault[];
}

async function prepare(session: Session, item: FileItem, request: FileRequest): Promise<Prepared> {
  const none = { item, animal: null, owner: null, changes: [], faults: [] };
  const otherOwner = { ...none, faults: [{ field: "owner_id", code: "owner_taken", value: "" }] } as const;
  if (item.owner !== null) {
    const stored = await storedOwner(session, item.owner.owner, request);
    if (isOtherOwner(item.owner.owner, stored)) return otherOwner;
    return { ...none, owner: { ...item.owner, owner: ownerWith(item.owner.owner, stored) } };
  }
  const patient = item.animal?.patient;
  if (item.animal === null || patient === null || patient === undefined) return none;
  const name = { clinicId: request.clinicId, source: request.source, externalId: item.animal.externalId };
  const found = await findStored(session, name, patient, request.batch);
  if (found === "chip_taken") {
    const value = chipOf(patient) ?? "";
    return { ...none, faults: [{ field: "microchip", code: "chip_taken", value }] };
  }
  const other = found === null || found.isByChip ? null : await otherAnimal(session, found.fp, patient);
  if (other !== null) return { ...none, faults: [{ field: "id", code: "number_taken", value: other }] };
  const known = await storedOwner(session, patient.owner, request);
  if (isOtherOwner(patient.owner, known)) return otherOwner;
  const owner = ownerWith(patient.owner, known);
  if (found === null) {
    const deceasedAt = patient.deceasedAt ?? (item.isDeceased ? request.now : null);
    return { ...none, animal: { ...item.animal, patient: { ...patient, owner, deceasedAt } } };
  }
  const filled = await withStored(session, found.fp, { ...patient, owner }, item.isDeceased ? request.now : null);
  return { ...none, animal: { ...item.animal, patient: filled.patient }, changes: filled.changes };
}

/**
 * Finds the stored animal of a line: by its key, else by its microchip among the clinic's animals, whose key it is from now on.
 * @returns null for a new one; `chip_taken` if another animal has the chip
 */
async function findStored(
  session: Session,
  name: SourceName,
  patient: SyncedPatient,
  batch: Batch | null,
): Promise<{ fp: string; isByChip: boolean } | null | "chip_taken"> {
  const { before: named } = await ownNameOf(session, name);
  const chip = chipOf(patient);
  const withChip = chip === null ? [] : await animalsWithChip(session, name.clinicId, chip);
  if (named?.fp != null) {
    const isByChip = withChip.some(({ fp }) => fp === named.fp);
    return withChip.length === 0 || isByChip ? { fp: named.fp, isByChip } : "chip_taken";
  }
  const [same, ...others] = withChip;
  if (same === undefined) return null;
  if (others.length > 0 || same.species !== storedWords(patient).species) return "chip_taken";
  await namePatient(session, { ...name, patientId: same.id, updatedAt: null, removed: false }, { batch });
  return { fp: same.fp, isByChip: true };
}

/**
 * Compares a line with the animal of its number: the list of another practice has the same numbers. An animal may get another name, and a
 * fact may be corrected, but not both at the same time. @returns the name of the stored animal if it is another one, else null
 */
async function otherAnimal(session: Session, fp: string, patient: SyncedPatient): Promise<string | null> {
  const stored = await session.first(patientByFp, { fp });
  if (stored === undefined || fold(stored.name) === fold(patient.name)) return null;
  const owner = await session.first(ownerById, { id: stored.owner_customer_id });
  const isOther =
    stored.species !== storedWords(patient).species ||
    isOtherText(stored.date_of_birth, patient.date_of_birth) ||
    isOtherText(owner?.name ?? null, patient.owner.name);
  return isOther ? stored.name : null;
}

/** Whether both are known and differ. */
function isOtherText(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && fold(one) !== fold(other);
}

/** Completes a line by what is stored. @returns also the fields that the line changes */
async function withStored(
  session: Session,
  fp: string,
  patient: SyncedPatient,
  deceasedAt: number | null,
): Promise<{ patient: SyncedPatient; changes: string[] }> {
  const stored = await session.first(patientByFp, { fp });
  if (stored === undefined) return { patient, changes: [] };
  const before = await session.all(identifiersOf, { patientId: stored.id });
  const types = new Set(patient.identifiers.map(({ type }) => type));
  // The line has the number of each of its types; a number of another type, or of an unknown one, stays.
  const isKept = ({ identifier, type }: (typeof before)[number]) =>
    type === null || !types.has(type) || patient.identifiers.some((own) => own.identifier === identifier);
  const kept = before.filter(isKept);
  const added = patient.identifiers.filter(({ identifier }) => kept.every((one) => one.identifier !== identifier));
  const whole: SyncedPatient = {
    ...patient,
    sex: patient.sex === null || patient.sex === "unknown" ? (stored.sex ?? patient.sex) : patient.sex,
    breed: patient.breed ?? stored.breed,
    date_of_birth: patient.date_of_birth ?? stored.date_of_birth,
    weight_kg: patient.weight_kg ?? stored.weight_kg,
    deceasedAt: patient.deceasedAt ?? stored.deceased_at ?? deceasedAt,
    identifiers: [...kept, ...added],
  };
  const words = storedWords(whole);
  const facts = { ...whole, ...words, deceased_at: whole.deceasedAt };
  const compared = [
    "name",
    "species",
    "precise_species",
    "breed",
    "sex",
    "date_of_birth",
    "weight_kg",
    "deceased_at",
  ] as const;
  const changes: string[] = compared.filter((field) => facts[field] !== stored[field]);
  if (added.length > 0 || kept.length < before.length) changes.push("identifiers");
  return { patient: whole, changes: changes.length === 0 ? ["owner"] : changes };
}

type OwnerContact = Pick<SyncedOwner, "name" | "phone" | "email">;

/** Finds the owner that is stored under the number of a line's owner. */
async function storedOwner(
  session: Session,
  { externalId }: SyncedOwner,
  { clinicId, source }: FileRequest,
): Promise<OwnerContact | undefined> {
  const named = await findNamedOwner(session, { clinicId, source, externalId });
  return named && (await session.first(ownerById, { id: named.customer_id }));
}

/** Whether a number has come to another person: the name differs, and so does each contact that both have, at least one. */
function isOtherOwner({ name, phone, email }: OwnerContact, stored: OwnerContact | undefined): boolean {
  if (stored?.name == null || name === null || fold(stored.name) === fold(name)) return false;
  const same: boolean[] = [];
  if (phone !== null && stored.phone !== null) same.push(isSamePhone(phone, stored.phone));
  if (email !== null && stored.email !== null) same.push(email.toLowerCase() === stored.email.toLowerCase());
  return same.length > 0 && !same.includes(true);
}

/** Completes an owner by what is stored under its number. */
function ownerWith(owner: SyncedOwner, stored: OwnerContact | undefined): SyncedOwner {
  const { name = null, phone = null, email = null } = stored ?? {};
  return { ...owner, name: owner.name ?? name, phone: owner.phone ?? phone, email: owner.email ?? email };
}

const ownerById = query((db, p: { id: number }) =>
  db.selectFrom("customer").select(["name", "phone", "email"]).where("id", "=", p.id),
);
