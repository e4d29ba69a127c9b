import { sql } from "kysely";
import { type Session, uncachedWrite } from "../database/query.ts";
import { eventsOfLostStudies, eventsOfNewStudies, eventsOfPatient, eventsOfStudy } from "./events.ts";

// `clinic_study` has a row for each filed study that a clinic reads. Every write of a study, a patient or a connection brings
// it up to date in its own transaction, and writes the events of the webhooks with it.
//
// `changed_at` of a clinic never falls in commit order, whatever the clocks say: a row takes the clinic's newest stamp if that
// is later than the clock. Two transactions that change data of one clinic both raise its version, so one of them waits, or
// runs again on what the other wrote. A reader that saw a stamp finds every later commit at this stamp or after it.

/** Updates the clinics' rows of a study. Call it after the write. `patientId` is null while the study is unmatched. */
export async function announceStudy(
  session: Session,
  change: { fp: string; patientId: number | null; previousPatientId: number | null; now: number },
): Promise<void> {
  const { patientId, previousPatientId } = change;
  if (previousPatientId !== null && previousPatientId !== patientId) {
    await session.all(eventsOfLostStudies, change);
    await session.all(dropStudy, change);
  }
  if (patientId === null) return;
  await session.all(eventsOfStudy, { ...change, patientId });
  await session.all(stampStudy, { ...change, patientId });
}

/** Writes the events of changed patients. Call it before the lists of their clinics change, so that a lost clinic hears of it. */
export async function announcePatients(session: Session, patientIds: readonly number[], now: number): Promise<void> {
  await session.each(
    eventsOfPatient,
    patientIds.map((patientId) => ({ patientId, now })),
  );
}

/** Adds the studies of patients to the clinics that list them now, and removes them from those that no longer do. */
export async function reconcileStudies(session: Session, patientIds: readonly number[], now: number): Promise<void> {
  const patients = patientIds.map((patientId) => ({ patientId, now }));
  await session.each(dropStudiesOfPatient, patients);
  await session.each(eventsOfNewStudies, patients);
  await session.each(addStudiesOfPatient, patients);
}

/** The clock, or the clinic's newest stamp if that is later. */
function stampOf(clinic: string, now: number) {
  return sql<number>`coalesce((select max(newest.changed_at) from clinic_study as newest
    where newest.clinic_id = ${sql.ref(clinic)} and newest.changed_at > ${now}), cast(${now} as bigint))`;
}

const stampStudy = uncachedWrite((db, p: { fp: string; patientId: number; now: number }) =>
  db
    .insertInto("clinic_study")
    .columns(["clinic_id", "study_id", "changed_at"])
    .expression((from) =>
      from
        .selectFrom("clinic_patient")
        .innerJoin("study", "study.patient_id", "clinic_patient.patient_id")
        .select(["clinic_patient.clinic_id", "study.id", stampOf("clinic_patient.clinic_id", p.now).as("changed_at")])
        .where("study.fp", "=", p.fp)
        .where("clinic_patient.patient_id", "=", p.patientId)
        .where("clinic_patient.listed", "=", 1),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["clinic_id", "study_id"])
        .doUpdateSet((set) => ({ changed_at: set.ref("excluded.changed_at") })),
    ),
);

const dropStudy = uncachedWrite((db, p: { fp: string; patientId: number | null }) =>
  db
    .deleteFrom("clinic_study")
    .where("study_id", "=", (study) => study.selectFrom("study").select("id").where("fp", "=", p.fp))
    .where("clinic_id", "not in", (listed) =>
      listed
        .selectFrom("clinic_patient")
        .select("clinic_id")
        .where("patient_id", "=", p.patientId)
        .where("listed", "=", 1),
    ),
);

const dropStudiesOfPatient = uncachedWrite((db, p: { patientId: number }) =>
  db
    .deleteFrom("clinic_study")
    .where("study_id", "in", (study) => study.selectFrom("study").select("id").where("patient_id", "=", p.patientId))
    .where("clinic_id", "not in", (listed) =>
      listed
        .selectFrom("clinic_patient")
        .select("clinic_id")
        .where("patient_id", "=", p.patientId)
        .where("listed", "=", 1),
    ),
);

const addStudiesOfPatient = uncachedWrite((db, p: { patientId: number; now: number }) =>
  db
    .insertInto("clinic_study")
    .columns(["clinic_id", "study_id", "changed_at"])
    .expression((from) =>
      from
        .selectFrom("clinic_patient")
        .innerJoin("study", "study.patient_id", "clinic_patient.patient_id")
        .select(["clinic_patient.clinic_id", "study.id", stampOf("clinic_patient.clinic_id", p.now).as("changed_at")])
        .where("clinic_patient.patient_id", "=", p.patientId)
        .where("clinic_patient.listed", "=", 1),
    )
    .onConflict((conflict) => conflict.columns(["clinic_id", "study_id"]).doNothing()),
);
