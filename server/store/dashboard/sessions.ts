import { newUlid } from "../../../shared/api/fp.ts";
import { noInvalidation, query, type Session } from "../database/query.ts";

// Sessions of the dashboard. The store holds a digest of each cookie, so that a copy of the database signs nobody in.

/** A session that still works, with its user. */
export interface StoredSession {
  id: number;
  public_id: string;
  user_id: number;
  user_public_id: string;
  user_name: string;
  has_second_factor: boolean;
  last_used_at: number;
}

export interface NewSession {
  digest: string;
  userId: number;
  now: number;
  expiresAt: number;
  address: string;
  browser: string | null;
}

export async function insertSession(session: Session, wanted: NewSession): Promise<void> {
  await session.all(removeEnded, { now: wanted.now });
  await session.all(insert, { ...wanted, publicId: `ses_${newUlid()}` });
}

/** Finds a session that has neither ended nor a disabled user, by the digest of its cookie. */
export async function findSession(session: Session, digest: string, now: number): Promise<StoredSession | undefined> {
  const row = await session.first(byDigest, { digest, now });
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

/** Ends all sessions of a user. */
export async function removeSessionsOf(session: Session, userId: number): Promise<void> {
  await session.all(removeOfUser, { userId });
}

const insert = query(
  (db, p: NewSession & { publicId: string }) =>
    db.insertInto("dashboard_session").values({
      public_id: p.publicId,
      digest: p.digest,
      user_id: p.userId,
      created_at: p.now,
      last_used_at: p.now,
      expires_at: p.expiresAt,
      address: p.address,
      browser: p.browser,
    }),
  noInvalidation,
);

const byDigest = query((db, p: { digest: string; now: number }) =>
  db
    .selectFrom("dashboard_session as session")
    .innerJoin("dashboard_user as user", "user.id", "session.user_id")
    .select(["session.id", "session.public_id", "session.user_id", "session.last_used_at"])
    .select(["user.public_id as user_public_id", "user.name as user_name", "user.totp_secret"])
    .where("session.digest", "=", p.digest)
    .where("session.expires_at", ">", p.now)
    .where("user.disabled_at", "is", null),
);

const touch = query(
  (db, p: { id: number; now: number; expiresAt: number }) =>
    db.updateTable("dashboard_session").set({ last_used_at: p.now, expires_at: p.expiresAt }).where("id", "=", p.id),
  noInvalidation,
);

const remove = query(
  (db, p: { id: number }) => db.deleteFrom("dashboard_session").where("id", "=", p.id),
  noInvalidation,
);

const removeOfUser = query(
  (db, p: { userId: number }) => db.deleteFrom("dashboard_session").where("user_id", "=", p.userId),
  noInvalidation,
);

const removeEnded = query(
  (db, p: { now: number }) => db.deleteFrom("dashboard_session").where("expires_at", "<=", p.now),
  noInvalidation,
);
