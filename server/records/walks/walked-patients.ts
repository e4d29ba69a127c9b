import { query, type Session } from "../../database/query.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import { toPatient } from "../patients/patients.ts";
import type { Bounds } from "./walked-studies.ts";

// The patients that a clinic lists, the first changed first.

export interface WalkedPatient {
  readonly id: number;
  readonly patient: Patient;
}

interface PatientKey {
  readonly updatedAt: number;
  readonly fp: string;
}

/** The place before all patients. */
export const FIRST_PATIENT: PatientKey = { updatedAt: Number.MIN_SAFE_INTEGER, fp: "" };

interface PatientWalk {
  readonly clinicId: number;
  readonly changed: Bounds;
  readonly after: PatientKey;
  readonly limit: number;
}

/** Lists the patients after a place, at most one more than `limit`, which shows whether another page follows. */
export async function walkPatients(
  session: Session,
  { clinicId, changed, after, limit }: PatientWalk,
): Promise<WalkedPatient[]> {
  const parameters = { clinicId, ...changed, ...after, limit: limit + 1 };
  const rows = await session.all(page, parameters);
  return rows.map((row) => ({ id: row.id, patient: toPatient(row) }));
}

/** The number of a patient in the practice software of a clinic. */
interface PatientName {
  readonly source: string;
  readonly externalId: string;
}

/** Lists the numbers that the practice software of the clinic has for a patient. */
export async function listClinicNames(session: Session, clinicId: number, patientId: number): Promise<PatientName[]> {
  return session.all(names, { clinicId, patientId });
}

/** Finds the listed patients that the practice software of the clinic knows under a number. */
export async function findNumbered(
  session: Session,
  clinicId: number,
  externalId: string,
): Promise<{ readonly fp: string; readonly source: string }[]> {
  return session.all(numbered, { clinicId, externalId });
}

const page = query((db, p: PatientKey & Bounds & { clinicId: number; limit: number }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .selectAll("patient")
    .select("customer.fp as owner_customer_fp")
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .where("clinic_patient.patient_updated_at", ">=", p.from)
    .where("clinic_patient.patient_updated_at", "<", p.before)
    .where((where) =>
      where(
        where.refTuple("clinic_patient.patient_updated_at", "clinic_patient.patient_fp"),
        ">",
        where.tuple(p.updatedAt, p.fp),
      ),
    )
    .orderBy("clinic_patient.patient_updated_at")
    .orderBy("clinic_patient.patient_fp")
    .limit(p.limit),
);

const names = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("patient_source")
    .select(["source", "external_id as externalId"])
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "=", p.patientId)
    .where("removed", "=", 0)
    .where("merged_into", "is", null)
    .orderBy("source")
    .orderBy("external_id"),
);

const numbered = query((db, p: { clinicId: number; externalId: string }) =>
  db
    .selectFrom("patient_source")
    .innerJoin("patient", "patient.id", "patient_source.patient_id")
    .select(["patient.fp", "patient_source.source"])
    .where("patient_source.clinic_id", "=", p.clinicId)
    .where("patient_source.external_id", "=", p.externalId)
    .where("patient_source.removed", "=", 0)
    .where("patient_source.merged_into", "is", null),
);
