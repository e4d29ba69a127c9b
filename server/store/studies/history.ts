import type { PatientHint, Snapshot, Study } from "../../../shared/api/study.ts";
import { query, type Session } from "../database/query.ts";
import type { StudyCause } from "../database/schema.ts";
import { findStored, type ReplacedStudy } from "./studies.ts";
import { inOrder, instant, parsed, toStudy } from "./study-content.ts";

/** All that is known of a stored study, whoever may read it. */
export interface StoredView {
  study: Study;
  revision: number;
  clinic_fp: string | null;
  cause: StudyCause;
  unmatched_reason: string | null;
  rejected_reason: string | null;
  received_at: string;
  hint: PatientHint | null;
  source: { device_id: string; message_id: string } | null;
  snapshot: Snapshot | null;
}

export async function viewStudy(session: Session, fp: string): Promise<StoredView | undefined> {
  const stored = await findStored(session, fp);
  if (stored === undefined) return undefined;
  const clinic = stored.clinic_id === null ? undefined : await session.first(clinicFp, { id: stored.clinic_id });
  return {
    study: inOrder(toStudy(stored)),
    revision: stored.revision,
    clinic_fp: clinic?.fp ?? null,
    cause: stored.cause,
    unmatched_reason: stored.unmatched_reason,
    rejected_reason: stored.rejected_reason,
    received_at: instant(stored.received_at),
    hint: parsed(stored.patient_hint) as PatientHint | null,
    source: parsed(stored.source) as StoredView["source"],
    snapshot: parsed(stored.snapshot) as Snapshot | null,
  };
}

/** A revision that was in force, and what ended it. */
export interface HistoryEntry {
  revision: number;
  cause: StudyCause | null;
  /** When this revision came, by an agent, a file or a person. */
  at: string;
  patient_fp: string | null;
  unmatched_reason: string | null;
  rejected_reason: string | null;
  study: Study;
  snapshot: Snapshot | null;
}

/** All revisions of a study, the first one first. */
export async function historyOf(session: Session, fp: string): Promise<HistoryEntry[]> {
  const stored = await findStored(session, fp);
  if (stored === undefined) return [];
  const replaced = await session.all(revisionsOf, { studyId: stored.id });
  const earlier = replaced.map(({ revision, body, received_at }): HistoryEntry => {
    const study = JSON.parse(body) as ReplacedStudy;
    return {
      revision,
      cause: study.cause ?? null,
      at: instant(received_at),
      patient_fp: study.patient_fp || null,
      unmatched_reason: study.unmatched_reason,
      rejected_reason: study.rejected_reason ?? null,
      study: inOrder(study),
      snapshot: (study.snapshot ?? null) as Snapshot | null,
    };
  });
  const { revision, cause, received_at, patient_fp, unmatched_reason, rejected_reason } = stored;
  const snapshot = parsed(stored.snapshot) as Snapshot | null;
  const current = { revision, cause, at: instant(received_at), patient_fp, unmatched_reason, rejected_reason };
  return [...earlier, { ...current, study: inOrder(toStudy(stored)), snapshot }];
}

/** A revision that an agent sent and that contradicts what is stored. */
export interface Conflict {
  fp: string;
  at: string;
  revision: number;
  reason: string;
  study: Study;
}

/** The conflicts about one study, or of one clinic, or all of them; the oldest first. */
export async function listConflicts(
  session: Session,
  { fp, clinicId }: { fp?: string; clinicId?: number },
): Promise<Conflict[]> {
  const rows = await session.all(conflicts, {});
  return rows
    .filter((row) => (fp ?? row.fp) === row.fp && (clinicId ?? row.clinic_id) === row.clinic_id)
    .map(({ fp: about, received_at, revision, reason, body }) => ({
      fp: about,
      at: instant(received_at),
      revision,
      reason,
      study: inOrder(JSON.parse(body) as Study),
    }));
}

const clinicFp = query((db, p: { id: number }) => db.selectFrom("clinic").select("fp").where("id", "=", p.id));

const revisionsOf = query((db, p: { studyId: number }) =>
  db
    .selectFrom("study_revision")
    .select(["revision", "body", "received_at"])
    .where("study_id", "=", p.studyId)
    .orderBy("revision"),
);

const conflicts = query((db) =>
  db
    .selectFrom("study_conflict")
    .innerJoin("study", "study.id", "study_conflict.study_id")
    .select(["study.fp", "study_conflict.clinic_id", "study_conflict.revision", "study_conflict.reason"])
    .select(["study_conflict.body", "study_conflict.received_at"])
    .orderBy("study_conflict.id"),
);
