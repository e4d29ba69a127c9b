import { sql } from "kysely";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";

// Studies that a user of a clinic saw. A later revision, or a later conflict, is unseen again.

interface Seeing {
  fp: string;
  /** The revision that the page showed. A later one is not seen. */
  revision: number;
  clinicId: number;
  userId: number;
  now: number;
}

/**
 * Notes that a user of the clinic saw a revision of a study and its conflicts. A revision keeps its first user.
 * @returns false if the clinic may not open the study and its agents sent no conflict with it
 */
export async function markSeen(store: Store, { fp, revision: shown, clinicId, userId, now }: Seeing): Promise<boolean> {
  const study = await openable(store, fp, clinicId);
  if (study === undefined) return false;
  if (!study.isSeen) {
    const { id: studyId } = study;
    const revision = Math.min(shown, study.revision);
    await store.transaction((session) => markSeenIn(session, { studyId, revision, clinicId, userId, now }));
  }
  return true;
}

/** Notes that a user saw a revision of a study that the clinic may open. Run it in a transaction. */
export async function markSeenIn(
  session: Session,
  { studyId, revision, clinicId, userId, now }: Omit<Seeing, "fp"> & { studyId: number },
): Promise<void> {
  await session.all(upsert, { studyId, revision, clinicId, userId, now });
  await session.all(noteForAlerts, { clinicId, now });
}

async function openable(
  session: Session,
  fp: string,
  clinicId: number,
): Promise<{ id: number; revision: number; isSeen: boolean } | undefined> {
  const row = await session.first(forClinic, { fp, clinicId });
  if (row === undefined) return undefined;
  const { id, revision, conflict_at, seen_revision, seen_at } = row;
  const isOwnUnmatched = row.patient_id === null && row.clinic_id === clinicId;
  if (row.linked_patient_id === null && !isOwnUnmatched && conflict_at === null) return undefined;
  return { id, revision, isSeen: (seen_revision ?? 0) >= revision && (seen_at ?? 0) >= (conflict_at ?? 0) };
}

const forClinic = query((db, p: { fp: string; clinicId: number }) =>
  db
    .selectFrom("study")
    .leftJoin("clinic_patient as link", (join) =>
      join
        .onRef("link.patient_id", "=", "study.patient_id")
        .on("link.clinic_id", "=", p.clinicId)
        .on("link.listed", "=", 1),
    )
    .leftJoin("study_seen as seen", (join) =>
      join.onRef("seen.study_id", "=", "study.id").on("seen.clinic_id", "=", p.clinicId),
    )
    .select(["study.id", "study.revision", "study.clinic_id", "study.patient_id"])
    .select(["link.patient_id as linked_patient_id", "seen.revision as seen_revision", "seen.seen_at"])
    .select((select) =>
      select
        .selectFrom("study_conflict as conflict")
        .select((conflict) => conflict.fn.max("conflict.received_at").as("at"))
        .whereRef("conflict.study_id", "=", "study.id")
        .where("conflict.clinic_id", "=", p.clinicId)
        .as("conflict_at"),
    )
    .where("study.fp", "=", p.fp),
);

/** An alert about a critical value ends here. Its clinic has a row, and no version of the clinic rises. */
const noteForAlerts = uncachedWrite((db, p: { clinicId: number; now: number }) =>
  db
    .updateTable("clinic_alerts")
    .set({ changed_at: sql`case when changed_at < ${p.now} then cast(${p.now} as bigint) else changed_at + 1 end` })
    .where("clinic_id", "=", p.clinicId),
);

const upsert = uncachedWrite(
  (db, p: { studyId: number; revision: number; clinicId: number; userId: number; now: number }) =>
    db
      .insertInto("study_seen")
      .values({
        clinic_id: p.clinicId,
        study_id: p.studyId,
        revision: p.revision,
        seen_at: p.now,
        user_id: p.userId,
      })
      .onConflict((conflict) =>
        conflict
          .columns(["clinic_id", "study_id"])
          .doUpdateSet({ revision: p.revision, seen_at: p.now, user_id: p.userId }),
      ),
);
