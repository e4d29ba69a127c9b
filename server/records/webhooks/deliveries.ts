import { sql } from "kysely";
import type { WebhookEventType } from "../../dashboard/types/settings/webhooks.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { DeliveryColumns } from "../../database/schema.ts";
import type { Store } from "../../database/store.ts";

// The queue of deliveries, which several servers share. A server takes a delivery for the time of its lease, and writes the
// attempt before it sends. If it dies, the lease ends, and another server repeats the message under the same id.

/** An attempt that this server must make now. */
export interface ClaimedAttempt {
  readonly deliveryId: number;
  /** From 1. */
  readonly number: number;
  readonly webhookId: number;
  readonly webhookPublicId: string;
  readonly url: string;
  readonly secret: string;
  readonly type: WebhookEventType;
  readonly fp: string;
  readonly changedAt: number;
}

/** How an attempt ended, and what follows. */
export interface EndedAttempt {
  readonly deliveryId: number;
  readonly number: number;
  readonly now: number;
  readonly status: number | null;
  readonly reason: string | null;
  readonly state: "delivered" | "retrying" | "given-up";
  readonly nextAt: number;
}

/** @returns the ids of webhooks that have something to send now; a paused one has not */
export async function dueWebhooks(session: Session, now: number): Promise<number[]> {
  return (await session.all(due, { now, farAhead: now + DELAY_MS_MAX })).map(({ webhook_id }) => webhook_id);
}

/** Takes at most `limit` due deliveries of a webhook, the longest due first. */
export async function claimDeliveries(
  store: Store,
  { webhookId, now, leaseMs, limit }: { webhookId: number; now: number; leaseMs: number; limit: number },
): Promise<ClaimedAttempt[]> {
  return store.transaction(async (session) => {
    const rows = await session.all(dueOfWebhook, { webhookId, now, farAhead: now + DELAY_MS_MAX, limit });
    const until = now + leaseMs;
    await session.each(
      claim,
      rows.map(({ id }) => ({ id, until })),
    );
    await session.each(
      insertAttempt,
      rows.map(({ id, attempts }) => ({ id, number: attempts + 1, now })),
    );
    return rows.map(({ id, attempts, public_id, url, secret, type, fp, changed_at }) => ({
      deliveryId: id,
      number: attempts + 1,
      webhookId,
      webhookPublicId: public_id,
      url,
      secret,
      type,
      fp,
      changedAt: changed_at,
    }));
  });
}

/** Stores the end of an attempt. An attempt that outlived its lease changes its own row alone. */
export async function endAttempt(store: Store, ended: EndedAttempt): Promise<void> {
  await store.transaction(async (session) => {
    await session.all(updateAttempt, ended);
    await session.all(updateDelivery, ended);
  });
}

/** Deletes ended deliveries of changes before a time, with their attempts. */
export async function pruneDeliveries(store: Store, before: number): Promise<void> {
  await store.transaction(async (session) => {
    await session.all(pruneAttempts, { before });
    await session.all(prune, { before });
  });
}

/** Longer than any delay between two attempts. A time further ahead comes from a clock that was set back. */
const DELAY_MS_MAX = 30 * 3_600_000;

/** Literal, because an index holds these rows alone. */
const isUnfinished = sql<boolean>`delivery.state in ('new', 'sending', 'retrying')`;

const due = query((db, p: { now: number; farAhead: number }) =>
  db
    .selectFrom("webhook_delivery as delivery")
    .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
    .select("delivery.webhook_id")
    .distinct()
    .where(isUnfinished)
    .where((where) => where.or([where("delivery.next_at", "<=", p.now), where("delivery.next_at", ">", p.farAhead)]))
    .where("webhook.paused", "=", 0),
);

const dueOfWebhook = query((db, p: { webhookId: number; now: number; farAhead: number; limit: number }) =>
  db
    .selectFrom("webhook_delivery as delivery")
    .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
    .select(["delivery.id", "delivery.attempts", "delivery.type", "delivery.fp", "delivery.changed_at"])
    .select(["webhook.public_id", "webhook.url", "webhook.secret"])
    .where("delivery.webhook_id", "=", p.webhookId)
    .where(isUnfinished)
    .where((where) => where.or([where("delivery.next_at", "<=", p.now), where("delivery.next_at", ">", p.farAhead)]))
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

const updateAttempt = uncachedWrite((db, p: EndedAttempt) =>
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
    .where("attempts", "=", p.number),
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
