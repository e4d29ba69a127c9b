import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import type { Reason } from "../../../shared/api/reason.ts";
import type { PatientHint, Snapshot, Study, StudySource } from "../../../shared/api/study.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored, type StoredSource, type StudyCause } from "../../database/schema.ts";
import type { StoredStudy } from "./studies.ts";
import { inPublishedOrder, toStudy, sampleIds } from "./study-content.ts";

/** A stored study with its origin and state, whichever clinic may read it. */
export interface StudyView {
  study: Study;
  revision: number;
  clinic_fp: string | null;
  cause: StudyCause;
  unmatched_reason: Reason | null;
  rejected_reason: string | null;
  received_at: string;
  hint: PatientHint | null;
  source: StudySource | null;
  snapshot: Snapshot | null;
}

export async function viewStudy(session: Session, stored: StoredStudy): Promise<StudyView> {
  const clinic = stored.clinic_id === null ? undefined : await session.first(clinicFp, { id: stored.clinic_id });
  return {
    study: inPublishedOrder(toStudy(stored)),
    revision: stored.revision,
    clinic_fp: clinic?.fp ?? null,
    cause: stored.cause,
    unmatched_reason: parseStored(stored.unmatched_reason),
    rejected_reason: stored.rejected_reason,
    received_at: timestampOf(stored.received_at),
    hint: parseStored(stored.patient_hint),
    source: parseStored(stored.source),
    snapshot: parseStored(stored.snapshot),
  };
}

/** A current or replaced revision. */
export interface HistoryEntry {
  revision: number;
  cause: StudyCause;
  /** Time at which this revision was stored. */
  at: string;
  patient_fp: string | null;
  unmatched_reason: Reason | null;
  /** The reason that a user gave for a move. */
  cause_reason: string | null;
  rejected_reason: string | null;
  /** Present if the device sent any. */
  sample_ids?: string[];
  /** Null unless a device sent it. */
  source: StoredSource | null;
  study: Study;
  snapshot: Snapshot | null;
}

/** Lists all revisions of a study, the first one first. */
export async function historyOf(session: Session, stored: StoredStudy): Promise<HistoryEntry[]> {
  const replaced = await session.all(revisionsOf, { studyId: stored.id });
  const earlier = replaced.map(({ revision, body, received_at }): HistoryEntry => {
    const study = parseStored(body);
    return {
      revision,
      cause: study.cause,
      at: timestampOf(received_at),
      patient_fp: study.patient_fp || null,
      unmatched_reason: parseStored(study.unmatched_reason),
      cause_reason: study.cause_reason ?? null,
      rejected_reason: study.rejected_reason,
      ...sampleIds(study.source),
      source: study.source,
      study: inPublishedOrder(study),
      snapshot: study.snapshot,
    };
  });
  const { revision, cause, cause_reason, received_at, patient_fp, rejected_reason } = stored;
  const unmatched_reason = parseStored(stored.unmatched_reason);
  const snapshot = parseStored(stored.snapshot);
  const reasons = { unmatched_reason, cause_reason, rejected_reason };
  const current = { revision, cause, at: timestampOf(received_at), patient_fp, ...reasons };
  const source = parseStored(stored.source);
  return [...earlier, { ...current, ...sampleIds(source), source, study: inPublishedOrder(toStudy(stored)), snapshot }];
}

const clinicFp = query((db, p: { id: number }) => db.selectFrom("clinic").select("fp").where("id", "=", p.id));

const revisionsOf = query((db, p: { studyId: number }) =>
  db
    .selectFrom("study_revision")
    .select(["revision", "body", "received_at"])
    .where("study_id", "=", p.studyId)
    .orderBy("revision"),
);

/** Whether a user of the clinic typed the study, by its first revision. A device corrects its own studies. */
export function isTyped([first]: readonly HistoryEntry[], { clinic_id }: StoredStudy, clinicId: number): boolean {
  return first?.cause === "entered" && clinic_id === clinicId;
}
