import type { Snapshot, Study, StudySource } from "../../../shared/api/study.ts";
import { measurementKey } from "../../../shared/clinical/measurement-key.ts";
import { findPatient } from "../patients/patients.ts";
import { controlsOf, qualityColumn } from "../quality-marks/remark-studies.ts";
import { flagForPatient } from "../studies/flags.ts";
import type { Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { findStoredStudy, insertStudy, replaceStudy, type StudyWrite } from "../studies/studies.ts";
import { canonical, contentHash, storedMeasurementKey, toStudy, describeStudy } from "../studies/study-content.ts";

export interface ImportedStudy extends Study {
  /** Absent in most files. The stored ones then stay. */
  source?: StudySource;
  snapshot?: Snapshot;
}

/**
 * Stores a study of an import file. The history keeps the previous content of a changed study. A study that a user placed, or
 * that left a deleted patient, stays where it is, with ranges and flags for the animal there. @throws DamagedRecord
 */
export async function importStudy(
  session: Session,
  { source, snapshot, ...study }: ImportedStudy,
  { id: patientId, isDeleted }: { readonly id: number; readonly isDeleted: boolean },
  now: number,
): Promise<"new" | "changed" | "unchanged"> {
  const stored = await findStoredStudy(session, study.fp);
  const storedSource = stored?.source ?? null;
  const device = (source ?? parseStored(storedSource))?.device_id ?? null;
  const row: StudyWrite = {
    fp: study.fp,
    clinic_id: stored?.clinic_id ?? null,
    patient_id: patientId,
    unmatched_reason: null,
    claimed_patient_fp: study.patient_fp,
    ...describeStudy(study),
    revision: (stored?.revision ?? 0) + 1,
    dedupe_key: stored?.dedupe_key ?? null,
    content_hash: contentHash(study, stored?.dedupe_key ?? null, device),
    source: source === undefined ? storedSource : JSON.stringify(source),
    patient_hint: stored?.patient_hint ?? null,
    snapshot: snapshot === undefined ? null : JSON.stringify(snapshot),
    received_at: now,
    pushed_revision: (stored?.revision ?? 0) + 1,
    cause: "imported",
    placed_by_user: 0,
    rejected_reason: null,
    order_fp: study.order?.fp ?? stored?.order_fp ?? null,
    order_number: study.order === undefined ? (stored?.order_number ?? null) : study.order.placer_number,
  };
  if (row.clinic_id !== null) {
    row.quality = await qualityColumn(controlsOf(session, row.clinic_id), row, stored?.quality ?? null);
  }
  if (stored === undefined) {
    await insertStudy(session, row);
    return "new";
  }
  // A file has no mark of outdated flags, so the mark is not a change. Files of earlier versions name no orders.
  const { flagged_species: _mark, order, ...was } = toStudy(stored);
  const before = [
    { ...was, ...(order && study.order && { order }) },
    source && parseStored(stored.source),
    snapshot && parseStored(stored.snapshot),
  ];
  if (canonical(before) === canonical([study, source, snapshot])) return "unchanged";
  const staysThere = stored.placed_by_user === 1 || (isDeleted && stored.clinic_id !== null);
  if (!staysThere || stored.patient_id === patientId) {
    await replaceStudy(session, stored, row, now);
    return "changed";
  }
  if (storedMeasurementKey(stored) === measurementKey(study.results)) return "unchanged";
  const { patient_id, patient_fp, unmatched_reason, rejected_reason, placed_by_user } = stored;
  const place = { patient_id, unmatched_reason, rejected_reason, placed_by_user };
  const patient = patient_fp === null ? undefined : await findPatient(session, stored.clinic_id ?? 0, patient_fp);
  const flagged = await flagForPatient(session, row, patient?.patient ?? null);
  await replaceStudy(session, stored, { ...row, ...place, ...flagged }, now);
  return "changed";
}
