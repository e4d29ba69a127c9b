import { checked } from "../database/checksum.ts";
import { query } from "../database/query.ts";
import { PATIENT, PATIENT_CONTENT } from "../patients/patient-checksum.ts";

// The patients that a clinic sees, for searches over all of them.

export const patientsOfClinic = checked(
  query((db, p: { clinicId: number }) =>
    db
      .selectFrom("clinic_patient")
      .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
      .innerJoin("customer", "customer.id", "patient.owner_customer_id")
      .select("patient.id")
      .select(PATIENT_CONTENT)
      .select("customer.fp as owner_customer_fp")
      .where("clinic_patient.clinic_id", "=", p.clinicId)
      .where("clinic_patient.listed", "=", 1),
  ),
  PATIENT,
);

export const identifiersOfClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient_identifier", "patient_identifier.patient_id", "clinic_patient.patient_id")
    .select(["patient_identifier.patient_id", "patient_identifier.identifier"])
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .orderBy("patient_identifier.position"),
);
