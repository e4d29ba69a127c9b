import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import type {
  PatientAppointment,
  PatientOverview,
  PatientRecord,
  PatientResults,
} from "../../dashboard/types/patients.ts";
import { rangesOfStudies } from "../studies/stored-results.ts";
import { describeResults, rowUnits } from "../comparison/patient-results.ts";
import { leftOut } from "../../database/damaged-records.ts";
import { query, type Session } from "../../database/query.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { findPatient } from "./patients.ts";
import { listOtherClinics } from "./connection-answers.ts";
import { timestampOf, timestampOrNull } from "../../../shared/runtime/timestamp.ts";

// The page of one patient. A clinic sees what the read API shows it: the patients with an active connection.

/** Newest records and appointments that a page shows. */
const LISTED_MAX = 100;

/** Newest studies without `all`. */
const STUDIES_SHOWN = 24;
const STUDIES_MAX = 2000;
const SUMMARY_CHARS_MAX = 160;

/** @returns undefined if the patient is unknown or deleted, or the clinic has no active connection */
export async function patientOverview(
  session: Session,
  { clinicId, fp, now }: { clinicId: number; fp: string; now: number },
): Promise<Omit<PatientOverview, "owner" | "siblings" | "is_shared" | "recent_changes" | "used_stock"> | undefined> {
  const found = await findPatient(session, clinicId, fp);
  if (found?.connected !== true) return undefined;
  const ids = { clinicId, patientId: found.id };
  const identifiers = await session.all(identifiersOf, ids);
  const changes = await session.all(connectionChanges, ids);
  const records = await session.all(recordsOf, ids);
  const appointments = await session.all(appointmentsOf, ids);
  return {
    patient: found.patient,
    precise_species: found.precise_species,
    deceased_at: timestampOrNull(found.deceased_at),
    identifiers: identifiers.map(({ identifier }) => identifier),
    connection_changes: changes.map(({ active, changed_at, by }) => {
      return { active: active === 1, changed_at: timestampOf(changed_at), by };
    }),
    other_clinics: await listOtherClinics(session, { ...ids, now }),
    records: records.map(
      (row): PatientRecord => ({
        fp: row.fp,
        soap_type: row.soap_type,
        status: row.status,
        is_own: row.clinic_id === clinicId,
        created_at: timestampOf(row.created_at),
        signed_at: timestampOrNull(row.signed_at),
        summary: (row.assessment ?? row.subjective)?.slice(0, SUMMARY_CHARS_MAX) ?? null,
      }),
    ),
    appointments: appointments.map((event): PatientAppointment => {
      return { ...event, start_at: timestampOf(event.start_at) };
    }),
  };
}

/** The newest studies, or all of them, of a patient. With `analyte` all studies that have the substance, with its values alone. */
export async function patientResults(
  session: Session,
  clinicId: number,
  fp: string,
  { all, analyte, units }: { all: boolean; analyte: string | null; units: UnitChoice },
): Promise<PatientResults | undefined> {
  const found = await findPatient(session, clinicId, fp);
  if (found?.connected !== true) return undefined;
  const patientId = found.id;
  const limit = all || analyte !== null ? STUDIES_MAX : STUDIES_SHOWN;
  const rows = await session.all(studiesOf, { patientId, limit });
  const total = (await session.first(studyCount, { patientId }))?.total ?? 0;
  const rangesOf = await rangesOfStudies(session, rows);
  return {
    patient_name: found.patient.name,
    ...describeResults(
      rows.map((row) => ({ ...row, patient_fp: fp })),
      { clinicId, reader: { animal: found.patient, unitOf: rowUnits(units), rangesOf }, analyte },
    ),
    total,
    left_out: leftOut(rows),
  };
}

const identifiersOf = query((db, p: { patientId: number }) =>
  db
    .selectFrom("patient_identifier")
    .innerJoin("patient", "patient.id", "patient_identifier.patient_id")
    .select(["patient.fp as patient_fp", "patient_identifier.identifier"])
    .where("patient_identifier.patient_id", "=", p.patientId)
    .orderBy("patient_identifier.position")
    .orderBy("patient_identifier.identifier"),
);

const connectionChanges = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("connection_change as change")
    .leftJoin("dashboard_user as user", "user.id", "change.user_id")
    .select(["change.active", "change.changed_at", "user.name as by"])
    .where("change.clinic_id", "=", p.clinicId)
    .where("change.patient_id", "=", p.patientId)
    .orderBy("change.id", "desc"),
);

const recordsOf = query((db, p: { patientId: number }) =>
  db
    .selectFrom("soap")
    .innerJoin("patient", "patient.id", "soap.patient_id")
    .selectAll("soap")
    .select("patient.fp as patient_fp")
    .where("soap.patient_id", "=", p.patientId)
    .orderBy("soap.created_at", "desc")
    .orderBy("soap.id", "desc")
    .limit(LISTED_MAX),
);

const appointmentsOf = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("calendar_event")
    .select(["fp", "title", "type", "status", "start_at"])
    .where("patient_id", "=", p.patientId)
    .where("clinic_id", "=", p.clinicId)
    .orderBy("start_at", "desc")
    .orderBy("fp")
    .limit(LISTED_MAX),
);

const studiesOf = checked(
  query((db, p: { patientId: number; limit: number }) =>
    db
      .selectFrom("study")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .select(STUDY_CONTENT)
      .select(["study.clinic_id", "study.snapshot", "study.source"])
      .select("patient.fp as patient_fp")
      .where("study.patient_id", "=", p.patientId)
      .orderBy("study.acquired_at", "desc")
      .orderBy("study.id", "desc")
      .limit(p.limit),
  ),
);

const studyCount = query((db, p: { patientId: number }) =>
  db
    .selectFrom("study")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("patient_id", "=", p.patientId),
);
