import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { markOutdatedFlags } from "../filing/outdated-flags.ts";
import { relist, stampAndRelist } from "../patients/connections.ts";
import { toPatient } from "../patients/patients.ts";
import { releaseStudies, restoreStudies } from "../unmatched/deleted-patients.ts";

// Stores animals. Every door ends here: the import of a file and practice software.

export type Change = "new" | "changed" | "unchanged";

type PatientRow = Omit<Tables["patient"], "id">;

/** A number of an animal: card, microchip, tattoo. */
export interface Identifier {
  readonly identifier: string;
  /** Undefined for the type that is stored, for a door that does not know it. */
  readonly type?: string | null;
}

/** An animal as a door brings it. */
export interface Animal extends Omit<PatientRow, "created_at" | "updated_at" | "deleted_at" | "deceased_at"> {
  readonly owner_customer_fp: string;
  readonly identifiers: readonly Identifier[];
  /** Undefined for the stored time, and for a new animal the time of the store. */
  readonly created_at?: number | undefined;
  readonly updated_at?: number | undefined;
  /** Undefined for what is stored. */
  readonly deleted_at?: number | null | undefined;
  readonly deceased_at?: number | null | undefined;
}

export interface StoreContext {
  /** Start of the work. */
  readonly now: number;
  readonly clock: () => number;
  /** Clinics whose clients have synchronised, and must find the change; null for every clinic. */
  readonly served: ReadonlySet<number> | null;
}

/** Stores an animal under its fp. Run it in a transaction. @returns its row, and what changed */
export async function storeAnimal(
  session: Session,
  { owner_customer_fp, identifiers, ...animal }: Animal,
  context: StoreContext,
): Promise<{ id: number; change: Change }> {
  const stored = await session.first(patientByFp, { fp: animal.fp });
  const row = rowOf(animal, stored, context.now);
  if (stored === undefined) {
    const inserted = await session.first(insertPatient, row);
    if (inserted === undefined) throw new Error("an insert returned no row");
    await insertIdentifiers(session, inserted.id, identifiers);
    return { id: inserted.id, change: "new" };
  }
  const { id } = stored;
  const storedIds = await session.all(identifiersOf, { patientId: id });
  const isSameIds =
    identifiers.length === storedIds.length &&
    identifiers.every(({ identifier, type }, position) => {
      const before = storedIds[position];
      return identifier === before?.identifier && (type === undefined || type === before.type);
    });
  // A future updated_at alone changes no patient, so that repeating the import has no effect.
  const isFuture = animal.updated_at !== undefined && animal.updated_at > context.now;
  const effective = isFuture ? { ...row, updated_at: stored.updated_at } : row;
  if (isSameIds && isSameContent(stored, effective)) return { id, change: "unchanged" };
  await session.all(updatePatient, { ...row, id });
  if (!isSameIds) {
    const types = new Map(storedIds.map(({ identifier, type }) => [identifier, type]));
    await session.all(deleteIdentifiers, { patientId: id });
    const typed = identifiers.map(({ identifier, type = types.get(identifier) ?? null }) => ({ identifier, type }));
    await insertIdentifiers(session, id, typed);
  }
  await followChange(session, { id, stored, row, owner_customer_fp }, context);
  return { id, change: "changed" };
}

/** Removes an animal, which returns when a door stores it with `deleted_at: null`. Run it in a transaction. */
export async function removeAnimal(session: Session, fp: string, context: StoreContext): Promise<void> {
  const found = await session.first(patientByFp, { fp });
  if (found === undefined || found.deleted_at !== null) return;
  const { id, owner_customer_fp, ...stored } = found;
  const row = { ...stored, deleted_at: context.now };
  await session.all(updatePatient, { ...row, id });
  await followChange(session, { id, stored, row, owner_customer_fp }, context);
}

function rowOf(
  animal: Omit<Animal, "owner_customer_fp" | "identifiers">,
  stored: PatientRow | undefined,
  now: number,
): PatientRow {
  return {
    ...animal,
    created_at: animal.created_at ?? stored?.created_at ?? now,
    // At most the clock's time, because a client that synchronised up to a future time misses earlier changes. At least the
    // stored time, because clients may have synchronised up to a stamp that is newer than this one.
    updated_at: Math.max(
      Math.min(animal.updated_at ?? stored?.updated_at ?? now, now),
      stored?.updated_at ?? Number.MIN_SAFE_INTEGER,
    ),
    // A door without it, like the files of many systems, neither deletes nor restores.
    deleted_at: animal.deleted_at === undefined ? (stored?.deleted_at ?? null) : animal.deleted_at,
    deceased_at: animal.deceased_at === undefined ? (stored?.deceased_at ?? null) : animal.deceased_at,
  };
}

/** The columns that select the intervals of a patient. */
const FLAGGED_BY = ["species", "precise_species", "breed", "sex", "date_of_birth"] as const;

/** Updates what depends on a changed animal: the lists of its clinics, flags, and the studies of a deleted or restored one. */
async function followChange(
  session: Session,
  { id, stored, row, owner_customer_fp }: ChangedAnimal,
  context: StoreContext,
): Promise<void> {
  const patient = toPatient({ ...row, owner_customer_fp });
  if (await isServed(session, id, context)) await stampAndRelist(session, id, context.clock());
  else await relist(session, id, context.now);
  if (FLAGGED_BY.some((fact) => stored[fact] !== row[fact])) await markOutdatedFlags(session, id, patient, context.now);
  if (stored.deleted_at === null && row.deleted_at !== null) await releaseStudies(session, id, context.now);
  if (stored.deleted_at !== null && row.deleted_at === null) {
    await restoreStudies(session, { id, patient }, context.now);
  }
}

interface ChangedAnimal {
  readonly id: number;
  readonly stored: PatientRow;
  readonly row: PatientRow;
  readonly owner_customer_fp: string;
}

/** Whether the patient is connected to a clinic whose clients have synchronised. */
async function isServed(session: Session, patientId: number, { served }: StoreContext): Promise<boolean> {
  if (served === null) return true;
  if (served.size === 0) return false;
  const clinics = await session.all(connectedClinics, { patientId });
  return clinics.some(({ clinic_id }) => served.has(clinic_id));
}

async function insertIdentifiers(session: Session, patientId: number, list: readonly Identifier[]): Promise<void> {
  for (const [position, { identifier, type = null }] of list.entries()) {
    await session.all(insertIdentifier, { patientId, identifier, type, position });
  }
}

function isSameContent(stored: PatientRow, row: PatientRow): boolean {
  const names = Object.keys(row) as (keyof PatientRow)[];
  return names.every((name) => stored[name] === row[name]);
}

export const patientByFp = query((db, p: { fp: string }) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .selectAll("patient")
    .select("customer.fp as owner_customer_fp")
    .where("patient.fp", "=", p.fp),
);

// No clinic sees a patient before it is connected.
const insertPatient = uncachedWrite((db, p: PatientRow) =>
  db.insertInto("patient").values(patientValues(p)).returning("id"),
);

const updatePatient = query(
  (db, p: PatientRow & { id: number }) => db.updateTable("patient").set(patientValues(p)).where("id", "=", p.id),
  ({ id }) => ({ patients: [id], lists: true }),
);

function patientValues(p: PatientRow) {
  return {
    fp: p.fp,
    name: p.name,
    species: p.species,
    precise_species: p.precise_species,
    breed: p.breed,
    sex: p.sex,
    date_of_birth: p.date_of_birth,
    weight_kg: p.weight_kg,
    owner_customer_id: p.owner_customer_id,
    created_at: p.created_at,
    updated_at: p.updated_at,
    deceased_at: p.deceased_at,
    deleted_at: p.deleted_at,
  };
}

const connectedClinics = query((db, p: { patientId: number }) =>
  db.selectFrom("clinic_patient").select("clinic_id").where("patient_id", "=", p.patientId).where("active", "=", 1),
);

export const identifiersOf = query((db, p: { patientId: number }) =>
  db
    .selectFrom("patient_identifier")
    .select(["identifier", "type"])
    .where("patient_id", "=", p.patientId)
    .orderBy("position")
    .orderBy("identifier"),
);

const insertIdentifier = query(
  (db, p: { patientId: number; identifier: string; type: string | null; position: number }) =>
    db.insertInto("patient_identifier").values({
      patient_id: p.patientId,
      identifier: p.identifier,
      type: p.type,
      position: p.position,
    }),
  ({ patientId }) => ({ patients: [patientId] }),
);

const deleteIdentifiers = query(
  (db, p: { patientId: number }) => db.deleteFrom("patient_identifier").where("patient_id", "=", p.patientId),
  ({ patientId }) => ({ patients: [patientId] }),
);
