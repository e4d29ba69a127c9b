import { checked } from "../database/checksum.ts";
import { query } from "../database/query.ts";
import { IDENTIFIER, PATIENT } from "./patient-checksum.ts";

// All patients that a clinic sees, for searches over them.

export const patientsOfClinic = checked(
  query((db, p: { clinicId: number }) =>
    db
      .selectFrom("clinic_patient")
      .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
      .innerJoin("customer", "customer.id", "patient.owner_customer_id")
      .selectAll("patient")
      .select("customer.fp as owner_customer_fp")
      .where("clinic_patient.clinic_id", "=", p.clinicId)
      .where("clinic_patient.listed", "=", 1),
  ),
  PATIENT,
);

export const identifiersOfClinic = checked(
  query((db, p: { clinicId: number }) =>
    db
      .selectFrom("clinic_patient")
      .innerJoin("patient_identifier", "patient_identifier.patient_id", "clinic_patient.patient_id")
      .select(["clinic_patient.patient_fp", "patient_identifier.patient_id"])
      .select(["patient_identifier.identifier", "patient_identifier.checksum"])
      .where("clinic_patient.clinic_id", "=", p.clinicId)
      .where("clinic_patient.listed", "=", 1)
      .orderBy("patient_identifier.position"),
  ),
  IDENTIFIER,
);
