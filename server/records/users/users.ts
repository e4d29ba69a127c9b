import type { Kysely } from "kysely";
import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { newUlid } from "../../../shared/api/fp.ts";
import { readUnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { NOT_RUN_HOURS } from "../../dashboard/types/settings/clinic-settings.ts";
import type { ClinicOfUser, Role } from "../../dashboard/types/settings/session.ts";
import type { Tables } from "../../database/schema.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { confirms } from "../patients/connection-requests.ts";
import { forgetBrowsersOf } from "./known-browsers.ts";
import { countRecoveryCodes, setSecondFactor } from "./second-factors.ts";
import { removeSessionsOf } from "./sessions.ts";

// Users of the dashboard and the clinics they belong to.

/** Stored in place of a password for a user who signs in through a provider alone. No password fits it. */
export const NO_PASSWORD = "none";

export interface StoredUser {
  id: number;
  public_id: string;
  name: string;
  password: string;
  totp_secret: string | null;
  totp_last_step: number | null;
  factors_ended_at: number | null;
  disabled_at: number | null;
  /** 1 for an operator of the server. */
  is_operator: number;
}

/**
 * Compares names without letter case, as a user types them. The Turkish `İ` and `ı` count as `i`: a phone capitalises `ipek`
 * to `İpek`, and lower case without a language turns `IŞIL` into `işil`.
 */
export function signInName(name: string): string {
  const lower = name.trim().normalize("NFC").toLowerCase();
  return lower.replaceAll("i\u0307", "i").replaceAll("ı", "i").replaceAll(/\s+/g, " ");
}

/** Counts the users of clinics. */
export async function countUsers(session: Session): Promise<number> {
  return (await session.first(count, {}))?.total ?? 0;
}

/** Finds a user by the name that the user typed, disabled users included. */
export async function findUserByName(session: Session, name: string): Promise<StoredUser | undefined> {
  return session.first(byName, { name: signInName(name) });
}

/** Finds a user by id, disabled users included. */
export async function findUser(session: Session, id: number): Promise<StoredUser | undefined> {
  return session.first(byId, { id });
}

/** Gives a user another password. What was tried with the earlier one is over, and no browser is known any more. */
export async function setPassword(session: Session, id: number, password: string): Promise<void> {
  await session.all(updatePassword, { id, password });
  await forgetBrowsersOf(session, id);
}

/** Gives a user another password, ends the sessions and switches the second factor off: the phone may be lost too. */
export async function resetUser(session: Session, id: number, password: string): Promise<void> {
  await setPassword(session, id, password);
  await setSecondFactor(session, id, null);
  await removeSessionsOf(session, id);
}

/** Disables a user, or enables the user with null. */
export async function setDisabled(session: Session, id: number, disabledAt: number | null): Promise<void> {
  await session.all(updateDisabled, { id, disabledAt });
}

/** Stores a user. Needs a transaction. @returns the ids, or undefined if the name is taken */
export async function insertUser(
  session: Session,
  user: { name: string; password: string; now: number; isOperator?: boolean },
): Promise<{ id: number; public_id: string } | undefined> {
  if ((await findUserByName(session, user.name)) !== undefined) return undefined;
  return session.first(insert, {
    publicId: `usr_${newUlid()}`,
    name: user.name.trim(),
    signInName: signInName(user.name),
    password: user.password,
    now: user.now,
    isOperator: user.isOperator === true ? 1 : 0,
  });
}

/** Gives a user a role in a clinic, or changes it. */
export async function setRole(session: Session, userId: number, clinicId: number, role: Role): Promise<void> {
  await session.all(upsertRole, { userId, clinicId, role });
}

/** A user in the output of `users list`. */
export interface UserDescription {
  id: string;
  name: string;
  clinics: { fp: string; name: string; role: Role }[];
  second_factor: boolean;
  /** Unused ones. */
  recovery_codes: number;
  /** When ten wrong codes had followed the right password; null if they did not. */
  password_known_at: string | null;
  created_at: string;
  disabled_at: string | null;
}

/** Lists all users of clinics by name. */
export async function describeUsers(session: Session): Promise<UserDescription[]> {
  const users = await session.all(allUsers, { isOperator: 0 });
  return Promise.all(
    users.map(async ({ id, public_id, name, totp_secret, factors_ended_at, created_at, disabled_at }) => ({
      id: public_id,
      name,
      clinics: (await clinicsOfUser(session, id)).map(({ fp, name: clinic, role }) => ({ fp, name: clinic, role })),
      second_factor: totp_secret !== null,
      recovery_codes: await countRecoveryCodes(session, id),
      password_known_at: timestampOrNull(factors_ended_at),
      created_at: new Date(created_at).toISOString(),
      disabled_at: timestampOrNull(disabled_at),
    })),
  );
}

/** Lists the operators of the server by name. */
export async function listOperators(session: Session) {
  return session.all(allUsers, { isOperator: 1 });
}

export interface Membership extends ClinicOfUser {
  clinic_id: number;
  /** When the operator suspended the clinic; null while it is served. */
  suspended_at: number | null;
}

/** Lists the clinics of a user by name. */
export async function clinicsOfUser(session: Session, userId: number): Promise<Membership[]> {
  return asMemberships(await session.all(memberships, { userId }));
}

/** A look may begin at a server whose clock is ahead by this. */
const CLOCKS_MS = 60_000;

/** Lists the clinics that a user may open now: the own ones. An operator has none, and reads those of a look that has begun. */
export async function clinicsOpenTo(session: Session, userId: number, now: number): Promise<Membership[]> {
  const own = await clinicsOfUser(session, userId);
  if (own.length > 0) return own;
  const rows = await session.all(supported, { userId, now, begun: now + CLOCKS_MS });
  return asMemberships(rows.map((row) => ({ ...row, role: "reader" })));
}

type MembershipRow = Omit<Membership, "confirms_connections" | "not_run_hours" | "units"> & {
  confirms: number;
  not_run_hours: number | null;
  units: string | null;
};

function asMemberships(rows: readonly MembershipRow[]): Membership[] {
  return rows.map(({ confirms: stored, not_run_hours: hours, units, ...clinic }) => ({
    ...{ ...clinic, confirms_connections: stored === 1, not_run_hours: hours ?? NOT_RUN_HOURS.usual },
    units: readUnitChoice(units),
  }));
}

const count = query((db) =>
  db
    .selectFrom("dashboard_user")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("is_operator", "=", 0),
);

const userColumns = [
  ...(["id", "public_id", "name", "password", "disabled_at", "is_operator"] as const),
  ...(["totp_secret", "totp_last_step", "factors_ended_at"] as const),
] as const;

const byName = query((db, p: { name: string }) =>
  db.selectFrom("dashboard_user").select(userColumns).where("sign_in_name", "=", p.name),
);

const byId = query((db, p: { id: number }) =>
  db.selectFrom("dashboard_user").select(userColumns).where("id", "=", p.id),
);

const allUsers = query((db, p: { isOperator: number }) =>
  db
    .selectFrom("dashboard_user")
    .select(["id", "public_id", "name", "totp_secret", "factors_ended_at", "created_at", "disabled_at"])
    .where("is_operator", "=", p.isOperator)
    .orderBy("sign_in_name"),
);

const updatePassword = uncachedWrite((db, p: { id: number; password: string }) =>
  db
    .updateTable("dashboard_user")
    .set({ password: p.password, wrong_factors: 0, factors_ended_at: null })
    .where("id", "=", p.id),
);

const updateDisabled = uncachedWrite((db, p: { id: number; disabledAt: number | null }) =>
  db.updateTable("dashboard_user").set({ disabled_at: p.disabledAt }).where("id", "=", p.id),
);

const insert = uncachedWrite(
  (db, p: { publicId: string; name: string; signInName: string; password: string; now: number; isOperator: number }) =>
    db
      .insertInto("dashboard_user")
      .values({
        public_id: p.publicId,
        name: p.name,
        sign_in_name: p.signInName,
        password: p.password,
        created_at: p.now,
        is_operator: p.isOperator,
      })
      .returning(["id", "public_id"]),
);

const upsertRole = uncachedWrite((db, p: { userId: number; clinicId: number; role: Role }) =>
  db
    .insertInto("dashboard_user_clinic")
    .values({ user_id: p.userId, clinic_id: p.clinicId, role: p.role })
    .onConflict((conflict) => conflict.columns(["user_id", "clinic_id"]).doUpdateSet({ role: p.role })),
);

const memberships = query((db, p: { userId: number }) =>
  openClinics(db)
    .innerJoin("dashboard_user_clinic as membership", "membership.clinic_id", "clinic.id")
    .select("membership.role")
    .where("membership.user_id", "=", p.userId)
    .orderBy("clinic.name")
    .orderBy("clinic.fp"),
);

const supported = query((db, p: { userId: number; now: number; begun: number }) =>
  openClinics(db)
    .where("clinic.id", "in", (begun) =>
      begun
        .selectFrom("support_access")
        .select("clinic_id")
        .where("user_id", "=", p.userId)
        .where("begins_at", "<=", p.begun)
        .where("ends_at", ">", p.now),
    )
    .orderBy("clinic.name")
    .orderBy("clinic.fp"),
);

function openClinics(db: Kysely<Tables>) {
  return db
    .selectFrom("clinic")
    .leftJoin("clinic_settings as settings", "settings.clinic_id", "clinic.id")
    .select(["clinic.id as clinic_id", "clinic.fp", "clinic.name"])
    .select(["clinic.suspended_at", "settings.language", "settings.time_zone", confirms.as("confirms")])
    .select(["settings.not_run_hours", "settings.viewer_template", "settings.units"]);
}
