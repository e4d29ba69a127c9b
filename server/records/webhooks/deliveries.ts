import { sql } from "kysely";
import type { WebhookReason } from "../../dashboard/types/webhook-reasons.ts";
import type { PauseCode, WebhookEventType } from "../../dashboard/types/settings/webhooks.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { DeliveryColumns } from "../../database/schema.ts";
import type { Store } from "../../database/store.ts";

// The queue of deliveries, which several servers share. A server takes a delivery for the time of its lease, and writes the
// attempt before it sends. If it dies, the lease ends, and another server repeats the message under the same id.
//
// The deliveries of one record to one webhook go in the order of their ids, one after the other, so that none overtakes an earlier one.
// A later one that is due brings the attempt of the earliest forward, and waits with it if that fails.

/** An attempt that this server must make now. */
export interface ClaimedAttempt {
  readonly deliveryId: number;
  /** From 1. */
  readonly number: number;
  readonly webhookId: number;
  readonly webhookPublicId: string;
  readonly url: string;
  readonly secret: string;
  /** The secret before the last rotation; null once it has ended. */
  readonly oldSecret: string | null;
  readonly type: WebhookEventType;
  readonly fp: string;
  readonly changedAt: number;
  /** The request that caused the delivery; null if none did. */
  readonly traceparent: string | null;
}

/** How an attempt ended, and what follows. */
export interface EndedAttempt {
  readonly deliveryId: number;
  readonly number: number;
  readonly now: number;
  readonly status: number | null;
  /** Null after a success. */
  readonly why: WebhookReason | null;
  readonly state: "delivered" | "retrying" | "given-up";
  readonly nextAt: number;
  /** Whether the receiver wants no more messages. */
  readonly isGone: boolean;
  /** Pauses the webhook if it has failed since before this time; null if the clock is not to be trusted. */
  readonly failingBefore: number | null;
}

/** @returns the ids of webhooks that have something to send now; a paused one has not */
export async function dueWebhooks(session: Session, now: number): Promise<number[]> {
  const ids = new Set<number>();
  for (const span of dueSpans(now)) {
    for (const { id } of await session.all(due, { now, ...span })) ids.add(id);
  }
  return [...ids];
}

/** Takes at most `limit` due deliveries of a webhook, the longest due first, and at most one of a record. */
export async function claimDeliveries(
  store: Store,
  { webhookId, now, leaseMs, limit }: { webhookId: number; now: number; leaseMs: number; limit: number },
): Promise<ClaimedAttempt[]> {
  return store.transaction(async (session) => {
    const wanted = { webhookId, now, limit: limit * OF_RECORD_MAX };
    const [usual, farAhead] = dueSpans(now);
    const found = await session.all(firstsOfDue, { ...wanted, ...usual });
    found.push(...(await session.all(firstsOfDue, { ...wanted, ...farAhead })));
    const rows = [...new Map(found.map((row) => [row.id, row])).values()].slice(0, limit);
    const until = now + leaseMs;
    await session.each(
      claim,
      rows.map(({ id }) => ({ id, until })),
    );
    await session.each(
      insertAttempt,
      rows.map(({ id, attempts }) => ({ id, number: attempts + 1, now })),
    );
    return rows.map(
      ({
        id,
        attempts,
        public_id,
        url,
        secret,
        old_secret,
        old_secret_ends_at,
        type,
        fp,
        changed_at,
        traceparent,
      }) => ({
        deliveryId: id,
        number: attempts + 1,
        webhookId,
        webhookPublicId: public_id,
        url,
        secret,
        oldSecret: (old_secret_ends_at ?? 0) > now ? old_secret : null,
        type,
        fp,
        changedAt: changed_at,
        traceparent,
      }),
    );
  });
}

/**
 * Stores the end of an attempt, and pauses a webhook that is gone or has failed for too long. An attempt that outlived its lease
 * changes its own row alone. @returns why the webhook paused itself now; null if it did not
 */
export async function endAttempt(store: Store, ended: EndedAttempt): Promise<PauseCode | null> {
  return store.transaction(async (session) => {
    const reason = ended.why && JSON.stringify(ended.why);
    await session.all(updateAttempt, { ...ended, reason });
    const [delivery] = await session.all(updateDelivery, ended);
    if (delivery === undefined) return null;
    const { now, nextAt } = ended;
    const webhook = { id: delivery.webhook_id, now };
    if (ended.state === "delivered") {
      await session.all(noteSuccess, webhook);
      return null;
    }
    if (ended.state === "retrying") await session.all(waitTogether, { ...delivery, nextAt });
    await session.all(noteFailure, webhook);
    const { failingBefore: before, isGone } = ended;
    if (isGone) return (await session.all(pauseGone, webhook)).length > 0 ? "gone" : null;
    if (before === null) return null;
    return (await session.all(pauseFailing, { ...webhook, before })).length > 0 ? "no-success" : null;
  });
}

/** Deletes ended deliveries of changes before a time, with their attempts, and the secrets that ended. */
export async function pruneDeliveries(store: Store, { before, now }: { before: number; now: number }): Promise<void> {
  await store.transaction(async (session) => {
    await session.all(pruneAttempts, { before });
    await session.all(prune, { before });
    await session.all(forgetSecrets, { now });
  });
}

/** Longer than any delay between two attempts. A time further ahead comes from a clock that was set back. */
const DELAY_MS_MAX = 30 * 3_600_000;

/** Due deliveries of one record that a claim looks through, so that one record does not use up its limit. */
const OF_RECORD_MAX = 8;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The times of the next attempt that are due. Each is a range of an index, so that a check reads no others. */
function dueSpans(now: number): [Span, Span] {
  return [
    { from: 0, to: now },
    { from: now + DELAY_MS_MAX + 1, to: Number.MAX_SAFE_INTEGER },
  ];
}

/** Literal, because an index holds these rows alone. */
const UNFINISHED = sql`('new', 'sending', 'retrying')`;

/** The due deliveries of records without a request under way. An index has them by webhook and time. */
function isDue({ now, from, to }: Span & { readonly now: number }) {
  return sql<boolean>`
    delivery.state in ${UNFINISHED} and delivery.next_at >= ${from} and delivery.next_at <= ${to} and not exists (
      select 1 from webhook_delivery as other
      where other.webhook_id = delivery.webhook_id and other.fp = delivery.fp and other.state in ${UNFINISHED}
        and other.state = 'sending' and other.next_at > ${now} and other.next_at <= cast(${now} as bigint) + ${sql.lit(DELAY_MS_MAX)}
    )`;
}

const due = query((db, p: Span & { now: number }) =>
  db
    .selectFrom("webhook")
    .select("webhook.id")
    .where("webhook.paused", "=", 0)
    .where((where) =>
      where.exists(
        where
          .selectFrom("webhook_delivery as delivery")
          .select("delivery.id")
          .whereRef("delivery.webhook_id", "=", "webhook.id")
          .where(isDue(p)),
      ),
    ),
);

/** The first unfinished delivery of each record with a due one, the longest due first. One may occur several times. */
const firstsOfDue = query((db, p: Span & { webhookId: number; now: number; limit: number }) =>
  db
    .selectFrom("webhook_delivery as delivery")
    .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
    .innerJoin("webhook_delivery as first", (join) =>
      join.on(
        sql<boolean>`first.id = (
          select min(unfinished.id) from webhook_delivery as unfinished
          where unfinished.webhook_id = delivery.webhook_id and unfinished.fp = delivery.fp
            and unfinished.state in ${UNFINISHED}
        )`,
      ),
    )
    .select(["first.id", "first.attempts", "first.type", "first.fp", "first.changed_at", "first.traceparent"])
    .select(["webhook.public_id", "webhook.url"])
    .select(["webhook.secret", "webhook.old_secret", "webhook.old_secret_ends_at"])
    .where("delivery.webhook_id", "=", p.webhookId)
    .where(isDue(p))
    .where("webhook.paused", "=", 0)
    .orderBy("delivery.next_at")
    .orderBy("delivery.id")
    .limit(p.limit),
);

const claim = uncachedWrite((db, p: { id: number; until: number }) =>
  db
    .updateTable("webhook_delivery")
    .set((set) => ({ state: "sending", attempts: set("attempts", "+", 1), next_at: p.until }))
    .where("id", "=", p.id),
);

const insertAttempt = uncachedWrite((db, p: { id: number; number: number; now: number }) =>
  db
    .insertInto("webhook_attempt")
    .values({ delivery_id: p.id, number: p.number, started_at: p.now, ended_at: null, status: null, reason: null }),
);

const updateAttempt = uncachedWrite((db, p: EndedAttempt & { readonly reason: string | null }) =>
  db
    .updateTable("webhook_attempt")
    .set({ ended_at: p.now, status: p.status, reason: p.reason })
    .where("delivery_id", "=", p.deliveryId)
    .where("number", "=", p.number),
);

const updateDelivery = uncachedWrite((db, p: EndedAttempt) =>
  db
    .updateTable("webhook_delivery")
    .set({ state: p.state, next_at: p.nextAt })
    .where("id", "=", p.deliveryId)
    .where("attempts", "=", p.number)
    .returning(["id", "webhook_id", "fp"]),
);

/** Lets the later deliveries of a record wait for the next attempt of the earlier one. */
const waitTogether = uncachedWrite((db, p: { id: number; webhook_id: number; fp: string; nextAt: number }) =>
  db
    .updateTable("webhook_delivery as delivery")
    .set({ next_at: p.nextAt })
    .where("webhook_id", "=", p.webhook_id)
    .where("fp", "=", p.fp)
    .where(sql<boolean>`delivery.state in ${UNFINISHED}`)
    .where("id", ">", p.id)
    .where("next_at", "<", p.nextAt),
);

const noteSuccess = uncachedWrite((db, p: { id: number }) =>
  db.updateTable("webhook").set({ failing_since: null }).where("id", "=", p.id).where("failing_since", "is not", null),
);

/** Keeps the first time of a row of failures, unless a clock that was ahead wrote it. */
const noteFailure = uncachedWrite((db, p: { id: number; now: number }) =>
  db
    .updateTable("webhook")
    .set({ failing_since: p.now })
    .where("id", "=", p.id)
    .where((where) => where.or([where("failing_since", "is", null), where("failing_since", ">", p.now)])),
);

const pauseGone = uncachedWrite((db, p: { id: number; now: number }) =>
  db
    .updateTable("webhook")
    .set({ paused: 1, pause_code: "gone", paused_at: p.now })
    .where("id", "=", p.id)
    .where("paused", "=", 0)
    .returning("id"),
);

const pauseFailing = uncachedWrite((db, p: { id: number; now: number; before: number }) =>
  db
    .updateTable("webhook")
    .set({ paused: 1, pause_code: "no-success", paused_at: p.now })
    .where("id", "=", p.id)
    .where("paused", "=", 0)
    .where("failing_since", "<=", p.before)
    .returning("id"),
);

const ended: DeliveryColumns["state"][] = ["delivered", "given-up"];

const pruneAttempts = uncachedWrite((db, p: { before: number }) =>
  db
    .deleteFrom("webhook_attempt")
    .where("delivery_id", "in", (delivery) =>
      delivery
        .selectFrom("webhook_delivery")
        .select("id")
        .where("state", "in", ended)
        .where("changed_at", "<", p.before),
    ),
);

const prune = uncachedWrite((db, p: { before: number }) =>
  db.deleteFrom("webhook_delivery").where("state", "in", ended).where("changed_at", "<", p.before),
);

const forgetSecrets = uncachedWrite((db, p: { now: number }) =>
  db
    .updateTable("webhook")
    .set({ old_secret: null, old_secret_ends_at: null })
    .where("old_secret_ends_at", "<=", p.now),
);
