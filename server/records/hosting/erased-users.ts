import { sql } from "kysely";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { NO_PASSWORD } from "../users/users.ts";

// The users and keys of a clinic that leaves. Their rows stay as numbers, which the audit names: nothing opens with them any more.

/** Users that one request erases. */
export const USERS_AT_ONCE = 50;

/** Ends the keys of the clinic, and removes all that identifies them. @returns their number */
export async function voidKeys(session: Session, clinicId: number, now: number): Promise<number> {
  return (await session.all(keys, { clinicId, now })).length;
}

/** Removes members of the clinic, and the accounts of those who belong to no other one. @returns the numbers of both */
export async function eraseMembers(
  session: Session,
  clinicId: number,
  now: number,
): Promise<{ members: number; accounts: number }> {
  const members = await session.all(membersOf, { clinicId });
  let accounts = 0;
  for (const { user_id: id } of members) {
    await session.all(membership, { clinicId, id });
    if ((await session.all(account, { id, now })).length === 0) continue;
    accounts += 1;
    for (const remove of ofAccount) await session.all(remove, { id });
  }
  return { members: members.length, accounts };
}

const keys = uncachedWrite((db, p: { clinicId: number; now: number }) =>
  db
    .updateTable("api_key")
    .set({ name: "", permissions: "[]", prefix: "", last_four: "", digest: sql<string>`public_id` })
    .set({ revoked_at: sql<number>`coalesce(revoked_at, cast(${p.now} as bigint))` })
    .where("clinic_id", "=", p.clinicId)
    .returning("id"),
);

const membersOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("dashboard_user_clinic").select("user_id").where("clinic_id", "=", p.clinicId).limit(USERS_AT_ONCE),
);

const membership = uncachedWrite((db, p: { clinicId: number; id: number }) =>
  db.deleteFrom("dashboard_user_clinic").where("clinic_id", "=", p.clinicId).where("user_id", "=", p.id),
);

const account = uncachedWrite((db, p: { id: number; now: number }) =>
  db
    .updateTable("dashboard_user")
    .set({ name: sql<string>`public_id`, sign_in_name: sql<string>`public_id`, password: NO_PASSWORD })
    .set({ totp_secret: null, totp_last_step: null, disabled_at: p.now })
    .where("id", "=", p.id)
    .where("is_operator", "=", 0)
    .where((where) =>
      where.not(where.exists(where.selectFrom("dashboard_user_clinic").select("user_id").where("user_id", "=", p.id))),
    )
    .returning("id"),
);

const ofAccount = (
  [
    "recovery_code",
    "known_browser",
    "dashboard_session",
    "done_write",
    "oidc_identity",
  ] as const satisfies readonly (keyof Tables)[]
).map((table) => uncachedWrite((db, p: { id: number }) => db.deleteFrom(table).where("user_id", "=", p.id)));
