import { patientSex } from "../../shared/clinical/sex.ts";
import { apiSpecies } from "../../shared/clinical/species.ts";
import { query, type Session, uncachedWrite } from "../database/query.ts";
import type { Tables } from "../database/schema.ts";
import { relist, setConnection, stampAndRelist } from "../records/patients/connections.ts";
import { toPatient } from "../records/patients/patients.ts";
import { releaseStudies, restoreStudies } from "../records/unmatched/deleted-patients.ts";
import { markOutdatedFlags } from "../records/filing/outdated-flags.ts";
import { clinicByFp, customerByFp } from "./clinics.ts";
import { type Change, type ImportContext, missing } from "./context.ts";
import type { ConnectionLine, PatientLine } from "./lines.ts";

// Stores patients and their connections to clinics.

/** @returns the highest id of a patient; 0 if there is none */
export async function lastPatientId(session: Session): Promise<number> {
  return (await session.first(highestId, {}))?.id ?? 0;
}

export async function storePatient(session: Session, line: PatientLine, context: ImportContext): Promise<Change> {
  const stored = await session.first(patientByFp, { fp: line.fp });
  const storedIds = stored ? await session.all(identifiersOf, { patientId: stored.id }) : [];
  const identifiers = [...new Set(line.external_ids)];
  const updatedAt = Date.parse(line.updated_at);
  const row: PatientRow = {
    fp: line.fp,
    name: line.name,
    // The check of the line refused unknown words for species and sex.
    species: apiSpecies(line.species) ?? line.species,
    breed: line.breed,
    sex: line.sex === null ? null : (patientSex(line.sex) ?? line.sex),
    date_of_birth: line.date_of_birth,
    weight_kg: line.weight_kg,
    owner_customer_id: await ownerId(session, line.owner_customer_fp),
    created_at: Date.parse(line.created_at),
    // At most the clock's time, because a client that synchronised up to a future time misses earlier changes. At least the
    // stored time, because clients may have synchronised up to a stamp that is newer than this line.
    updated_at: Math.max(Math.min(updatedAt, context.now), stored?.updated_at ?? Number.MIN_SAFE_INTEGER),
    // A line without it, as many systems write them, neither deletes nor restores.
    deleted_at: line.deleted_at === undefined ? (stored?.deleted_at ?? null) : msOrNull(line.deleted_at),
  };

  if (stored === undefined) {
    const inserted = await session.first(insertPatient, row);
    if (inserted === undefined) throw new Error("an insert returned no row");
    await insertIdentifiers(session, inserted.id, identifiers);
    return "new";
  }

  const sameIds = identifiers.join("\n") === storedIds.map(({ identifier }) => identifier).join("\n");
  // A future updated_at alone changes no patient, so that repeating the import has no effect.
  const effective = updatedAt > context.now ? { ...row, updated_at: stored.updated_at } : row;
  if (sameIds && sameContent(stored, effective)) return "unchanged";
  await session.all(updatePatient, { ...row, id: stored.id });
  if (!sameIds) {
    await session.all(deleteIdentifiers, { patientId: stored.id });
    await insertIdentifiers(session, stored.id, identifiers);
  }
  const patient = toPatient({ ...row, owner_customer_fp: line.owner_customer_fp });
  if (await isServed(session, stored.id, context)) await stampAndRelist(session, stored.id, context.clock());
  else await relist(session, stored.id, context.now);
  if (FLAGGED_BY.some((fact) => stored[fact] !== row[fact])) {
    await markOutdatedFlags(session, stored.id, patient, context.now);
  }
  if (stored.deleted_at === null && row.deleted_at !== null) await releaseStudies(session, stored.id, context.now);
  if (stored.deleted_at !== null && row.deleted_at === null) {
    await restoreStudies(session, { id: stored.id, patient }, context.now);
  }
  return "changed";
}

/** The columns that select the intervals of a patient. */
const FLAGGED_BY = ["species", "breed", "sex", "date_of_birth"] as const;

/** Whether the patient is connected to a clinic whose clients have synchronised. */
async function isServed(session: Session, patientId: number, { served }: ImportContext): Promise<boolean> {
  if (served.size === 0) return false;
  const clinics = await session.all(connectedClinics, { patientId });
  return clinics.some(({ clinic_id }) => served.has(clinic_id));
}

function msOrNull(timestamp: string | null): number | null {
  return timestamp === null ? null : Date.parse(timestamp);
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

// Creates a customer that the file names but does not describe.
async function ownerId(session: Session, fp: string): Promise<number> {
  const stored = (await session.first(customerByFp, { fp })) ?? (await session.first(insertCustomer, { fp }));
  if (stored === undefined) throw new Error("an insert returned no row");
  return stored.id;
}

export async function storeConnection(
  session: Session,
  line: ConnectionLine,
  context: ImportContext,
): Promise<Change | { problem: string }> {
  const clinic = await session.first(clinicByFp, { fp: line.clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", line.clinic_fp);
  const patient = await session.first(patientByFp, { fp: line.patient_fp });
  if (patient === undefined) return missing("patient_fp", line.patient_fp);

  const change = await setConnection(session, { clinicId: clinic.id, patient, active: line.active });
  if (change === "unchanged") return change;
  // The stamp makes the clinic's next sync find the new or removed patient. A connection that was never active needs none.
  const isNews = patient.id <= context.lastPatientId || context.served.has(clinic.id);
  const isNew = change === "new";
  if (isNews && (line.active || !isNew)) await stampAndRelist(session, patient.id, context.clock(), isNew);
  else await relist(session, patient.id, context.now, isNew);
  return change;
}

type PatientRow = Omit<Tables["patient"], "id">;

// A concurrent line may have created the customer in the meantime.
const insertCustomer = uncachedWrite((db, p: { fp: string }) =>
  db
    .insertInto("customer")
    .values({ fp: p.fp })
    .onConflict((conflict) => conflict.column("fp").doUpdateSet({ fp: p.fp }))
    .returning("id"),
);

export const patientByFp = query((db, p: { fp: string }) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .selectAll("patient")
    .select("customer.fp as owner_customer_fp")
    .where("patient.fp", "=", p.fp),
);

const highestId = query((db) => db.selectFrom("patient").select("id").orderBy("id", "desc").limit(1));

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

const connectedClinics = query((db, p: { patientId: number }) =>
  db.selectFrom("clinic_patient").select("clinic_id").where("patient_id", "=", p.patientId).where("active", "=", 1),
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
    db.insertInto("patient_identifier").values({
      patient_id: p.patientId,
      identifier: p.identifier,
      position: p.position,
    }),
  ({ patientId }) => ({ patients: [patientId] }),
);

const deleteIdentifiers = query(
  (db, p: { patientId: number }) => db.deleteFrom("patient_identifier").where("patient_id", "=", p.patientId),
  ({ patientId }) => ({ patients: [patientId] }),
);
