import { reconcileSoap } from "../changes/clinic-soap.ts";
import { announcePatient, notePatientRemovals, reconcileStudies } from "../changes/clinic-studies.ts";
import { query, type Session } from "../../database/query.ts";
import { UNSTAMPED } from "../../database/stamps.ts";

// Connections of clinics to patients, for the import and for users. A clinic sees the patients that it is connected to.

/** Opens or closes a connection. `relist` or `stampAndRelist` must follow in the same transaction, unless nothing changed. */
export async function setConnection(
  session: Session,
  {
    clinicId,
    patient,
    active,
  }: { clinicId: number; patient: { id: number; fp: string; species: string }; active: boolean },
): Promise<"new" | "changed" | "unchanged"> {
  const ids = { clinicId, patientId: patient.id };
  const stored = await session.first(connectionBetween, ids);
  if (stored?.active === (active ? 1 : 0)) return "unchanged";
  await session.all(upsertConnection, { ...ids, active: active ? 1 : 0, fp: patient.fp, species: patient.species });
  return stored === undefined ? "new" : "changed";
}

/**
 * Updates the copies of patient columns in its connections. Run it after each change of the patient or a connection. A closed
 * connection keeps its last copies, because that clinic must not learn of later changes. `isNew`: only a first connection changed.
 */
export async function relist(session: Session, patientId: number, now: number, isNew = false): Promise<void> {
  await announcePatient(session, patientId);
  await notePatientRemovals(session, patientId, { now, isNew });
  if (!isNew) await session.all(unstampReturningOrders, { patientId, now });
  await session.all(relistPatient, { patientId, now });
  await reconcileStudies(session, patientId, now);
  await reconcileSoap(session, patientId, now);
}

/** Gives the patient the stamp of this transaction, so that the next sync of its clinics finds it, and relists it. */
export async function stampAndRelist(session: Session, patientId: number, now: number, isNew = false): Promise<void> {
  await session.all(unstampPatient, { patientId, now });
  await relist(session, patientId, now, isNew);
}

// A patient that no clinic lists keeps its time: the end of the transaction finds the patients by their connections.
const unstampPatient = query(
  (db, p: { patientId: number; now: number }) =>
    db
      .updateTable("patient")
      .set((column) => ({ updated_at: column.lit(UNSTAMPED) }))
      .where("id", "=", p.patientId)
      .where((where) =>
        where.exists(
          where
            .selectFrom("clinic_patient")
            .select("clinic_id")
            .where("patient_id", "=", p.patientId)
            .where((open) => open.or([open("active", "=", 1), open("listed", "=", 1)])),
        ),
      ),
  ({ patientId, now }) => ({ patients: [patientId], lists: true, changedAt: now }),
);

// Orders left the clinic's list with the patient, and the next sync finds them again. Run it before the patient is listed.
const unstampReturningOrders = query(
  (db, p: { patientId: number; now: number }) =>
    db
      .updateTable("lab_order")
      .set((column) => ({ changed_at: column.lit(UNSTAMPED) }))
      .where("patient_id", "=", p.patientId)
      .where("clinic_id", "in", (returning) =>
        returning
          .selectFrom("clinic_patient")
          .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
          .select("clinic_patient.clinic_id")
          .where("clinic_patient.patient_id", "=", p.patientId)
          .where("clinic_patient.active", "=", 1)
          .where("clinic_patient.listed", "=", 0)
          .where("patient.deleted_at", "is", null),
      ),
  ({ patientId, now }) => ({ patients: [patientId], changedAt: now, stamps: "orders" }),
);

const connectionBetween = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("clinic_patient")
    .select("active")
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "=", p.patientId),
);

const upsertConnection = query(
  (db, p: { clinicId: number; patientId: number; active: number; fp: string; species: string }) =>
    db
      .insertInto("clinic_patient")
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

const relistPatient = query(
  (db, p: { patientId: number; now: number }) =>
    db
      .updateTable("clinic_patient")
      .from("patient")
      .set((set) => ({
        listed: set
          .case()
          .when(set.and([set("clinic_patient.active", "=", 1), set("patient.deleted_at", "is", null)]))
          // Literals, because PostgreSQL takes a parameter here for text.
          .then(set.lit(1))
          .else(set.lit(0))
          .end(),
        patient_species: set.ref("patient.species"),
        patient_updated_at: set.ref("patient.updated_at"),
      }))
      .whereRef("patient.id", "=", "clinic_patient.patient_id")
      .where("clinic_patient.patient_id", "=", p.patientId)
      // A listed row that is not active was closed just now.
      .where((where) => where.or([where("clinic_patient.active", "=", 1), where("clinic_patient.listed", "=", 1)])),
  ({ patientId, now }) => ({ patients: [patientId], lists: true, changedAt: now }),
);
