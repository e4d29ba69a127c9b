import type { FollowUp, FollowUpEvent } from "../../dashboard/types/results/follow-up.ts";
import { query, type Session } from "../../database/query.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";

// The follow-up of a study in a clinic, as its page shows it.

/** Reads the follow-up of a study that the clinic may open. */
export async function readFollowUp(
  session: Session,
  { clinicId, studyId }: { clinicId: number; studyId: number },
): Promise<FollowUp> {
  const state = await session.first(current, { clinicId, studyId });
  const events = await session.all(eventsOf, { clinicId, studyId });
  const seen = await session.first(seenOf, { clinicId, studyId });
  return {
    state: state === undefined ? "none" : state.done_at === null ? "open" : "done",
    responsible: state?.id == null || state.name === null ? null : { id: state.id, name: state.name },
    events: events.map(toEvent),
    members: await session.all(responsibleMembers, { clinicId }),
    seen: seen === undefined ? null : { by: seen.name, at: timestampOf(seen.seen_at) },
  };
}

function toEvent({ at, kind, by, member, words }: EventRow): FollowUpEvent {
  const isWorse = kind === "worse";
  return {
    at: timestampOf(at),
    kind,
    by,
    member,
    text: isWorse ? null : words,
    worse: isWorse && words !== null ? (JSON.parse(words) as string[]) : [],
  };
}

interface EventRow extends Pick<FollowUpEvent, "kind" | "by" | "member"> {
  at: number;
  words: string | null;
}

const current = query((db, p: { clinicId: number; studyId: number }) =>
  db
    .selectFrom("follow_up")
    .leftJoin("dashboard_user as responsible", "responsible.id", "follow_up.responsible_id")
    .select(["follow_up.done_at", "responsible.public_id as id", "responsible.name"])
    .where("follow_up.clinic_id", "=", p.clinicId)
    .where("follow_up.study_id", "=", p.studyId),
);

const eventsOf = query((db, p: { clinicId: number; studyId: number }) =>
  db
    .selectFrom("follow_up_event as event")
    .leftJoin("dashboard_user as author", "author.id", "event.user_id")
    .leftJoin("dashboard_user as member", "member.id", "event.member_id")
    .select(["event.at", "event.kind", "event.words", "author.name as by", "member.name as member"])
    .where("event.clinic_id", "=", p.clinicId)
    .where("event.study_id", "=", p.studyId)
    .orderBy("event.id"),
);

const seenOf = query((db, p: { clinicId: number; studyId: number }) =>
  db
    .selectFrom("study_seen as seen")
    .innerJoin("study", "study.id", "seen.study_id")
    .innerJoin("dashboard_user as user", "user.id", "seen.user_id")
    .select(["user.name", "seen.seen_at"])
    .where("seen.clinic_id", "=", p.clinicId)
    .where("seen.study_id", "=", p.studyId)
    .where((where) => where("seen.revision", ">=", where.ref("study.revision"))),
);

const responsibleMembers = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("dashboard_user_clinic as membership")
    .innerJoin("dashboard_user as user", "user.id", "membership.user_id")
    .select(["user.public_id as id", "user.name"])
    .where("membership.clinic_id", "=", p.clinicId)
    .where("membership.role", "!=", "reader")
    .where("user.disabled_at", "is", null)
    .orderBy("user.sign_in_name"),
);
