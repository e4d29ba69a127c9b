import { type Query, query, type Session, uncachedWrite } from "../../database/query.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import { listing, removals } from "./clinic-removals.ts";

// `clinic_soap` has a row for each SOAP record that a clinic reads, like `clinic_study` for studies.

/** Updates the clinics' rows of a record, also if it moved to another patient. Call it after the write. */
export async function announceSoap(
  session: Session,
  { fp, patientId, previousPatientId, now }: SoapChange,
): Promise<void> {
  if (previousPatientId !== null && previousPatientId !== patientId) await reconcileSoap(session, patientId, now);
  await session.all(stampSoap, { fp, now });
}

interface SoapChange {
  readonly fp: string;
  readonly patientId: number;
  /** Null for a new record. */
  readonly previousPatientId: number | null;
  readonly now: number;
}

/** Adds the records of a patient to the clinics that list it now, and removes them from the others. */
export async function reconcileSoap(session: Session, patientId: number, now: number): Promise<void> {
  // Most patients of an import have none yet.
  if ((await session.first(anySoap, { patientId })) === undefined) return;
  const steps: readonly Query<Reconciled, unknown>[] = [noteLost, dropLost, forgetLost, addSoap];
  for (const step of steps) await session.all(step, { patientId, now });
}

interface Reconciled {
  readonly patientId: number;
  readonly now: number;
}

const changed = ({ now }: { now: number }) => ({ changedAt: now, stamps: "soap" as const });

const anySoap = query((db, p: { patientId: number }) =>
  db.selectFrom("soap").select("id").where("patient_id", "=", p.patientId).limit(1),
);

const stampSoap = query(
  (db, p: { fp: string; now: number }) =>
    db
      .insertInto("clinic_soap")
      .columns(["clinic_id", "soap_id", "changed_at"])
      .expression((from) =>
        from
          .selectFrom("clinic_patient")
          .innerJoin("soap", "soap.patient_id", "clinic_patient.patient_id")
          .select((column) => ["clinic_patient.clinic_id", "soap.id", column.lit(UNSTAMPED).as("changed_at")])
          .where("soap.fp", "=", p.fp)
          .where("clinic_patient.listed", "=", 1),
      )
      .onConflict((conflict) =>
        conflict
          .columns(["clinic_id", "soap_id"])
          .doUpdateSet((set) => ({ changed_at: set.ref("excluded.changed_at") })),
      ),
  changed,
);

const noteLost = query(
  (db, p: Reconciled) =>
    removals(db).expression((from) =>
      from
        .selectFrom("clinic_soap")
        .innerJoin("soap", "soap.id", "clinic_soap.soap_id")
        .select((column) => ["clinic_soap.clinic_id", "soap.fp", column.lit(UNSTAMPED).as("removed_at")])
        .where("soap.patient_id", "=", p.patientId)
        .where("clinic_soap.clinic_id", "not in", listing(db, p.patientId)),
    ),
  changed,
);

// An import stores several lines at a time: a record that came to the patient after the step before is not noted yet.
const dropLost = uncachedWrite((db, p: Reconciled) =>
  db
    .deleteFrom("clinic_soap")
    .where("soap_id", "in", (soap) => soap.selectFrom("soap").select("id").where("patient_id", "=", p.patientId))
    .where("clinic_id", "not in", listing(db, p.patientId))
    .where((where) =>
      where.exists(
        where
          .selectFrom("clinic_removal")
          .innerJoin("soap", "soap.fp", "clinic_removal.fp")
          .select("clinic_removal.fp")
          .whereRef("clinic_removal.clinic_id", "=", "clinic_soap.clinic_id")
          .whereRef("soap.id", "=", "clinic_soap.soap_id")
          .where("clinic_removal.removed_at", "=", where.lit(UNSTAMPED)),
      ),
    ),
);

const forgetLost = uncachedWrite((db, p: Reconciled) =>
  db
    .deleteFrom("clinic_removal")
    .where("fp", "in", (soap) => soap.selectFrom("soap").select("fp").where("patient_id", "=", p.patientId))
    .where("clinic_id", "in", listing(db, p.patientId)),
);

const addSoap = query(
  (db, p: Reconciled) =>
    db
      .insertInto("clinic_soap")
      .columns(["clinic_id", "soap_id", "changed_at"])
      .expression((from) =>
        from
          .selectFrom("clinic_patient")
          .innerJoin("soap", "soap.patient_id", "clinic_patient.patient_id")
          .select((column) => ["clinic_patient.clinic_id", "soap.id", column.lit(UNSTAMPED).as("changed_at")])
          .where("clinic_patient.patient_id", "=", p.patientId)
          .where("clinic_patient.listed", "=", 1),
      )
      .onConflict((conflict) => conflict.columns(["clinic_id", "soap_id"]).doNothing()),
  changed,
);
