import { checksumOf } from "../database/checksum.ts";
import { query, type Session } from "../database/query.ts";
import type { StudyChecksums, StudyColumns } from "../database/schema.ts";

// The checksums of studies, and the columns that they cover. `severity` and `search_words` are derived, and not covered.

/** The columns of `study` that STUDY covers. A query selects `patient_fp` beside them. */
export const STUDY_CONTENT = [
  "study.fp",
  "study.modality",
  "study.device_name",
  "study.status",
  "study.acquired_at",
  "study.results",
  "study.checksum",
] as const;

/** Covers the fields that the read API serves. The patient is covered by the fp, because a damaged row may get the id of another patient. */
export const STUDY = {
  table: "study",
  column: "checksum",
  of: ["fp", "patient_fp", "modality", "device_name", "status", "acquired_at", "results"],
} as const;

export const STUDY_DETAILS = {
  table: "study",
  column: "details_checksum",
  of: ["fp", "source", "patient_hint", "snapshot"],
} as const;

export const REVISION = { table: "study_revision", column: "checksum", of: ["study_id", "revision", "body"] } as const;

/** Computes the checksums of a row that is written. */
export async function studyChecksums(session: Session, row: StudyColumns): Promise<StudyChecksums> {
  const id = row.patient_id;
  const patient_fp = id === null ? null : ((await session.first(patientFp, { id }))?.fp ?? null);
  return { checksum: checksumOf(STUDY, { ...row, patient_fp }), details_checksum: checksumOf(STUDY_DETAILS, row) };
}

const patientFp = query((db, p: { id: number }) => db.selectFrom("patient").select("fp").where("id", "=", p.id));
