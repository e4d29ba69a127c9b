import type { Insertable } from "kysely";
import type { ReadStudy } from "../../../shared/api/study.ts";
import { searchWords, severityOf } from "./study-search.ts";
import { announceStudy } from "../changes/clinic-studies.ts";
import { DamagedRecord } from "../../database/damaged-records.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import {
  type OptionalStudyColumns,
  parseStored,
  type ReplacedStudy,
  type StudyChecksum,
  type StudyColumns,
  type StudySearchColumns,
  type Tables,
} from "../../database/schema.ts";
import { checked, STUDY_CONTENT, studyChecksum } from "./study-checksum.ts";
import { toReadStudy, toStudy } from "./study-content.ts";
import { readFacts } from "./read-facts.ts";
import { noteAtFollowUps } from "./follow-up-notes.ts";
import { noteRuns, withOwnOrder } from "./study-order.ts";

// Diagnostic studies: the current revision in `study`, replaced revisions in `study_revision`.

/**
 * Finds a filed study and whether the clinic is connected to its patient.
 * @returns undefined if the study is unknown or unmatched, or its patient is deleted @throws DamagedRecord
 */
export async function findStudy(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<{ connected: boolean; study: ReadStudy } | undefined> {
  const row = await session.first(filedByFp, { clinicId, fp });
  if (row === undefined) return undefined;
  return { connected: row.active === 1, study: toReadStudy(row) };
}

export type StoredStudy = StudyColumns &
  OptionalStudyColumns &
  StudyChecksum & { id: number; patient_fp: string | null };

export type StudyWrite = StudyColumns & Partial<OptionalStudyColumns>;

/** Finds a stored study, whichever clinic may read it. @throws DamagedRecord */
export async function findStoredStudy(session: Session, fp: string): Promise<StoredStudy | undefined> {
  return session.first(storedByFp, { fp });
}

/** Finds a stored study; undefined also for a damaged one, which the log and each backup name. */
export async function findIntactStudy(session: Session, fp: string): Promise<StoredStudy | undefined> {
  const { stored, isDamaged } = await findForPush(session, fp);
  return isDamaged ? undefined : stored;
}

export async function insertStudy(session: Session, given: StudyWrite): Promise<void> {
  const row = await withOwnOrder(session, { ...OMITTED, ...given });
  await session.all(insert, { ...row, ...searchColumns(row), checksum: await studyChecksum(session, row) });
  const { fp, patient_id: patientId, received_at: now } = row;
  await noteRuns(session, [row], now);
  await announceStudy(session, { fp, patientId, previousPatientId: null, now, isNew: true });
}

/** Overwrites the current revision. The history keeps no copy. */
export async function updateStudy(
  session: Session,
  stored: StoredStudy,
  given: StudyWrite,
  now: number,
): Promise<void> {
  const { id, patient_id: previousPatientId } = stored;
  const row = await withOwnOrder(session, { ...OMITTED, ...given });
  const checksum = await studyChecksum(session, row);
  await session.all(update, { ...row, ...searchColumns(row), checksum, id, previousPatientId });
  await noteRuns(session, [stored, row], now);
  await noteAtFollowUps(session, stored, row, now);
  await announceStudy(session, { fp: row.fp, patientId: row.patient_id, previousPatientId, now });
}

/** Finds a stored study for a write that may overwrite a damaged one. What a damaged one holds may be anything. */
export async function findForPush(
  session: Session,
  fp: string,
): Promise<{ readonly stored: StoredStudy | undefined; readonly isDamaged: boolean }> {
  try {
    return { stored: await findStoredStudy(session, fp), isDamaged: false };
  } catch (error) {
    if (!(error instanceof DamagedRecord) || error.subject !== fp) throw error;
    return { stored: error.row as StoredStudy, isDamaged: true };
  }
}

/** Replaces the current revision and moves it to the history. */
export async function replaceStudy(session: Session, stored: StoredStudy, row: StudyWrite, now: number): Promise<void> {
  const { id, revision, content_hash, received_at, pushed_revision } = stored;
  const body = JSON.stringify({
    ...toStudy(stored),
    sent_patient_fp: stored.claimed_patient_fp,
    unmatched_reason: stored.unmatched_reason,
    dedupe_key: stored.dedupe_key,
    source: parseStored(stored.source),
    patient_hint: parseStored(stored.patient_hint),
    snapshot: parseStored(stored.snapshot),
    cause: stored.cause,
    cause_reason: stored.cause_reason,
    rejected_reason: stored.rejected_reason,
  } satisfies ReplacedStudy);
  const replaced = { study_id: id, revision, content_hash, body, received_at, pushed_revision };
  await session.all(insertRevision, { ...replaced, replaced_at: now });
  await updateStudy(session, stored, row, now);
}

/** Adds a revision to a stored study. What it does not change stays; the reason and the mark of the revision before end with it. */
export async function reviseStudy(
  session: Session,
  stored: StoredStudy,
  changed: Partial<StudyWrite> & Pick<StudyColumns, "cause">,
  now: number,
): Promise<void> {
  const { id: _id, patient_fp: _patient, ...columns } = stored;
  const row = { ...columns, ...ENDED, ...changed, revision: stored.revision + 1, received_at: now };
  await replaceStudy(session, stored, row, now);
}

/** The columns that hold for one revision alone. */
const ENDED = { cause_reason: null, flagged_species: null };

/** The columns that a write omits. */
const OMITTED: OptionalStudyColumns = { ...ENDED, order_fp: null, order_number: null, quality: null };

const filedByFp = checked(
  query((db, p: { clinicId: number; fp: string }) =>
    db
      .selectFrom("study")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .leftJoin("clinic_patient", (join) =>
        join.onRef("clinic_patient.patient_id", "=", "patient.id").on("clinic_patient.clinic_id", "=", p.clinicId),
      )
      .select(STUDY_CONTENT)
      .select(readFacts(p))
      .select(["patient.fp as patient_fp", "clinic_patient.active"])
      .where("study.fp", "=", p.fp)
      .where("patient.deleted_at", "is", null),
  ),
);

const storedByFp = checked(
  query((db, p: { fp: string }) =>
    db
      .selectFrom("study")
      .leftJoin("patient", "patient.id", "study.patient_id")
      .selectAll("study")
      .select("patient.fp as patient_fp")
      .where("study.fp", "=", p.fp),
  ),
);

function searchColumns({ results, source, patient_hint }: StudyColumns): StudySearchColumns {
  return {
    severity: severityOf(parseStored(results)),
    search_words: searchWords(parseStored(source), parseStored(patient_hint)),
  };
}

type StudyRow = StudyColumns & OptionalStudyColumns & StudySearchColumns & StudyChecksum;

const insert = query(
  (db, p: StudyRow) => db.insertInto("study").values(studyValues(p)),
  ({ patient_id }) => ({ patients: [patient_id] }),
);

// The clinics of the previous patient lose the study if it moves to another patient.
const update = query(
  (db, p: StudyRow & { id: number; previousPatientId: number | null }) =>
    db.updateTable("study").set(studyValues(p)).where("id", "=", p.id),
  ({ patient_id, previousPatientId }) => ({ patients: [patient_id, previousPatientId] }),
);

// Lists each column, because the parameters of a query cannot be spread.
function studyValues(p: StudyRow): StudyRow {
  return {
    fp: p.fp,
    clinic_id: p.clinic_id,
    patient_id: p.patient_id,
    unmatched_reason: p.unmatched_reason,
    claimed_patient_fp: p.claimed_patient_fp,
    modality: p.modality,
    device_name: p.device_name,
    status: p.status,
    acquired_at: p.acquired_at,
    results: p.results,
    comments: p.comments,
    revision: p.revision,
    dedupe_key: p.dedupe_key,
    content_hash: p.content_hash,
    source: p.source,
    patient_hint: p.patient_hint,
    snapshot: p.snapshot,
    received_at: p.received_at,
    pushed_revision: p.pushed_revision,
    cause: p.cause,
    cause_reason: p.cause_reason,
    flagged_species: p.flagged_species,
    order_fp: p.order_fp,
    order_number: p.order_number,
    quality: p.quality,
    placed_by_user: p.placed_by_user,
    rejected_reason: p.rejected_reason,
    severity: p.severity,
    search_words: p.search_words,
    checksum: p.checksum,
  };
}

const insertRevision = uncachedWrite((db, p: Insertable<Tables["study_revision"]>) =>
  db.insertInto("study_revision").values({
    study_id: p.study_id,
    revision: p.revision,
    content_hash: p.content_hash,
    body: p.body,
    received_at: p.received_at,
    replaced_at: p.replaced_at,
    pushed_revision: p.pushed_revision,
  }),
);
