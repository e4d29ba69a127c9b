import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import type { Reason } from "../../../shared/api/reason.ts";
import type { Study } from "../../../shared/api/study.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type ConflictColumns, parseStored } from "../../database/schema.ts";
import { inPublishedOrder } from "./study-content.ts";

/**
 * A pushed study that contradicts a stored one. It is kept for a user and not filed, because a vet may have acted on the stored
 * one.
 */
export interface Conflict {
  fp: string;
  at: string;
  revision: number;
  reason: Reason;
  study: Study;
}

/** Lists the conflicts of a study, of all clinics or of one, the oldest first. */
export async function listConflicts(
  session: Session,
  { fp, clinicId }: { fp: string; clinicId?: number },
): Promise<Conflict[]> {
  const clinics = { from: clinicId ?? 0, to: clinicId ?? Number.MAX_SAFE_INTEGER };
  const rows = await session.all(conflicts, { fp, ...clinics });
  return rows.map(({ fp: about, received_at, revision, reason, body }) => {
    const pushed = parseStored(body);
    return {
      fp: about,
      at: timestampOf(received_at),
      revision,
      reason: parseStored(reason),
      study: inPublishedOrder({ ...pushed, patient_fp: pushed.patient_fp ?? "" }),
    };
  });
}

const conflicts = query((db, p: { fp: string; from: number; to: number }) =>
  db
    .selectFrom("study_conflict")
    .innerJoin("study", "study.id", "study_conflict.study_id")
    .select(["study.fp", "study_conflict.clinic_id", "study_conflict.revision", "study_conflict.reason"])
    .select(["study_conflict.body", "study_conflict.received_at"])
    .where("study.fp", "=", p.fp)
    .where("study_conflict.clinic_id", ">=", p.from)
    .where("study_conflict.clinic_id", "<=", p.to)
    .orderBy("study_conflict.id"),
);

/**
 * Max conflicts stored for a study and a clinic, so that a faulty device cannot fill the disk. Clinics that share a patient
 * have separate limits.
 */
export const CONFLICTS_MAX = 20;

/** Stores a conflict; beyond CONFLICTS_MAX it is discarded. */
export async function storeConflict(session: Session, conflict: ConflictColumns): Promise<void> {
  const { study_id: studyId, clinic_id: clinicId } = conflict;
  const stored = await session.first(countConflicts, { studyId, clinicId });
  if ((stored?.count ?? 0) < CONFLICTS_MAX) await session.all(insertConflict, conflict);
}

const countConflicts = query((db, p: { studyId: number; clinicId: number }) =>
  db
    .selectFrom("study_conflict")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("study_id", "=", p.studyId)
    .where("clinic_id", "=", p.clinicId),
);

const insertConflict = uncachedWrite((db, p: ConflictColumns) =>
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
);
