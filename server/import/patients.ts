import { query, type Session, uncachedWrite } from "../database/query.ts";
import { relist, setConnection, stampAndRelist } from "../records/patients/connections.ts";
import { survivorOf } from "../records/patients/patients.ts";
import { storedWords } from "../records/registry/animal-checks.ts";
import { type Change, patientByFp, storeAnimal } from "../records/registry/animals.ts";
import { ownerId } from "../records/registry/owners.ts";
import { namePatient } from "../records/registry/sources.ts";
import { clinicByFp } from "./clinics.ts";
import { type ImportContext, missing } from "./context.ts";
import type { ConnectionLine, PatientLine, PatientSourceLine } from "./lines.ts";

// Stores patients and their connections to clinics.

/** @returns the highest id of a patient; 0 if there is none */
export async function lastPatientId(session: Session): Promise<number> {
  return (await session.first(highestId, {}))?.id ?? 0;
}

export async function storePatient(session: Session, line: PatientLine, context: ImportContext): Promise<Change> {
  const { fp, name, breed, date_of_birth, weight_kg, owner_customer_fp, deleted_at, deceased_at } = line;
  const numbers = line.identifiers ?? (line.external_ids ?? []).map((value) => ({ value }));
  const identifiers = new Map(numbers.map(({ value, ...type }) => [value, { identifier: value, ...type }]));
  const { change } = await storeAnimal(
    session,
    {
      ...{ fp, name, breed, date_of_birth, weight_kg, owner_customer_fp, ...storedWords(line) },
      identifiers: [...identifiers.values()],
      owner_customer_id: await ownerId(session, owner_customer_fp),
      created_at: Date.parse(line.created_at),
      updated_at: Date.parse(line.updated_at),
      deleted_at: typeof deleted_at === "string" ? Date.parse(deleted_at) : deleted_at,
      deceased_at: typeof deceased_at === "string" ? Date.parse(deceased_at) : deceased_at,
    },
    { ...context, batch: null },
  );
  return change;
}

/** Notes into which patient another was merged. Call it after all patients of the import are stored. */
export async function storeMerge(
  session: Session,
  { fp, merged_into }: PatientLine,
): Promise<{ problem: string } | null> {
  if (merged_into === undefined) return null;
  const survivor = await session.first(patientByFp, { fp: merged_into });
  if (survivor === undefined) return missing("merged_into", merged_into);
  await session.all(setMerged, { fp, survivorId: survivor.id });
  return null;
}

/** Checks a merged patient. Call it after all of them are noted. */
export async function checkMerge(
  session: Session,
  { fp, merged_into }: PatientLine,
): Promise<{ problem: string } | null> {
  if (merged_into === undefined) return null;
  const last = await session.first(patientByFp, { fp: await survivorOf(session, fp) });
  return last?.merged_into_id == null ? null : { problem: `merged_into is ${merged_into}, which leads back to itself` };
}

/** Stores the name of a patient in practice software. */
export async function storePatientSource(
  session: Session,
  line: PatientSourceLine,
): Promise<Change | { problem: string }> {
  const { clinic_fp, source, external_id, patient_fp, updated_at, removed, merged_into = null } = line;
  const clinic = await session.first(clinicByFp, { fp: clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", clinic_fp);
  const patient = patient_fp === null ? null : await session.first(patientByFp, { fp: patient_fp });
  if (patient === undefined) return missing("patient_fp", patient_fp);
  const updatedAt = updated_at === null ? null : Date.parse(updated_at);
  const name = { clinicId: clinic.id, source, externalId: external_id, mergedInto: merged_into };
  return namePatient(session, { ...name, patientId: patient?.id ?? null, updatedAt, removed }, { batch: null });
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

const highestId = query((db) => db.selectFrom("patient").select("id").orderBy("id", "desc").limit(1));

// Responses show only that the merged patient is deleted.
const setMerged = uncachedWrite((db, p: { fp: string; survivorId: number }) =>
  db.updateTable("patient").set({ merged_into_id: p.survivorId }).where("fp", "=", p.fp),
);
