import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { StudyCause, StudyColumns, Tables } from "../../database/schema.ts";
import { readResults } from "./stored-results.ts";
import { worseAnalytes } from "./worse-values.ts";

// Tells the follow-ups of a study about its new revision. They belong to the study, so that none of them ends with a revision.

/** Causes that change the record of the animal, not the animal. */
const SAME_ANIMAL: readonly StudyCause[] = ["merged", "patient deleted", "patient restored"];

/**
 * Notes at the follow-ups of a study that a value is worse, or that the study has another animal. One that was done is open again then.
 */
export async function noteAtFollowUps(
  session: Session,
  { id: studyId, ...before }: Pick<StudyColumns, "patient_id" | "results"> & { id: number },
  after: Pick<StudyColumns, "patient_id" | "results" | "cause">,
  now: number,
): Promise<void> {
  const isMoved = before.patient_id !== after.patient_id && !SAME_ANIMAL.includes(after.cause);
  const worse = worseAnalytes(readResults(before.results), readResults(after.results));
  if (!isMoved && worse.length === 0) return;
  for (const { clinic_id: clinicId } of await session.all(clinics, { studyId })) {
    const event = { studyId, clinicId, now };
    if (isMoved) await session.all(note, { ...event, kind: "moved", words: null });
    if (worse.length > 0) await session.all(note, { ...event, kind: "worse", words: JSON.stringify(worse) });
    await session.all(openAgain, event);
  }
}

const clinics = query((db, p: { studyId: number }) =>
  db.selectFrom("follow_up_event").select("clinic_id").where("study_id", "=", p.studyId).groupBy("clinic_id"),
);

// The read API shows no follow-up.
const note = uncachedWrite(
  (
    db,
    p: {
      clinicId: number;
      studyId: number;
      now: number;
      kind: Tables["follow_up_event"]["kind"];
      words: string | null;
    },
  ) =>
    db.insertInto("follow_up_event").values({
      clinic_id: p.clinicId,
      study_id: p.studyId,
      at: p.now,
      kind: p.kind,
      user_id: null,
      member_id: null,
      words: p.words,
    }),
);

const openAgain = uncachedWrite((db, p: { clinicId: number; studyId: number; now: number }) =>
  db
    .updateTable("follow_up")
    .set({ done_at: null, opened_at: p.now })
    .where("clinic_id", "=", p.clinicId)
    .where("study_id", "=", p.studyId)
    .where("done_at", "is not", null),
);
