import { query } from "../../database/query.ts";

// All patients that a clinic sees, for searches over them.

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
