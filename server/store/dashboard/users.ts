import { newUlid } from "../../../shared/api/fp.ts";
import type { ClinicOfUser, Role } from "../../../shared/dashboard/session.ts";
import { noInvalidation, query, type Session } from "../database/query.ts";

// Users of the dashboard and the clinics they belong to.

export interface StoredUser {
  id: number;
  public_id: string;
  name: string;
  password: string;
  totp_secret: string | null;
  totp_last_step: number | null;
  disabled_at: number | null;
}

/** Compares names without letter case, as a user types them. */
export function signInName(name: string): string {
  return name.trim().normalize("NFC").toLowerCase();
}

export async function countUsers(session: Session): Promise<number> {
  return (await session.first(count, {}))?.total ?? 0;
}

/** Finds a user by the name that the user typed, disabled users included. */
export async function findUserByName(session: Session, name: string): Promise<StoredUser | undefined> {
  return session.first(byName, { name: signInName(name) });
}

/** Stores a user. Needs a transaction. @returns the ids, or undefined if the name is taken */
export async function insertUser(
  session: Session,
  user: { name: string; password: string; now: number },
): Promise<{ id: number; public_id: string } | undefined> {
  if ((await findUserByName(session, user.name)) !== undefined) return undefined;
  return session.first(insert, {
    publicId: `usr_${newUlid()}`,
    name: user.name.trim(),
    signInName: signInName(user.name),
    password: user.password,
    now: user.now,
  });
}

/** Gives a user a role in a clinic, or changes it. */
export async function setRole(session: Session, userId: number, clinicId: number, role: Role): Promise<void> {
  await session.all(upsertRole, { userId, clinicId, role });
}

export interface Membership extends ClinicOfUser {
  clinic_id: number;
}

/** Lists the clinics of a user by name. */
export async function clinicsOfUser(session: Session, userId: number): Promise<Membership[]> {
  return session.all(memberships, { userId });
}

const count = query((db) =>
  db.selectFrom("dashboard_user").select((select) => select.fn.countAll<number>().as("total")),
);

const byName = query((db, p: { name: string }) =>
  db
    .selectFrom("dashboard_user")
    .select(["id", "public_id", "name", "password", "totp_secret", "totp_last_step", "disabled_at"])
    .where("sign_in_name", "=", p.name),
);

const insert = query(
  (db, p: { publicId: string; name: string; signInName: string; password: string; now: number }) =>
    db
      .insertInto("dashboard_user")
      .values({
        public_id: p.publicId,
        name: p.name,
        sign_in_name: p.signInName,
        password: p.password,
        created_at: p.now,
      })
      .returning(["id", "public_id"]),
  noInvalidation,
);

const upsertRole = query(
  (db, p: { userId: number; clinicId: number; role: Role }) =>
    db
      .insertInto("dashboard_user_clinic")
      .values({ user_id: p.userId, clinic_id: p.clinicId, role: p.role })
      .onConflict((conflict) => conflict.columns(["user_id", "clinic_id"]).doUpdateSet({ role: p.role })),
  noInvalidation,
);

const memberships = query((db, p: { userId: number }) =>
  db
    .selectFrom("dashboard_user_clinic as membership")
    .innerJoin("clinic", "clinic.id", "membership.clinic_id")
    .leftJoin("clinic_settings as settings", "settings.clinic_id", "clinic.id")
    .select(["membership.clinic_id", "clinic.fp", "clinic.name", "membership.role"])
    .select(["settings.language", "settings.time_zone"])
    .where("membership.user_id", "=", p.userId)
    .orderBy("clinic.name")
    .orderBy("clinic.fp"),
);
