import { query, type Session, uncachedWrite } from "../../database/query.ts";

// Browsers in which users signed in before. The store holds a digest of each cookie, which all users of the browser share.

/** Tries with a cookie, since the user's last sign-in with it. Later ones count as those of a stranger. */
const BROWSER_TRIES_MAX = 10;

/** Time for which a browser is known after a sign-in: as long as browsers keep a cookie (RFC 6265bis §5.5). */
export const KNOWN_MS = 400 * 86_400_000;

/** Max browsers of a user. */
const BROWSERS_MAX = 100;

/** @returns whether somebody signed in with the cookie, and not so long ago that it is forgotten */
export async function isKnownBrowser(session: Session, digest: string, now: number): Promise<boolean> {
  return (await session.first(byDigest, { digest, since: now - KNOWN_MS })) !== undefined;
}

/**
 * Counts a try with a cookie. Needs a transaction. `signInName` is that of the user who is meant.
 * @returns the number of tries; undefined if it is not a cookie of that user, or has ended
 */
export async function takeBrowserTry(
  session: Session,
  { digest, signInName, now }: { digest: string; signInName: string; now: number },
): Promise<number | undefined> {
  return (await session.first(countTry, { digest, signInName, since: now - KNOWN_MS }))?.tries;
}

export async function forgetBrowsersOf(session: Session, userId: number): Promise<void> {
  await session.all(forget, { userId });
}

/** Notes a sign-in. The cookie that the browser had is replaced, also for its other users. Needs a transaction. */
export async function insertKnownBrowser(
  session: Session,
  { userId, digest, replaced, now }: { userId: number; digest: string; replaced: string | null; now: number },
): Promise<void> {
  if (replaced !== null) {
    await session.all(removeOne, { digest: replaced, userId });
    await session.all(rotate, { digest, replaced });
  }
  await session.all(insert, { digest, userId, now });
  await session.all(removeOldest, { userId, kept: BROWSERS_MAX });
}

const byDigest = query((db, p: { digest: string; since: number }) =>
  db
    .selectFrom("known_browser")
    .select("user_id")
    .where("digest", "=", p.digest)
    .where("signed_in_at", ">", p.since)
    .limit(1),
);

const countTry = uncachedWrite((db, p: { digest: string; signInName: string; since: number }) =>
  db
    .updateTable("known_browser")
    .set((set) => ({ tries: set("tries", "+", 1) }))
    .where("digest", "=", p.digest)
    .where("signed_in_at", ">", p.since)
    .where("tries", "<", BROWSER_TRIES_MAX)
    .where("user_id", "in", (users) =>
      users
        .selectFrom("dashboard_user")
        .select("id")
        .where("sign_in_name", "=", p.signInName)
        .where("disabled_at", "is", null),
    )
    .returning("tries"),
);

const removeOne = uncachedWrite((db, p: { digest: string; userId: number }) =>
  db.deleteFrom("known_browser").where("digest", "=", p.digest).where("user_id", "=", p.userId),
);

const rotate = uncachedWrite((db, p: { digest: string; replaced: string }) =>
  db.updateTable("known_browser").set({ digest: p.digest }).where("digest", "=", p.replaced),
);

const insert = uncachedWrite((db, p: { digest: string; userId: number; now: number }) =>
  db.insertInto("known_browser").values({ digest: p.digest, user_id: p.userId, tries: 0, signed_in_at: p.now }),
);

const forget = uncachedWrite((db, p: { userId: number }) =>
  db.deleteFrom("known_browser").where("user_id", "=", p.userId),
);

const removeOldest = uncachedWrite((db, p: { userId: number; kept: number }) =>
  db
    .deleteFrom("known_browser")
    .where("user_id", "=", p.userId)
    .where("digest", "not in", (kept) =>
      kept
        .selectFrom("known_browser")
        .select("digest")
        .where("user_id", "=", p.userId)
        .orderBy("signed_in_at", "desc")
        .limit(p.kept),
    ),
);
