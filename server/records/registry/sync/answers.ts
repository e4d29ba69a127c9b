import { query, type Session, uncachedWrite } from "../../../database/query.ts";

// Answers to requests with an Idempotency-Key, which their repetitions get.

export interface AnsweredRequest {
  readonly keyId: number;
  readonly idDigest: string;
  /** Digest of path and body. */
  readonly requestDigest: string;
  readonly answer: string;
}

const KEPT_MS = 24 * 3_600_000;

/** Kept answers of one key, the newest ones. An answer has at most some 100 kB. */
const ANSWERS_MAX = 200;

export async function findAnswer(
  session: Session,
  { keyId, idDigest, now }: Pick<AnsweredRequest, "keyId" | "idDigest"> & { readonly now: number },
): Promise<Pick<AnsweredRequest, "requestDigest" | "answer"> | undefined> {
  return session.first(kept, { keyId, idDigest, since: now - KEPT_MS });
}

/** Keeps an answer, and drops those beyond the bounds. Run it in the transaction of the request. */
export async function keepAnswer(session: Session, answered: AnsweredRequest, now: number): Promise<void> {
  await session.all(dropOld, { before: now - KEPT_MS });
  await session.all(insert, { ...answered, now });
  await session.all(dropBeyond, { keyId: answered.keyId });
}

const kept = query((db, p: { keyId: number; idDigest: string; since: number }) =>
  db
    .selectFrom("sync_answer")
    .select(["request_digest as requestDigest", "answer"])
    .where("api_key_id", "=", p.keyId)
    .where("id_digest", "=", p.idDigest)
    .where("answered_at", ">", p.since),
);

const insert = uncachedWrite((db, p: AnsweredRequest & { now: number }) =>
  db.insertInto("sync_answer").values({
    api_key_id: p.keyId,
    id_digest: p.idDigest,
    request_digest: p.requestDigest,
    answer: p.answer,
    answered_at: p.now,
  }),
);

const dropOld = uncachedWrite((db, p: { before: number }) =>
  db.deleteFrom("sync_answer").where("answered_at", "<=", p.before),
);

const dropBeyond = uncachedWrite((db, p: { keyId: number }) =>
  db
    .deleteFrom("sync_answer")
    .where("api_key_id", "=", p.keyId)
    .where("answered_at", "<=", (beyond) =>
      beyond
        .selectFrom("sync_answer as newer")
        .select("newer.answered_at")
        .where("newer.api_key_id", "=", p.keyId)
        .orderBy("newer.answered_at", "desc")
        .limit(1)
        .offset(beyond.lit(ANSWERS_MAX)),
    ),
);
