import type { Kysely } from "kysely";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import { queueStudy } from "../destinations/changes.ts";
import { listing, removals } from "./clinic-removals.ts";
import {
  eventsOfLeftStudies,
  eventsOfLostStudies,
  eventsOfMovedSoap,
  eventsOfNewStudies,
  eventsOfPatient,
  eventsOfStudy,
} from "../webhooks/events.ts";

// `clinic_study` has a row for each filed study that a clinic reads. Every write of a study, a patient or a connection brings
// it up to date in its own transaction, and adds the events of the clinic with it. The end of the transaction stamps the
// rows; see database/stamps.ts.

/**
 * Updates the clinics' rows of a study, also if it moved to another patient or was taken back. Call it after the write.
 * `patientId` is null while the study is unmatched. A study that `isNew` was on no list before.
 */
export async function announceStudy(
  session: Session,
  change: { fp: string; patientId: number | null; previousPatientId: number | null; now: number; isNew?: boolean },
): Promise<void> {
  const { patientId, previousPatientId } = change;
  if (patientId !== null || previousPatientId !== null) await session.all(queueStudy, change);
  if (previousPatientId !== null && previousPatientId !== patientId) {
    await session.all(eventsOfLostStudies, { ...change, previousPatientId });
    await session.all(noteLostStudy, change);
    await session.all(dropStudy, change);
  }
  if (patientId === null) return;
  if (previousPatientId !== patientId && change.isNew !== true)
    await session.all(forgetLostStudy, { ...change, patientId });
  await session.all(eventsOfStudy, { ...change, patientId });
  await session.all(stampStudy, { ...change, patientId });
}

/** Adds the events of a changed patient. Call it before the lists of its clinics change, so that a lost clinic is notified. */
export async function announcePatient(session: Session, patientId: number): Promise<void> {
  await session.all(eventsOfPatient, { patientId });
  await session.all(eventsOfMovedSoap, { patientId });
}

/** Adds the studies of a patient to the clinics that list it now, and removes them from the others. */
export async function reconcileStudies(session: Session, patientId: number, now: number): Promise<void> {
  // Most patients of an import have none yet.
  if ((await session.first(anyStudy, { patientId })) === undefined) return;
  await session.all(eventsOfLeftStudies, { patientId });
  await session.all(noteLostStudies, { patientId, now });
  await session.all(dropStudiesOfPatient, { patientId });
  await session.all(eventsOfNewStudies, { patientId });
  await session.all(forgetLostStudies, { patientId });
  await session.all(addStudiesOfPatient, { patientId, now });
}

/**
 * Notes the clinics whose list a patient leaves, and forgets those to which it returns. Call it before the lists change. `isNew`: only
 * a first connection changed, so no clinic loses the patient. It may have been there before an undo all the same.
 */
export async function notePatientRemovals(
  session: Session,
  patientId: number,
  { now, isNew }: { now: number; isNew: boolean },
): Promise<void> {
  if (!isNew) await session.all(noteLostPatient, { patientId, now });
  await session.all(forgetLostPatient, { patientId });
}

/** The time of a change, for the stamp. */
const changed = ({ now }: { now: number }) => ({ changedAt: now });

const anyStudy = query((db, p: { patientId: number }) =>
  db.selectFrom("study").select("id").where("patient_id", "=", p.patientId).limit(1),
);

const stampStudy = query(
  (db, p: { fp: string; patientId: number; now: number }) =>
    db
      .insertInto("clinic_study")
      .columns(["clinic_id", "study_id", "changed_at"])
      .expression((from) =>
        from
          .selectFrom("clinic_patient")
          .innerJoin("study", "study.patient_id", "clinic_patient.patient_id")
          .select((column) => ["clinic_patient.clinic_id", "study.id", column.lit(UNSTAMPED).as("changed_at")])
          .where("study.fp", "=", p.fp)
          .where("clinic_patient.patient_id", "=", p.patientId)
          .where("clinic_patient.listed", "=", 1),
      )
      .onConflict((conflict) =>
        conflict
          .columns(["clinic_id", "study_id"])
          .doUpdateSet((set) => ({ changed_at: set.ref("excluded.changed_at") })),
      ),
  changed,
);

const noteLostStudy = query(
  (db, p: { fp: string; patientId: number | null; now: number }) =>
    removals(db).expression(lostStudies(db, p.patientId).where("study.fp", "=", p.fp)),
  changed,
);

const noteLostStudies = query(
  (db, p: { patientId: number; now: number }) =>
    removals(db).expression(lostStudies(db, p.patientId).where("study.patient_id", "=", p.patientId)),
  changed,
);

// A row with the time 0 is new: the clinic never listed the patient.
const noteLostPatient = query(
  (db, p: { patientId: number; now: number }) =>
    removals(db).expression((from) =>
      from
        .selectFrom("clinic_patient")
        .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
        .select((column) => ["clinic_patient.clinic_id", "patient.fp", column.lit(UNSTAMPED).as("removed_at")])
        .where("patient.id", "=", p.patientId)
        .where("clinic_patient.listed", "=", 1)
        .where("clinic_patient.patient_updated_at", "!=", 0)
        .where((where) =>
          where.or([where("clinic_patient.active", "=", 0), where("patient.deleted_at", "is not", null)]),
        ),
    ),
  changed,
);

/** The rows of studies in lists of clinics that do not list the patient, as removals. */
function lostStudies(db: Kysely<Tables>, patientId: number | null) {
  return db
    .selectFrom("clinic_study")
    .innerJoin("study", "study.id", "clinic_study.study_id")
    .select((column) => ["clinic_study.clinic_id", "study.fp", column.lit(UNSTAMPED).as("removed_at")])
    .where("clinic_study.clinic_id", "not in", listing(db, patientId));
}

const forgetLostStudy = uncachedWrite((db, p: { fp: string; patientId: number }) =>
  db.deleteFrom("clinic_removal").where("fp", "=", p.fp).where("clinic_id", "in", listing(db, p.patientId)),
);

const forgetLostStudies = uncachedWrite((db, p: { patientId: number }) =>
  db
    .deleteFrom("clinic_removal")
    .where("fp", "in", (studies) => studies.selectFrom("study").select("fp").where("patient_id", "=", p.patientId))
    .where("clinic_id", "in", listing(db, p.patientId)),
);

const forgetLostPatient = uncachedWrite((db, p: { patientId: number }) =>
  db
    .deleteFrom("clinic_removal")
    .where("fp", "=", (patient) => patient.selectFrom("patient").select("fp").where("id", "=", p.patientId))
    .where("clinic_id", "in", (returning) =>
      returning
        .selectFrom("clinic_patient")
        .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
        .select("clinic_patient.clinic_id")
        .where("patient.id", "=", p.patientId)
        .where("clinic_patient.active", "=", 1)
        .where("patient.deleted_at", "is", null),
    ),
);

const dropStudy = uncachedWrite((db, p: { fp: string; patientId: number | null }) =>
  db
    .deleteFrom("clinic_study")
    .where("study_id", "=", (study) => study.selectFrom("study").select("id").where("fp", "=", p.fp))
    .where("clinic_id", "not in", listing(db, p.patientId)),
);

const dropStudiesOfPatient = uncachedWrite((db, p: { patientId: number }) =>
  db
    .deleteFrom("clinic_study")
    .where("study_id", "in", (study) => study.selectFrom("study").select("id").where("patient_id", "=", p.patientId))
    .where("clinic_id", "not in", listing(db, p.patientId)),
);

const addStudiesOfPatient = uncachedWrite((db, p: { patientId: number; now: number }) =>
  db
    .insertInto("clinic_study")
    .columns(["clinic_id", "study_id", "changed_at"])
    .expression((from) =>
      from
        .selectFrom("clinic_patient")
        .innerJoin("study", "study.patient_id", "clinic_patient.patient_id")
        .select((column) => ["clinic_patient.clinic_id", "study.id", column.lit(UNSTAMPED).as("changed_at")])
        .where("clinic_patient.patient_id", "=", p.patientId)
        .where("clinic_patient.listed", "=", 1),
    )
    .onConflict((conflict) => conflict.columns(["clinic_id", "study_id"]).doNothing()),
);
