import { query, type Session } from "../database/query.ts";
import { relist, setConnection, stampAndRelist } from "../records/patients/connections.ts";
import { storedWords } from "../records/registry/animal-checks.ts";
import { patientByFp, storeAnimal } from "../records/registry/animals.ts";
import { ownerId } from "../records/registry/owners.ts";
import { clinicByFp } from "./clinics.ts";
import { type Change, type ImportContext, missing } from "./context.ts";
import type { ConnectionLine, PatientLine } from "./lines.ts";

// Stores patients and their connections to clinics.

/** @returns the highest id of a patient; 0 if there is none */
export async function lastPatientId(session: Session): Promise<number> {
  return (await session.first(highestId, {}))?.id ?? 0;
}

export async function storePatient(session: Session, line: PatientLine, context: ImportContext): Promise<Change> {
  const { fp, name, breed, date_of_birth, weight_kg, owner_customer_fp, deleted_at } = line;
  const { change } = await storeAnimal(
    session,
    {
      ...{ fp, name, breed, date_of_birth, weight_kg, owner_customer_fp, ...storedWords(line) },
      identifiers: [...new Set(line.external_ids)].map((identifier) => ({ identifier })),
      owner_customer_id: await ownerId(session, owner_customer_fp),
      created_at: Date.parse(line.created_at),
      updated_at: Date.parse(line.updated_at),
      deleted_at: typeof deleted_at === "string" ? Date.parse(deleted_at) : deleted_at,
    },
    { ...context, batch: null },
  );
  return change;
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
