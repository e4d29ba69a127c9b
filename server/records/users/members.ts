import type { Role } from "../../dashboard/types/settings/session.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// The users of one clinic.

export interface Member {
  id: number;
  public_id: string;
  name: string;
  role: Role;
  disabled_at: number | null;
  totp_secret: string | null;
  factors_ended_at: number | null;
}

/** Lists the users of a clinic by name, with their sessions that have not ended. */
export async function listMembers(session: Session, clinicId: number, now: number) {
  return session.all(all, { clinicId, now });
}

/** Finds a user of a clinic. A user of other clinics alone is not found. */
export async function findMember(session: Session, clinicId: number, publicId: string): Promise<Member | undefined> {
  return session.first(one, { clinicId, publicId });
}

/** Removes a user from a clinic. The account stays, and so do other clinics. */
export async function removeMember(session: Session, clinicId: number, userId: number): Promise<void> {
  await session.all(remove, { clinicId, userId });
}

/** Lists the clinics of each of the clinic's users, as pairs. */
export async function clinicsOfMembers(session: Session, clinicId: number) {
  return session.all(clinicsOf, { clinicId });
}

/** Lists the ids of the admins of a clinic who can sign in. */
export async function adminsOf(session: Session, clinicId: number): Promise<number[]> {
  return (await session.all(admins, { clinicId })).map(({ user_id }) => user_id);
}

const memberColumns = [
  ...(["user.id", "user.public_id", "user.name", "membership.role"] as const),
  ...(["user.disabled_at", "user.totp_secret", "user.factors_ended_at"] as const),
] as const;

const all = query((db, p: { clinicId: number; now: number }) =>
  db
    .selectFrom("dashboard_user_clinic as membership")
    .innerJoin("dashboard_user as user", "user.id", "membership.user_id")
    .leftJoin("dashboard_session as session", (join) =>
      join.onRef("session.user_id", "=", "user.id").on("session.expires_at", ">", p.now),
    )
    .select(memberColumns)
    .select(({ fn }) => [
      fn.count<number>("session.id").as("sessions"),
      fn.max<number | null>("session.last_used_at").as("last_used_at"),
    ])
    .where("membership.clinic_id", "=", p.clinicId)
    .groupBy(memberColumns)
    .groupBy("user.sign_in_name")
    .orderBy("user.sign_in_name"),
);

const one = query((db, p: { clinicId: number; publicId: string }) =>
  db
    .selectFrom("dashboard_user_clinic as membership")
    .innerJoin("dashboard_user as user", "user.id", "membership.user_id")
    .select(memberColumns)
    .where("membership.clinic_id", "=", p.clinicId)
    .where("user.public_id", "=", p.publicId),
);

const remove = uncachedWrite((db, p: { clinicId: number; userId: number }) =>
  db.deleteFrom("dashboard_user_clinic").where("clinic_id", "=", p.clinicId).where("user_id", "=", p.userId),
);

const clinicsOf = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("dashboard_user_clinic as here")
    .innerJoin("dashboard_user_clinic as membership", "membership.user_id", "here.user_id")
    .select(["membership.user_id", "membership.clinic_id"])
    .where("here.clinic_id", "=", p.clinicId),
);

const admins = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("dashboard_user_clinic as membership")
    .innerJoin("dashboard_user as user", "user.id", "membership.user_id")
    .select("membership.user_id")
    .where("membership.clinic_id", "=", p.clinicId)
    .where("membership.role", "=", "admin")
    .where("user.disabled_at", "is", null),
);

/** Selects the users of all clinics after whose password ten wrong second factors came. */
export const knownPasswords = query((db) =>
  db
    .selectFrom("dashboard_user as user")
    .innerJoin("dashboard_user_clinic as membership", "membership.user_id", "user.id")
    .select((select) => [
      "membership.clinic_id",
      "user.public_id",
      "user.name",
      select.fn.coalesce("user.factors_ended_at", select.lit(0)).as("since"),
    ])
    .where("user.factors_ended_at", "is not", null)
    .where("user.disabled_at", "is", null)
    .orderBy("user.id"),
);
