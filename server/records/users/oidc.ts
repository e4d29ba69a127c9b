import type { Realm } from "../../dashboard/types/settings/session.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { ProviderSession } from "./sessions.ts";
import { findUser, type StoredUser } from "./users.ts";

// Users who sign in through a provider (OpenID Connect). A user is found by the issuer and the subject alone: whoever may choose a name
// or an e-mail address at the provider would otherwise become the user who has it here. A subject has a user of its own in each realm: an
// operator is never a user of a clinic too.

/** A person of a provider at the dashboard or at the operator's console. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly realm: Realm;
}

/** Finds the user of a subject, disabled users included. */
export async function findUserOfSubject(
  session: Session,
  { issuer, subject, realm }: Identity,
): Promise<StoredUser | undefined> {
  const rows = await session.all(bySubject, { issuer, subject });
  const row = rows.find((each) => each.realm === realm);
  return row && findUser(session, row.user_id);
}

/** Whether a user signs in through a provider. */
export async function isOfProvider(session: Session, userId: number): Promise<boolean> {
  return (await session.first(byUser, { userId })) !== undefined;
}

/** Needs a transaction, after `insertUser`. */
export async function insertIdentity(session: Session, identity: Identity, userId: number): Promise<void> {
  await session.all(insert, { ...identity, userId });
}

/** Finds what began a session at the provider; undefined for a session of a password. */
export async function findProviderSession(session: Session, sessionId: number): Promise<ProviderSession | undefined> {
  const { oidc_issuer: issuer = null, oidc_sid: sid = null } = (await session.first(ofSession, { sessionId })) ?? {};
  return issuer === null ? undefined : { issuer, sid };
}

/** Notes that something is used, which works once. Needs a transaction. @returns whether it was unused */
export async function spend(session: Session, digest: string, now: number, endsAt: number): Promise<boolean> {
  await session.all(removeEnded, { now });
  return (await session.first(insertSpent, { digest, endsAt })) !== undefined;
}

/**
 * Ends the sessions that a session of the provider started, or all that a subject of it did, in both realms; those of a password stay.
 * @returns how many ended
 */
export async function removeSessionsOfProvider(
  session: Session,
  { issuer, subject, sid }: { issuer: string; subject: string | null; sid: string | null },
): Promise<number> {
  if (subject === null) return (await session.all(removeBySid, { issuer, sid })).length;
  let ended = 0;
  for (const { user_id: userId } of await session.all(bySubject, { issuer, subject })) {
    const asked = { issuer, userId };
    const removed = sid === null ? session.all(removeByUser, asked) : session.all(removeByBoth, { ...asked, sid });
    ended += (await removed).length;
  }
  return ended;
}

const bySubject = query((db, p: { issuer: string; subject: string }) =>
  db
    .selectFrom("oidc_identity")
    .select(["realm", "user_id"])
    .where("issuer", "=", p.issuer)
    .where("subject", "=", p.subject),
);

const byUser = query((db, p: { userId: number }) =>
  db.selectFrom("oidc_identity").select("user_id").where("user_id", "=", p.userId),
);

const insert = uncachedWrite((db, p: Identity & { userId: number }) =>
  db.insertInto("oidc_identity").values({ issuer: p.issuer, subject: p.subject, realm: p.realm, user_id: p.userId }),
);

const ofSession = query((db, p: { sessionId: number }) =>
  db.selectFrom("dashboard_session").select(["oidc_issuer", "oidc_sid"]).where("id", "=", p.sessionId),
);

const removeEnded = uncachedWrite((db, p: { now: number }) =>
  db.deleteFrom("oidc_spent").where("ends_at", "<=", p.now),
);

const insertSpent = uncachedWrite((db, p: { digest: string; endsAt: number }) =>
  db
    .insertInto("oidc_spent")
    .values({ digest: p.digest, ends_at: p.endsAt })
    .onConflict((conflict) => conflict.column("digest").doNothing())
    .returning("digest"),
);

const removeByUser = uncachedWrite((db, p: { issuer: string; userId: number }) =>
  db
    .deleteFrom("dashboard_session")
    .where("user_id", "=", p.userId)
    .where("oidc_issuer", "=", p.issuer)
    .returning("id"),
);

const removeBySid = uncachedWrite((db, p: { issuer: string; sid: string | null }) =>
  db.deleteFrom("dashboard_session").where("oidc_sid", "=", p.sid).where("oidc_issuer", "=", p.issuer).returning("id"),
);

const removeByBoth = uncachedWrite((db, p: { issuer: string; userId: number; sid: string }) =>
  db
    .deleteFrom("dashboard_session")
    .where("user_id", "=", p.userId)
    .where("oidc_sid", "=", p.sid)
    .where("oidc_issuer", "=", p.issuer)
    .returning("id"),
);
