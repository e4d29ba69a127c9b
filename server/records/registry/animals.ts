import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { markOutdatedFlags } from "../filing/outdated-flags.ts";
import { relist, setConnection, stampAndRelist } from "../patients/connections.ts";
import { toPatient } from "../patients/patients.ts";
import { releaseStudies, restoreStudies } from "../unmatched/deleted-patients.ts";
import { type Image, isRecorded, record, type RecordedKind, type StoreContext, subjectOf } from "./batches.ts";
import { ownerId } from "./owners.ts";

// Stores animals. Every door ends here: the import of a file, practice software, and a user of the dashboard.

export type Change = "new" | "changed" | "unchanged";

type PatientRow = Omit<Tables["patient"], "id">;

/** A number of an animal: card, microchip, tattoo. */
export interface Identifier {
  readonly identifier: string;
  /** Undefined for the type that is stored, for a door that does not know it. */
  readonly type?: string | null;
}

/** An animal as a door brings it. */
export interface Animal
  extends Omit<PatientRow, "created_at" | "updated_at" | "deleted_at" | "deceased_at" | "merged_into_id"> {
  readonly owner_customer_fp: string;
  readonly identifiers: readonly Identifier[];
  /** Undefined for the stored time, and for a new animal the time of the store. */
  readonly created_at?: number | undefined;
  readonly updated_at?: number | undefined;
  /** Undefined for what is stored. */
  readonly deleted_at?: number | null | undefined;
  readonly deceased_at?: number | null | undefined;
  readonly merged_into_id?: number | null | undefined;
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
    const after = imageOf({ ...row, owner_customer_fp }, identifiers);
    await record(session, context.batch, { kind: animals, subject: row.fp, before: null, after });
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
  const types = new Map(storedIds.map(({ identifier, type }) => [identifier, type]));
  const typed = identifiers.map(({ identifier, type = types.get(identifier) ?? null }) => ({ identifier, type }));
  if (!isSameIds) {
    await session.all(deleteIdentifiers, { patientId: id });
    await insertIdentifiers(session, id, typed);
    await noteFormerNumbers(session, { patientId: id, before: storedIds, after: typed, at: context.clock() });
  }
  const [before, after] = [imageOf(stored, storedIds), imageOf({ ...row, owner_customer_fp }, typed)];
  await record(session, context.batch, { kind: animals, subject: row.fp, before, after, change: kindOf(stored, row) });
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
  const before = imageOf(found, await session.all(identifiersOf, { patientId: id }));
  const after = { ...before, deleted_at: context.now };
  await record(session, context.batch, { kind: animals, subject: fp, before, after, change: "removed" });
  await followChange(session, { id, stored, row, owner_customer_fp }, context);
}

/**
 * Opens or closes the connection of a clinic to an animal, and brings what depends on it up to date. Run it in a transaction.
 * `species` is the word that the API serves.
 */
export async function connectAnimal(
  session: Session,
  {
    clinicId,
    patient,
    active,
  }: { clinicId: number; patient: { id: number; fp: string; species: string }; active: boolean },
  context: StoreContext,
): Promise<Change> {
  const change = await setConnection(session, { clinicId, patient, active });
  if (change === "unchanged") return change;
  const isNew = change === "new";
  const isStamped = context.served === null || context.served.has(clinicId);
  await (isStamped ? stampAndRelist : relist)(session, patient.id, context.clock(), isNew);
  const subject = subjectOf(clinicId, patient.fp);
  const before = isNew ? null : { active: !active };
  await record(session, context.batch, { kind: animalConnections, subject, before, after: { active } });
  return change;
}

/** Whether another clinic is connected to an animal. */
export async function isOfOthers(session: Session, fp: string, clinicId: number): Promise<boolean> {
  const stored = await session.first(patientByFp, { fp });
  if (stored === undefined) return false;
  return (await session.all(connectedClinics, { patientId: stored.id })).some(
    ({ clinic_id }) => clinic_id !== clinicId,
  );
}

/** Animals with their numbers. The time of the last change is not part of the state: clients must learn of a restored one too. */
export const animals: RecordedKind = {
  name: "animal",
  async read(session, fp) {
    const stored = await session.first(patientByFp, { fp });
    if (stored === undefined) return null;
    return imageOf(stored, await session.all(identifiersOf, { patientId: stored.id }));
  },
  async restore(session, fp, image, context) {
    if (image !== null) {
      const animal = image as unknown as AnimalImage;
      const owner_customer_id = await ownerId(session, animal.owner_customer_fp);
      await storeAnimal(session, { ...animal, fp, owner_customer_id }, context);
      return;
    }
    const stored = await session.first(patientByFp, { fp });
    if (stored === undefined) return;
    await session.all(deleteIdentifiers, { patientId: stored.id });
    await session.all(deleteFormerNumbers, { patientId: stored.id });
    await session.all(deletePatient, { id: stored.id });
  },
  async isInUse(session, fp, batchId) {
    const stored = await session.first(patientByFp, { fp });
    if (stored === undefined) return false;
    const { id } = stored;
    if ((await session.first(dependentOf, { id })) !== undefined) return true;
    for (const { clinic_id } of await session.all(connectionsOf, { patientId: id })) {
      if (!(await isRecorded(session, batchId, "connection", subjectOf(clinic_id, fp)))) return true;
    }
    for (const { clinic_id, source, external_id } of await session.all(namesOf, { patientId: id })) {
      const subject = subjectOf(clinic_id, source, external_id);
      if (!(await isRecorded(session, batchId, "animal name", subject))) return true;
    }
    return false;
  },
};

/** Connections of clinics to animals, each by the id of the clinic and the fp of the animal. */
export const animalConnections: RecordedKind = {
  name: "connection",
  async read(session, subject) {
    const found = await session.first(connectionOf, endsOf(subject));
    return found === undefined ? null : { active: found.active === 1 };
  },
  async restore(session, subject, image, context) {
    const { clinicId, fp } = endsOf(subject);
    const patient = await session.first(patientByFp, { fp });
    if (patient === undefined) return;
    if (image !== null) {
      await connectAnimal(session, { clinicId, patient, active: image["active"] === true }, context);
      return;
    }
    // The row goes, and the end of the transaction stamps patients by their rows.
    await setConnection(session, { clinicId, patient, active: false });
    await relist(session, patient.id, context.clock());
    await session.all(deleteConnection, { clinicId, patientId: patient.id, now: context.clock() });
  },
};

function endsOf(subject: string): { clinicId: number; fp: string } {
  const [clinicId, fp] = JSON.parse(subject) as [number, string];
  return { clinicId, fp };
}

/** The state of an animal as batches have it. */
export type AnimalImage = Omit<Animal, "fp" | "owner_customer_id" | "updated_at">;

function imageOf(row: PatientRow & { readonly owner_customer_fp: string }, identifiers: readonly Identifier[]): Image {
  return {
    name: row.name,
    species: row.species,
    precise_species: row.precise_species,
    breed: row.breed,
    sex: row.sex,
    date_of_birth: row.date_of_birth,
    weight_kg: row.weight_kg,
    owner_customer_fp: row.owner_customer_fp,
    created_at: row.created_at,
    deceased_at: row.deceased_at,
    deleted_at: row.deleted_at,
    merged_into_id: row.merged_into_id,
    identifiers: identifiers.map(({ identifier, type = null }) => ({ identifier, type })),
  };
}

function kindOf(stored: PatientRow, row: PatientRow): "changed" | "removed" {
  return stored.deleted_at === null && row.deleted_at !== null ? "removed" : "changed";
}

function rowOf(
  animal: Omit<Animal, "owner_customer_fp" | "identifiers">,
  stored: PatientRow | undefined,
  now: number,
): PatientRow {
  const deleted_at = animal.deleted_at === undefined ? (stored?.deleted_at ?? null) : animal.deleted_at;
  // A merged animal is deleted: one that comes back is an animal of its own.
  const merged_into_id = deleted_at === null ? null : (stored?.merged_into_id ?? null);
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
    deleted_at,
    deceased_at: animal.deceased_at === undefined ? (stored?.deceased_at ?? null) : animal.deceased_at,
    merged_into_id: animal.merged_into_id === undefined ? merged_into_id : animal.merged_into_id,
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

/** Notes the numbers that an animal lost, and forgets those that it has again. */
async function noteFormerNumbers(
  session: Session,
  {
    patientId,
    before,
    after,
    at,
  }: {
    readonly patientId: number;
    readonly before: readonly Identifier[];
    readonly after: readonly Identifier[];
    readonly at: number;
  },
): Promise<void> {
  const [had, has] = [before, after].map((list) => new Set(list.map(({ identifier }) => identifier)));
  for (const identifier of had ?? []) {
    if (has?.has(identifier) === false) await session.all(noteFormerNumber, { patientId, identifier, at });
  }
  for (const identifier of has ?? []) {
    if (had?.has(identifier) === false) await session.all(forgetFormerNumber, { patientId, identifier });
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
    merged_into_id: p.merged_into_id,
  };
}

const connectedClinics = query((db, p: { patientId: number }) =>
  db.selectFrom("clinic_patient").select("clinic_id").where("patient_id", "=", p.patientId).where("active", "=", 1),
);

// The rows that refer to it are gone, and its clinics were notified with them.
const deletePatient = uncachedWrite((db, p: { id: number }) => db.deleteFrom("patient").where("id", "=", p.id));

const deleteConnection = query(
  (db, p: { clinicId: number; patientId: number; now: number }) =>
    db.deleteFrom("clinic_patient").where("clinic_id", "=", p.clinicId).where("patient_id", "=", p.patientId),
  ({ clinicId, now }) => ({ clinics: [clinicId], lists: true, changedAt: now }),
);

const connectionOf = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("clinic_patient")
    .select("active")
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "=", (patient) => patient.selectFrom("patient").select("id").where("fp", "=", p.fp)),
);

const connectionsOf = query((db, p: { patientId: number }) =>
  db.selectFrom("clinic_patient").select("clinic_id").where("patient_id", "=", p.patientId),
);

const namesOf = query((db, p: { patientId: number }) =>
  db.selectFrom("patient_source").select(["clinic_id", "source", "external_id"]).where("patient_id", "=", p.patientId),
);

/** A record that refers to the animal, apart from connections and names. */
const dependentOf = query((db, p: { id: number }) =>
  db
    .selectFrom("study")
    .select("patient_id as id")
    .where("patient_id", "=", p.id)
    .unionAll(db.selectFrom("soap").select("patient_id as id").where("patient_id", "=", p.id))
    .unionAll(db.selectFrom("calendar_event").select("patient_id as id").where("patient_id", "=", p.id))
    .unionAll(db.selectFrom("lab_order").select("patient_id as id").where("patient_id", "=", p.id))
    .unionAll(db.selectFrom("stock_movement").select("patient_id as id").where("patient_id", "=", p.id))
    .unionAll(db.selectFrom("connection_change").select("patient_id as id").where("patient_id", "=", p.id))
    .unionAll(db.selectFrom("connection_host").select("patient_id as id").where("patient_id", "=", p.id))
    .unionAll(db.selectFrom("patient").select("merged_into_id as id").where("merged_into_id", "=", p.id))
    .limit(1),
);

/** The numbers of an animal, in their order. */
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

// Agents and clients do not read former numbers, so no version changes.
const noteFormerNumber = uncachedWrite((db, p: { patientId: number; identifier: string; at: number }) =>
  db
    .insertInto("former_number")
    .values({ patient_id: p.patientId, identifier: p.identifier, left_at: p.at })
    .onConflict((conflict) => conflict.columns(["identifier", "patient_id"]).doUpdateSet({ left_at: p.at })),
);

const forgetFormerNumber = uncachedWrite((db, p: { patientId: number; identifier: string }) =>
  db.deleteFrom("former_number").where("patient_id", "=", p.patientId).where("identifier", "=", p.identifier),
);

const deleteFormerNumbers = uncachedWrite((db, p: { patientId: number }) =>
  db.deleteFrom("former_number").where("patient_id", "=", p.patientId),
);

const deleteIdentifiers = query(
  (db, p: { patientId: number }) => db.deleteFrom("patient_identifier").where("patient_id", "=", p.patientId),
  ({ patientId }) => ({ patients: [patientId] }),
);
