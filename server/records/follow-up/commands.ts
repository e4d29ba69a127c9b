import type { FollowUpEventKind } from "../../dashboard/types/results/follow-up.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// Commands of a user on a follow-up. Each command is a row of its history; one that changes nothing leaves none. Run them in a
// transaction that checked the user's clinic and the study.

export interface FollowUpActor {
  readonly clinicId: number;
  readonly studyId: number;
  readonly userId: number;
  readonly now: number;
}

/** Makes a member responsible, or nobody. A follow-up that was done is open again. */
export async function assign(session: Session, actor: FollowUpActor, memberId: number | null): Promise<void> {
  const before = await session.first(stateOf, actor);
  if (before?.done_at === null && before.responsible_id === memberId) return;
  if (before === undefined && memberId === null) return;
  await session.all(storeResponsible, { ...actor, memberId, assignedAt: memberId === null ? null : actor.now });
  await session.all(note, { ...actor, kind: "assigned", memberId, words: null });
}

/** Adds a remark. It makes nobody responsible. */
export async function remark(session: Session, actor: FollowUpActor, text: string): Promise<void> {
  await session.all(note, { ...actor, kind: "remark", memberId: null, words: text });
}

export async function finish(session: Session, actor: FollowUpActor): Promise<void> {
  if ((await session.first(stateOf, actor))?.done_at != null) return;
  await session.all(storeDone, actor);
  await session.all(note, { ...actor, kind: "done", memberId: null, words: null });
}

/** Undoes finish(). */
export async function reopen(session: Session, actor: FollowUpActor): Promise<void> {
  if ((await session.first(stateOf, actor))?.done_at == null) return;
  await session.all(openAgain, actor);
  await session.all(note, { ...actor, kind: "reopened", memberId: null, words: null });
}

const stateOf = query((db, p: FollowUpActor) =>
  db
    .selectFrom("follow_up")
    .select(["responsible_id", "done_at"])
    .where("clinic_id", "=", p.clinicId)
    .where("study_id", "=", p.studyId),
);

// The read API shows no follow-up.
const storeResponsible = uncachedWrite(
  (db, p: FollowUpActor & { memberId: number | null; assignedAt: number | null }) =>
    db
      .insertInto("follow_up")
      .values({
        clinic_id: p.clinicId,
        study_id: p.studyId,
        responsible_id: p.memberId,
        opened_at: p.now,
        assigned_at: p.assignedAt,
        done_at: null,
      })
      .onConflict((conflict) =>
        conflict
          .columns(["clinic_id", "study_id"])
          .doUpdateSet({ responsible_id: p.memberId, assigned_at: p.assignedAt, done_at: null }),
      ),
);

const storeDone = uncachedWrite((db, p: FollowUpActor) =>
  db
    .insertInto("follow_up")
    .values({
      clinic_id: p.clinicId,
      study_id: p.studyId,
      responsible_id: null,
      opened_at: p.now,
      assigned_at: null,
      done_at: p.now,
    })
    .onConflict((conflict) => conflict.columns(["clinic_id", "study_id"]).doUpdateSet({ done_at: p.now })),
);

const openAgain = uncachedWrite((db, p: FollowUpActor) =>
  db
    .updateTable("follow_up")
    .set({ done_at: null, opened_at: p.now })
    .where("clinic_id", "=", p.clinicId)
    .where("study_id", "=", p.studyId),
);

const note = uncachedWrite(
  (db, p: FollowUpActor & { kind: FollowUpEventKind; memberId: number | null; words: string | null }) =>
    db.insertInto("follow_up_event").values({
      clinic_id: p.clinicId,
      study_id: p.studyId,
      at: p.now,
      kind: p.kind,
      user_id: p.userId,
      member_id: p.memberId,
      words: p.words,
    }),
);
