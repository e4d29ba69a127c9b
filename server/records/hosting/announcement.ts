import type { Announcement } from "../../dashboard/types/operator.ts";
import type { Notice } from "../../dashboard/types/results/today.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// The notice of the operator for the users of all clinics. A new one takes the place of the last.

/** Reads the notice that is shown now; null without one. */
export async function noticeAt(session: Session, now: number): Promise<Notice | null> {
  const found = await session.first(unended, { now });
  if (found === undefined || found.from_at > now) return null;
  return { id: String(found.made_at), en: found.english, tr: found.turkish };
}

/** Reads the notice that is shown now or will be; null without one. */
export async function readAnnouncement(session: Session, now: number): Promise<Announcement | null> {
  const found = await session.first(unended, { now });
  if (found === undefined) return null;
  const { english, turkish, from_at, until_at } = found;
  return { english, turkish, from: new Date(from_at).toISOString(), until: new Date(until_at).toISOString() };
}

/** Announces, or ends what was announced with null. Needs a transaction. */
export async function announce(session: Session, announcement: Announcement | null, now: number): Promise<void> {
  await session.all(remove, {});
  if (announcement === null) return;
  const { english, turkish, from, until } = announcement;
  await session.all(insert, { now, english, turkish, from: Date.parse(from), until: Date.parse(until) });
}

const unended = query((db, p: { now: number }) =>
  db.selectFrom("announcement").selectAll().where("until_at", ">", p.now).orderBy("made_at", "desc").limit(1),
);

const remove = uncachedWrite((db) => db.deleteFrom("announcement"));

const insert = uncachedWrite((db, p: { now: number; english: string; turkish: string; from: number; until: number }) =>
  db.insertInto("announcement").values({
    ...{ made_at: p.now, english: p.english, turkish: p.turkish },
    ...{ from_at: p.from, until_at: p.until },
  }),
);
