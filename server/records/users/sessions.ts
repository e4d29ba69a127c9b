import { newUlid } from "../../../shared/api/fp.ts";
import type { Realm } from "../../dashboard/types/settings/session.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// Sessions of the dashboard. The store holds a digest of each cookie, so that a copy of the database signs nobody in.

/** A session that still works, with its user. */
export interface StoredSession {
  id: number;
  public_id: string;
  user_id: number;
  user_public_id: string;
  user_name: string;
  has_second_factor: boolean;
  created_at: number;
  last_used_at: number;
}

export interface NewSession {
  digest: string;
  userId: number;
  /** The default is the dashboard. */
  realm?: Realm;
  now: number;
  expiresAt: number;
  address: string;
  browser: string | null;
  /** The provider that signed the user in, and its session; absent for a password. */
  oidc?: ProviderSession;
}

export interface ProviderSession {
  readonly issuer: string;
  readonly sid: string | null;
}

/** Max sessions of a user. A clinic may share one user, but a program that signs in again and again must not fill the table. */
const SESSIONS_MAX = 100;

/** A session that was used further ahead has ended: the clock was set back, and its end lies too far ahead as well. */
const AHEAD_MS_MAX = 12 * 3_600_000;
/** A session used still further ahead is removed, or it would work again at that time. */
const REMOVED_AHEAD_MS = 30 * 24 * 3_600_000;

/** Stores a session. Removes ended ones of all users, and those of this user that were unused for longest. @returns its id */
export async function insertSession(session: Session, wanted: NewSession): Promise<number> {
  await session.all(removeEnded, { now: wanted.now, farAhead: wanted.now + REMOVED_AHEAD_MS });
  await session.all(removeUnused, { userId: wanted.userId, kept: SESSIONS_MAX - 1 });
  const row = await session.first(insert, {
    ...{ realm: "clinic" as const, ...wanted, publicId: `ses_${newUlid()}` },
    ...{ oidcIssuer: wanted.oidc?.issuer ?? null, oidcSid: wanted.oidc?.sid ?? null },
  });
  if (row === undefined) throw new Error("an insert returned no row");
  return row.id;
}

/** Finds a session that has neither ended nor a disabled user, by the digest of its cookie. */
export async function findSession(
  session: Session,
  digest: string,
  now: number,
  realm: Realm = "clinic",
): Promise<StoredSession | undefined> {
  const row = await session.first(byDigest, { digest, realm, now, farAhead: now + AHEAD_MS_MAX });
  if (row === undefined) return undefined;
  const { totp_secret, ...found } = row;
  return { ...found, has_second_factor: totp_secret !== null };
}

/** Notes the use of a session, and the new end that follows from it. */
export async function touchSession(session: Session, id: number, now: number, expiresAt: number): Promise<void> {
  await session.all(touch, { id, now, expiresAt });
}

export async function removeSession(session: Session, id: number): Promise<void> {
  await session.all(remove, { id });
}

/** Ends all sessions of a user, or all but one. */
export async function removeSessionsOf(session: Session, userId: number, exceptId?: number): Promise<void> {
  await session.all(removeOfUser, { userId, exceptId: exceptId ?? 0 });
}

/** Ends one session of a user. @returns its id, or undefined if the user has no such session */
export async function removeSessionOf(session: Session, userId: number, publicId: string): Promise<number | undefined> {
  return (await session.first(removeByPublicId, { userId, publicId }))?.id;
}

/** Lists the sessions of a user that have not ended, the last used first. */
export async function listSessionsOf(session: Session, userId: number, now: number) {
  return session.all(ofUser, { userId, now, farAhead: now + AHEAD_MS_MAX });
}

const insert = uncachedWrite(
  (db, p: NewSession & { realm: Realm; publicId: string; oidcIssuer: string | null; oidcSid: string | null }) =>
    db
      .insertInto("dashboard_session")
      .values({
        public_id: p.publicId,
        digest: p.digest,
        user_id: p.userId,
        realm: p.realm,
        created_at: p.now,
        last_used_at: p.now,
        expires_at: p.expiresAt,
        address: p.address,
        browser: p.browser,
        oidc_issuer: p.oidcIssuer,
        oidc_sid: p.oidcSid,
      })
      .returning("id"),
);

const byDigest = query((db, p: { digest: string; realm: Realm; now: number; farAhead: number }) =>
  db
    .selectFrom("dashboard_session as session")
    .innerJoin("dashboard_user as user", "user.id", "session.user_id")
    .select(["session.id", "session.public_id", "session.user_id"])
    .select(["session.created_at", "session.last_used_at"])
    .select(["user.public_id as user_public_id", "user.name as user_name", "user.totp_secret"])
    .where("session.digest", "=", p.digest)
    .where("session.realm", "=", p.realm)
    .where("session.expires_at", ">", p.now)
    .where("session.last_used_at", "<=", p.farAhead)
    .where("user.disabled_at", "is", null),
);

const removeUnused = uncachedWrite((db, p: { userId: number; kept: number }) =>
  db
    .deleteFrom("dashboard_session")
    .where("user_id", "=", p.userId)
    .where("id", "not in", (kept) =>
      kept
        .selectFrom("dashboard_session")
        .select("id")
        .where("user_id", "=", p.userId)
        .orderBy("last_used_at", "desc")
        .orderBy("id", "desc")
        .limit(p.kept),
    ),
);

const touch = uncachedWrite((db, p: { id: number; now: number; expiresAt: number }) =>
  db.updateTable("dashboard_session").set({ last_used_at: p.now, expires_at: p.expiresAt }).where("id", "=", p.id),
);

const remove = uncachedWrite((db, p: { id: number }) => db.deleteFrom("dashboard_session").where("id", "=", p.id));

const removeOfUser = uncachedWrite((db, p: { userId: number; exceptId: number }) =>
  db.deleteFrom("dashboard_session").where("user_id", "=", p.userId).where("id", "!=", p.exceptId),
);

const removeByPublicId = uncachedWrite((db, p: { userId: number; publicId: string }) =>
  db
    .deleteFrom("dashboard_session")
    .where("user_id", "=", p.userId)
    .where("public_id", "=", p.publicId)
    .returning("id"),
);

const ofUser = query((db, p: { userId: number; now: number; farAhead: number }) =>
  db
    .selectFrom("dashboard_session")
    .select(["id", "public_id", "browser", "address", "created_at", "last_used_at"])
    .where("user_id", "=", p.userId)
    .where("expires_at", ">", p.now)
    .where("last_used_at", "<=", p.farAhead)
    .orderBy("last_used_at", "desc")
    .orderBy("id", "desc"),
);

const removeEnded = uncachedWrite((db, p: { now: number; farAhead: number }) =>
  db
    .deleteFrom("dashboard_session")
    .where((where) => where.or([where("expires_at", "<=", p.now), where("last_used_at", ">", p.farAhead)])),
);
