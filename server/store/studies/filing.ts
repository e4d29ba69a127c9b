import type { Patient } from "../../../shared/api/patient.ts";
import type { Outcome, PushedStudy, Result, Snapshot } from "../../../shared/api/study.ts";
import { measured } from "../../../shared/clinical/measurement-key.ts";
import { flagMismatchNote } from "../../domain/flagging.ts";
import { decideFiling } from "../../domain/study-filing.ts";
import { noInvalidation, query, type Session } from "../database/query.ts";
import type { ConflictColumns, StudyColumns } from "../database/schema.ts";
import { findPatient } from "../patients/patients.ts";
import { flagFor } from "./flags.ts";
import { insert, replaceStudy, storedByFp, update } from "./studies.ts";
import { contentHash, describeStudy } from "./study-content.ts";

/**
 * Files what a clinic's agent pushed; one outcome a study, in order. `conceal`: a patient of other clinics alone is one that does
 * not exist. To be run in a transaction.
 */
export async function fileStudies(
  session: Session,
  clinicId: number,
  studies: readonly PushedStudy[],
  now: number,
  conceal = false,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  // One after the other: a study may meet its own earlier revision in the same batch.
  for (const study of studies) outcomes.push(await fileStudy(session, clinicId, study, now, conceal));
  return outcomes;
}

async function fileStudy(
  session: Session,
  clinicId: number,
  pushed: PushedStudy,
  now: number,
  conceal: boolean,
): Promise<Outcome> {
  const { fp, revision, dedupe_key } = pushed;
  const stored = await session.first(storedByFp, { fp });
  const replaced = stored && (await session.first(replacedRevision, { studyId: stored.id, revision }));
  const sameKey = await session.first(byDedupeKey, { clinicId, dedupeKey: dedupe_key, fp });
  const twin = sameKey && (await session.first(storedByFp, sameKey));

  // A correction that names no patient stays with the patient that it was filed to, and goes where a person put it.
  const byPerson = stored?.placed_by_user === 1;
  const sentFp = byPerson ? null : pushed.patient_fp;
  const patientFp = sentFp ?? stored?.patient_fp ?? null;
  const known = patientFp === null ? undefined : await findPatient(session, clinicId, patientFp);
  const patient = conceal && known?.connected === false ? undefined : known;

  const columns = toColumns(pushed);
  const { write, outcome } = decideFiling({
    pushed: {
      revision,
      contentHash: columns.content_hash,
      measured: measured(pushed.results),
      patientFp: pushed.patient_fp,
    },
    stored: stored
      ? {
          own: stored.clinic_id === clinicId,
          held: stored.patient_id === null,
          byPerson,
          patientFp: stored.patient_fp,
          revision: stored.pushed_revision ?? 0,
          contentHash: stored.content_hash,
        }
      : null,
    replacedHash: replaced?.content_hash ?? null,
    twin: twin
      ? {
          fp: twin.fp,
          measured: measuredOf(twin),
          heldBecause: twin.patient_id === null ? (twin.unmatched_reason ?? "it is unmatched") : null,
          byPerson: twin.placed_by_user === 1,
        }
      : null,
    unmatchedReason: (byPerson && patientFp === null && stored?.unmatched_reason) || whyUnmatched(patientFp, patient),
  });

  const filedTo = outcome.outcome === "filed" ? patient : undefined;
  const row: StudyColumns = {
    ...columns,
    ...(filedTo && (await flaggedAnew(session, { ...columns, clinic_id: clinicId }, pushed, filedTo.patient))),
    clinic_id: clinicId,
    patient_id: filedTo?.id ?? null,
    unmatched_reason: outcome.outcome === "unmatched" ? outcome.reason : null,
    received_at: now,
    cause: "pushed",
    placed_by_user: byPerson ? 1 : 0,
    // Other values are news to the person who rejected the study. A patient alone is not.
    rejected_reason: stored && measuredOf(stored) === measured(pushed.results) ? stored.rejected_reason : null,
  };
  switch (write) {
    case "insert":
      await session.all(insert, row);
      break;
    case "replace":
      if (stored) {
        await replaceStudy(session, stored, { ...row, revision: Math.max(revision, stored.revision + 1) }, now);
      }
      break;
    case "assign":
      if (stored)
        await session.all(update, {
          ...row,
          id: stored.id,
          was_of: stored.patient_id,
          revision: stored.revision,
          received_at: stored.received_at,
        });
      break;
    case "assign twin":
      if (twin && filedTo) {
        const { id: _id, patient_fp: _none, ...held } = twin;
        const flagged = await flagFor(session, twin, filedTo.patient);
        const placed = { patient_id: filedTo.id, claimed_patient_fp: pushed.patient_fp, unmatched_reason: null };
        const filed = { ...held, ...flagged, ...placed, revision: twin.revision + 1, received_at: now };
        await replaceStudy(session, twin, { ...filed, cause: "pushed" }, now);
      }
      break;
    case "nothing":
      if (outcome.outcome === "conflict") {
        const contradicted = stored ?? twin;
        if (contradicted) {
          await holdConflict(session, {
            study_id: contradicted.id,
            clinic_id: clinicId,
            content_hash: columns.content_hash,
            revision,
            reason: outcome.reason ?? "",
            body: JSON.stringify(pushed),
            received_at: now,
          });
        }
      }
      break;
  }
  return { fp, ...outcome };
}

/** Flags a study anew if the agent flagged it for other facts of the patient. The content hash stays the agent's. */
async function flaggedAnew(
  session: Session,
  row: Parameters<typeof flagFor>[1],
  pushed: PushedStudy,
  patient: Patient,
): Promise<Partial<Pick<StudyColumns, "results" | "snapshot">>> {
  const note = pushed.results.length === 0 ? null : flagMismatchNote(pushed, patient);
  if (note === null) return {};
  const { results, snapshot } = await flagFor(session, row, patient);
  // Without one the rows are of no known analyte, and what they say of their intervals holds no more.
  const flagged = snapshot === null ? { rows: [] } : (JSON.parse(snapshot) as Snapshot);
  const whole = pushed.snapshot && { ...pushed.snapshot, ...flagged, notes: [...pushed.snapshot.notes, note] };
  return { results, snapshot: whole === undefined ? snapshot : JSON.stringify(whole) };
}

function measuredOf({ results }: Pick<StudyColumns, "results">): string {
  return measured(JSON.parse(results) as Result[]);
}

/**
 * Conflicts of one clinic that are kept with a study, so that a device that goes on contradicting itself does not fill the disk.
 * Each clinic has its own: one that shares a patient cannot take another's places.
 */
export const CONFLICTS_MAX = 20;

async function holdConflict(session: Session, conflict: ConflictColumns): Promise<void> {
  const { study_id: studyId, clinic_id: clinicId } = conflict;
  const kept = await session.first(countConflicts, { studyId, clinicId });
  if ((kept?.count ?? 0) < CONFLICTS_MAX) await session.all(insertConflict, conflict);
}

function whyUnmatched(patientFp: string | null, patient: { connected: boolean } | undefined): string | null {
  if (patientFp === null) return "patient_fp is null, expected the patient's fp";
  if (patient === undefined) return `patient ${patientFp} does not exist`;
  if (!patient.connected) return `patient ${patientFp} has no active connection to this clinic`;
  return null;
}

function toColumns(
  pushed: PushedStudy,
): Omit<
  StudyColumns,
  "clinic_id" | "patient_id" | "unmatched_reason" | "received_at" | "cause" | "placed_by_user" | "rejected_reason"
> {
  return {
    fp: pushed.fp,
    claimed_patient_fp: pushed.patient_fp,
    ...describeStudy(pushed),
    revision: pushed.revision,
    dedupe_key: pushed.dedupe_key,
    content_hash: contentHash(pushed, pushed.dedupe_key, pushed.source.device_id),
    source: JSON.stringify(pushed.source),
    patient_hint: JSON.stringify(pushed.patient_hint),
    snapshot: pushed.snapshot === undefined ? null : JSON.stringify(pushed.snapshot),
    pushed_revision: pushed.revision,
  };
}

const replacedRevision = query((db, p: { studyId: number; revision: number }) =>
  db
    .selectFrom("study_revision")
    .select("content_hash")
    .where("study_id", "=", p.studyId)
    .where("pushed_revision", "=", p.revision),
);

const byDedupeKey = query((db, p: { clinicId: number; dedupeKey: string; fp: string }) =>
  db
    .selectFrom("study")
    .select("fp")
    .where("clinic_id", "=", p.clinicId)
    .where("dedupe_key", "=", p.dedupeKey)
    .where("fp", "!=", p.fp),
);

const countConflicts = query((db, p: { studyId: number; clinicId: number }) =>
  db
    .selectFrom("study_conflict")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("study_id", "=", p.studyId)
    .where("clinic_id", "=", p.clinicId),
);

const insertConflict = query(
  (db, p: ConflictColumns) =>
    db
      .insertInto("study_conflict")
      .values({
        study_id: p.study_id,
        clinic_id: p.clinic_id,
        content_hash: p.content_hash,
        revision: p.revision,
        reason: p.reason,
        body: p.body,
        received_at: p.received_at,
      })
      .onConflict((conflict) => conflict.columns(["study_id", "content_hash"]).doNothing()),
  noInvalidation,
);
