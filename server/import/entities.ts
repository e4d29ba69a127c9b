import { patientSex } from "../../shared/clinical/sex.ts";
import { apiSpecies } from "../../shared/clinical/species.ts";
import type {
  CalendarEventLine,
  ClinicLine,
  ConnectionLine,
  CustomerLine,
  Entity,
  InventoryBatchLine,
  InventoryItemLine,
  PatientLine,
  SoapLine,
  StudyLine,
  UserLine,
} from "./lines.ts";
import { importEvent } from "../store/calendar.ts";
import { noInvalidation, query, type Session } from "../store/query.ts";
import type { Tables } from "../store/schema.ts";
import { amendmentProblem, importSoap } from "../store/soap.ts";
import { importBatch, importItem } from "../store/stock.ts";
import { importStudy } from "../store/studies.ts";

// Writes the entities of an import: each is new, changed, or says what is stored already.

export type Change = "new" | "changed" | "unchanged";

/** State that an import carries from entity to entity. */
export interface Import {
  readonly now: number;
  /** Clinics whose clients have synchronised: to them each change gets the time at which they can see it. */
  readonly served: ReadonlySet<number>;
  /** Patients that this import made. Connecting them to a clinic that was never served keeps the file's times. */
  readonly newPatients: Set<number>;
  /** The clinic whose SOAP records this import may give to another clinic; null: no record changes its owner. */
  readonly recordOwnerId: number | null;
  /** Patients that `stampPatients` will give the time of the import's end. */
  readonly stamped: Set<number>;
}

/** Stores one entity, by its fp; a problem when it refers to what does not exist. To be run in a transaction. */
export async function storeEntity(
  session: Session,
  entity: Entity,
  current: Import,
): Promise<Change | { problem: string }> {
  switch (entity.type) {
    case "clinic":
      return storeClinic(session, entity);
    case "user":
      return storeUser(session, entity);
    case "customer":
      return storeCustomer(session, entity);
    case "patient":
      return storePatient(session, entity, current);
    case "connection":
      return storeConnection(session, entity, current);
    case "study":
      return storeStudy(session, entity, current);
    case "soap":
      return storeSoap(session, entity, current);
    case "calendar_event":
      return storeEvent(session, entity);
    case "inventory_item":
      return storeItem(session, entity);
    case "inventory_batch":
      return storeBatch(session, entity);
  }
}

const STAMPED_AT_ONCE = 1000;

/**
 * Sets updated_at of the stamped patients to `now`, never back, and brings their connections up to date. To be run as the
 * last act of an import. The stamps of a clinic's patients rise in the order of the commits: where two imports overlap, the
 * clinic's version makes one of them run again.
 */
export async function stampPatients(
  session: Session,
  { stamped }: Pick<Import, "stamped">,
  now: number,
): Promise<void> {
  let patients: { patientId: number; now: number }[] = [];
  async function stamp(): Promise<void> {
    await session.each(stampPatient, patients);
    await session.each(relist, patients);
    patients = [];
  }
  for (const patientId of stamped) {
    patients.push({ patientId, now });
    if (patients.length === STAMPED_AT_ONCE) await stamp();
  }
  await stamp();
}

/** Checks an amendment after all records of the import are stored. @returns the problem; null for any other entity */
export async function checkAmendment(session: Session, entity: Entity): Promise<{ problem: string } | null> {
  if (entity.type !== "soap" || !entity.amends_fp) return null;
  const problem = await amendmentProblem(session, entity.fp, entity.amends_fp);
  return problem === null ? null : { problem };
}

async function storeClinic(session: Session, { fp, name }: ClinicLine): Promise<Change> {
  const stored = await session.first(clinicByFp, { fp });
  if (stored?.name === name) return "unchanged";
  await session.all(upsertClinic, { fp, name });
  return stored === undefined ? "new" : "changed";
}

async function storeUser(session: Session, { fp, name, clinic_fp }: UserLine): Promise<Change | { problem: string }> {
  const clinic = await session.first(clinicByFp, { fp: clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", clinic_fp);
  const stored = await session.first(userByFp, { fp });
  if (stored?.name === name && stored.clinic_id === clinic.id) return "unchanged";
  await session.all(upsertUser, { fp, name, clinicId: clinic.id });
  return stored === undefined ? "new" : "changed";
}

async function storeCustomer(session: Session, { fp, locale }: CustomerLine): Promise<Change> {
  const stored = await session.first(customerByFp, { fp });
  if (stored?.time_zone === locale.time_zone) return "unchanged";
  await session.all(upsertCustomer, { fp, timeZone: locale.time_zone });
  return stored === undefined ? "new" : "changed";
}

async function storePatient(session: Session, line: PatientLine, current: Import): Promise<Change> {
  const stored = await session.first(patientByFp, { fp: line.fp });
  const storedIds = stored ? await session.all(identifiersOf, { patientId: stored.id }) : [];
  const identifiers = [...new Set(line.external_ids)];
  const updatedAt = Date.parse(line.updated_at);
  const row: PatientRow = {
    fp: line.fp,
    name: line.name,
    // The check of the line has refused words that name no species or sex.
    species: apiSpecies(line.species) ?? line.species,
    breed: line.breed,
    sex: line.sex === null ? null : (patientSex(line.sex) ?? line.sex),
    date_of_birth: line.date_of_birth,
    weight_kg: line.weight_kg,
    owner_customer_id: await ownerId(session, line.owner_customer_fp),
    created_at: Date.parse(line.created_at),
    // Never ahead: a client that synchronised up to a future time misses the changes until then. Never back: a stamp may
    // have moved it since this very line was stored, and clients have synchronised up to it.
    updated_at: Math.max(Math.min(updatedAt, current.now), stored?.updated_at ?? Number.MIN_SAFE_INTEGER),
    deleted_at: line.deleted_at ? Date.parse(line.deleted_at) : null,
  };

  if (stored === undefined) {
    const inserted = await session.first(insertPatient, row);
    if (inserted === undefined) throw new Error("an insert returned no row");
    current.newPatients.add(inserted.id);
    await insertIdentifiers(session, inserted.id, identifiers);
    return "new";
  }

  const sameIds = identifiers.join("\n") === storedIds.map(({ identifier }) => identifier).join("\n");
  // A time that has not come yet says nothing: by itself it changes no patient each time the file is imported.
  const told = updatedAt > current.now ? { ...row, updated_at: stored.updated_at } : row;
  if (sameIds && sameContent(stored, told)) return "unchanged";
  await session.all(updatePatient, { ...row, id: stored.id });
  if (!sameIds) {
    await session.all(deleteIdentifiers, { patientId: stored.id });
    await insertIdentifiers(session, stored.id, identifiers);
  }
  if (await isServed(session, stored.id, current)) current.stamped.add(stored.id);
  await relistNow(session, stored.id, current);
  return "changed";
}

/** Whether the patient is connected to a clinic that has been served. */
async function isServed(session: Session, patientId: number, { served }: Import): Promise<boolean> {
  if (served.size === 0) return false;
  const clinics = await session.all(connectedClinics, { patientId });
  return clinics.some(({ clinic_id }) => served.has(clinic_id));
}

/** Brings a patient's connections up to date, unless its stamp will. */
async function relistNow(session: Session, patientId: number, { stamped }: Import): Promise<void> {
  if (!stamped.has(patientId)) await session.all(relist, { patientId });
}

async function insertIdentifiers(session: Session, patientId: number, identifiers: readonly string[]): Promise<void> {
  for (const [position, identifier] of identifiers.entries()) {
    await session.all(insertIdentifier, { patientId, identifier, position });
  }
}

function sameContent(stored: PatientRow, row: PatientRow): boolean {
  const names = Object.keys(row) as (keyof PatientRow)[];
  return names.every((name) => stored[name] === row[name]);
}

// A customer is known to us by little more than the fp: one that the file names but never describes stands for itself.
async function ownerId(session: Session, fp: string): Promise<number> {
  const stored = (await session.first(customerByFp, { fp })) ?? (await session.first(insertCustomer, { fp }));
  if (stored === undefined) throw new Error("an insert returned no row");
  return stored.id;
}

async function storeConnection(
  session: Session,
  line: ConnectionLine,
  current: Import,
): Promise<Change | { problem: string }> {
  const clinic = await session.first(clinicByFp, { fp: line.clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", line.clinic_fp);
  const patient = await session.first(patientByFp, { fp: line.patient_fp });
  if (patient === undefined) return missing("patient_fp", line.patient_fp);

  const ids = { clinicId: clinic.id, patientId: patient.id };
  const stored = await session.first(connectionBetween, ids);
  const active = line.active ? 1 : 0;
  if (stored?.active === active) return "unchanged";
  await session.all(upsertConnection, { ...ids, active, fp: patient.fp, species: patient.species });
  // So that the clinic finds the patient in its next updated_since run, or that it has left. One that never came leaves none.
  const isNews = !current.newPatients.has(patient.id) || current.served.has(clinic.id);
  if (isNews && (line.active || stored !== undefined)) current.stamped.add(patient.id);
  await relistNow(session, patient.id, current);
  return stored === undefined ? "new" : "changed";
}

async function storeStudy(
  session: Session,
  { type: _type, ...study }: StudyLine,
  { now }: Import,
): Promise<Change | { problem: string }> {
  const patient = await session.first(patientByFp, { fp: study.patient_fp });
  if (patient === undefined) return missing("patient_fp", study.patient_fp);
  return importStudy(session, study, patient.id, now);
}

async function storeSoap(
  session: Session,
  { type: _type, amends_fp = null, ...soap }: SoapLine,
  { recordOwnerId }: Import,
): Promise<Change | { problem: string }> {
  const patient = await session.first(patientByFp, { fp: soap.patient_fp });
  if (patient === undefined) return missing("patient_fp", soap.patient_fp);
  const clinic = await session.first(clinicByFp, { fp: soap.performed_by_clinic_fp });
  if (clinic === undefined) return missing("performed_by_clinic_fp", soap.performed_by_clinic_fp);
  return importSoap(session, { ...soap, amends_fp }, { patientId: patient.id, clinicId: clinic.id, recordOwnerId });
}

async function storeEvent(
  session: Session,
  { event_type, clinic_fp, ...line }: CalendarEventLine,
): Promise<Change | { problem: string }> {
  const { patient_fp, assigned_user_fp } = line;
  const clinic = await session.first(clinicByFp, { fp: clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", clinic_fp);
  const patient = patient_fp === null ? null : await session.first(patientByFp, { fp: patient_fp });
  if (patient === undefined) return missing("patient_fp", patient_fp);
  const user = assigned_user_fp === null ? null : await session.first(userByFp, { fp: assigned_user_fp });
  if (user === undefined) return missing("assigned_user_fp", assigned_user_fp);
  const ids = { clinicId: clinic.id, patientId: patient?.id ?? null, userId: user?.id ?? null };
  return importEvent(session, { ...line, type: event_type }, ids);
}

async function storeItem(
  session: Session,
  { type: _type, clinic_fp, ...item }: InventoryItemLine,
): Promise<Change | { problem: string }> {
  const clinic = await session.first(clinicByFp, { fp: clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", clinic_fp);
  return importItem(session, item, clinic.id);
}

async function storeBatch(
  session: Session,
  { item_fp, lot, quantity, received_at, expiry_date }: InventoryBatchLine,
): Promise<Change | { problem: string }> {
  const batch = { lot, quantity, received_at: Date.parse(received_at), expiry_date };
  return (await importBatch(session, item_fp, batch)) ?? missing("item_fp", item_fp);
}

function missing(field: string, fp: string | null): { problem: string } {
  return { problem: `${field} is ${fp}, which is neither in the file nor in the database` };
}

type PatientRow = Omit<Tables["patient"], "id">;

const clinicByFp = query((db, p: { fp: string }) =>
  db.selectFrom("clinic").select(["id", "name"]).where("fp", "=", p.fp),
);

// Responses show only the fp of clinics, users and customers, which never changes.
const upsertClinic = query(
  (db, p: { fp: string; name: string }) =>
    db
      .insertInto("clinic")
      .values({ fp: p.fp, name: p.name })
      .onConflict((conflict) => conflict.column("fp").doUpdateSet({ name: p.name })),
  noInvalidation,
);

const userByFp = query((db, p: { fp: string }) =>
  db.selectFrom("user").select(["id", "name", "clinic_id"]).where("fp", "=", p.fp),
);

const upsertUser = query(
  (db, p: { fp: string; name: string; clinicId: number }) =>
    db
      .insertInto("user")
      .values({ fp: p.fp, name: p.name, clinic_id: p.clinicId })
      .onConflict((conflict) => conflict.column("fp").doUpdateSet({ name: p.name, clinic_id: p.clinicId })),
  noInvalidation,
);

const customerByFp = query((db, p: { fp: string }) =>
  db.selectFrom("customer").select(["id", "time_zone"]).where("fp", "=", p.fp),
);

// A line beside this one may have made the customer since it was looked for.
const insertCustomer = query(
  (db, p: { fp: string }) =>
    db
      .insertInto("customer")
      .values({ fp: p.fp })
      .onConflict((conflict) => conflict.column("fp").doUpdateSet({ fp: p.fp }))
      .returning("id"),
  noInvalidation,
);

const upsertCustomer = query(
  (db, p: { fp: string; timeZone: string }) =>
    db
      .insertInto("customer")
      .values({ fp: p.fp, time_zone: p.timeZone })
      .onConflict((conflict) => conflict.column("fp").doUpdateSet({ time_zone: p.timeZone })),
  noInvalidation,
);

const patientByFp = query((db, p: { fp: string }) => db.selectFrom("patient").selectAll().where("fp", "=", p.fp));

// Nobody sees a patient before it is connected.
const insertPatient = query(
  (db, p: PatientRow) => db.insertInto("patient").values(patientValues(p)).returning("id"),
  noInvalidation,
);

const updatePatient = query(
  (db, p: PatientRow & { id: number }) => db.updateTable("patient").set(patientValues(p)).where("id", "=", p.id),
  ({ id }) => ({ patients: [id], lists: true }),
);

function patientValues(p: PatientRow): PatientRow {
  return {
    fp: p.fp,
    name: p.name,
    species: p.species,
    breed: p.breed,
    sex: p.sex,
    date_of_birth: p.date_of_birth,
    weight_kg: p.weight_kg,
    owner_customer_id: p.owner_customer_id,
    created_at: p.created_at,
    updated_at: p.updated_at,
    deleted_at: p.deleted_at,
  };
}

const stampPatient = query(
  (db, p: { patientId: number; now: number }) =>
    db.updateTable("patient").set({ updated_at: p.now }).where("id", "=", p.patientId).where("updated_at", "<", p.now),
  ({ patientId }) => ({ patients: [patientId], lists: true }),
);

const connectedClinics = query((db, p: { patientId: number }) =>
  db.selectFrom("connection").select("clinic_id").where("patient_id", "=", p.patientId).where("active", "=", 1),
);

const identifiersOf = query((db, p: { patientId: number }) =>
  db
    .selectFrom("patient_identifier")
    .select("identifier")
    .where("patient_id", "=", p.patientId)
    .orderBy("position")
    .orderBy("identifier"),
);

const insertIdentifier = query(
  (db, p: { patientId: number; identifier: string; position: number }) =>
    db
      .insertInto("patient_identifier")
      .values({ patient_id: p.patientId, identifier: p.identifier, position: p.position }),
  ({ patientId }) => ({ patients: [patientId] }),
);

const deleteIdentifiers = query(
  (db, p: { patientId: number }) => db.deleteFrom("patient_identifier").where("patient_id", "=", p.patientId),
  ({ patientId }) => ({ patients: [patientId] }),
);

const connectionBetween = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("connection")
    .select("active")
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "=", p.patientId),
);

const upsertConnection = query(
  (db, p: { clinicId: number; patientId: number; active: number; fp: string; species: string }) =>
    db
      .insertInto("connection")
      .values({
        clinic_id: p.clinicId,
        patient_id: p.patientId,
        active: p.active,
        patient_fp: p.fp,
        patient_species: p.species,
        // `relist` follows and sets both.
        listed: 1,
        patient_updated_at: 0,
      })
      .onConflict((conflict) => conflict.columns(["clinic_id", "patient_id"]).doUpdateSet({ active: p.active })),
  ({ clinicId }) => ({ clinics: [clinicId], lists: true }),
);

/**
 * Brings what the connections of a patient copy from it up to date; to be run after each change of either. A closed
 * connection keeps what it had when it was closed: what changes afterwards is none of that clinic's business.
 */
const relist = query(
  (db, p: { patientId: number }) =>
    db
      .updateTable("connection")
      .from("patient")
      .set((set) => ({
        listed: set
          .case()
          .when(set.and([set("connection.active", "=", 1), set("patient.deleted_at", "is", null)]))
          // Literals: PostgreSQL takes a parameter here for text.
          .then(set.lit(1))
          .else(set.lit(0))
          .end(),
        patient_species: set.ref("patient.species"),
        patient_updated_at: set.ref("patient.updated_at"),
      }))
      .whereRef("patient.id", "=", "connection.patient_id")
      .where("connection.patient_id", "=", p.patientId)
      // Listed and no longer active: closed just now.
      .where((where) => where.or([where("connection.active", "=", 1), where("connection.listed", "=", 1)])),
  ({ patientId }) => ({ patients: [patientId], lists: true }),
);
