import type { ListedPatient } from "../../dashboard/types/patients.ts";
import { query } from "../../database/query.ts";

// All patients that a clinic sees, for searches over them.

/** A patient of a clinic as its lists stay in memory. */
export type KnownPatient = Omit<ListedPatient, "last_study_at"> & {
  id: number;
  owner_fp: string;
  owner_phone: string | null;
  owner_email: string | null;
  /** The text that a search reads. */
  words: string;
  /** The names without case and accents, as `fold` makes them. */
  folded: { readonly name: string; readonly owner: string };
};

export const patientsOfClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .selectAll("patient")
    .select(["customer.fp as owner_customer_fp", "customer.name as owner_name"])
    .select(["customer.phone as owner_phone", "customer.email as owner_email"])
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1),
);

export const languageOfClinic = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select("language").where("clinic_id", "=", p.clinicId),
);

export const identifiersOfClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient_identifier", "patient_identifier.patient_id", "clinic_patient.patient_id")
    .select(["clinic_patient.patient_fp", "patient_identifier.patient_id"])
    .select("patient_identifier.identifier")
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .orderBy("patient_identifier.position"),
);
