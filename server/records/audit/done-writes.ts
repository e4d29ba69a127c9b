import { query, type Session, uncachedWrite } from "../../database/query.ts";

// The writes of the dashboard that are done, each with the response for its repetition.

export interface DoneWrite {
  readonly userId: number;
  /** Digest of the id that the page gave the request. */
  readonly idDigest: string;
  /** Digest of method, path and body. */
  readonly requestDigest: string;
  /** Sealed with the id, so that a copy of the database does not open it; null if it was too long to be kept. */
  readonly answer: string | null;
}

/** Time for which a write is kept. */
const KEPT_MS = 24 * 3_600_000;

/** Kept writes of one user. The oldest go first. */
export const WRITES_MAX = 200;

/** @returns the user's write of this id, if it is kept */
export async function findDone(
  session: Session,
  { userId, idDigest, now }: Pick<DoneWrite, "userId" | "idDigest"> & { readonly now: number },
): Promise<Pick<DoneWrite, "requestDigest" | "answer"> | undefined> {
  return session.first(kept, { userId, idDigest, since: now - KEPT_MS });
}

/** Keeps a write, and drops those beyond the bounds. Run it in the transaction of the write. */
export async function keepDone(session: Session, done: DoneWrite, now: number): Promise<void> {
  await session.all(dropOld, { before: now - KEPT_MS });
  await session.all(insert, { ...done, now });
  await session.all(dropBeyond, { userId: done.userId });
}

const kept = query((db, p: { userId: number; idDigest: string; since: number }) =>
  db
    .selectFrom("done_write")
    .select(["request_digest as requestDigest", "answer"])
    .where("user_id", "=", p.userId)
    .where("id_digest", "=", p.idDigest)
    .where("done_at", ">", p.since),
);

const insert = uncachedWrite((db, p: DoneWrite & { now: number }) =>
  db.insertInto("done_write").values({
    user_id: p.userId,
    id_digest: p.idDigest,
    request_digest: p.requestDigest,
    answer: p.answer,
    done_at: p.now,
  }),
);

const dropOld = uncachedWrite((db, p: { before: number }) =>
  db.deleteFrom("done_write").where("done_at", "<=", p.before),
);

const dropBeyond = uncachedWrite((db, p: { userId: number }) =>
  db
    .deleteFrom("done_write")
    .where("user_id", "=", p.userId)
    .where("done_at", "<=", (beyond) =>
      beyond
        .selectFrom("done_write as newer")
        .select("newer.done_at")
        .where("newer.user_id", "=", p.userId)
        .orderBy("newer.done_at", "desc")
        .limit(1)
        .offset(beyond.lit(WRITES_MAX)),
    ),
);
