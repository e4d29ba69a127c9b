import { type RawBuilder, sql } from "kysely";
import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type {
  DeliveryState,
  PauseCode,
  ResentMessages,
  WebhookRow,
  WebhookType,
} from "../../dashboard/types/settings/webhooks.ts";
import { readWebhookReason, type WebhookReason } from "../../dashboard/types/webhook-reasons.ts";
import { testEvent } from "./events.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";

// Webhooks of a clinic for the dashboard. A webhook of another clinic counts as missing.

interface OfClinic {
  clinicId: number;
  /** Public id of the webhook. */
  id: string;
}

export interface WebhookToStore extends OfClinic {
  url: string;
  secret: string;
  types: readonly WebhookType[];
  now: number;
}

export async function insertWebhook(session: Session, webhook: WebhookToStore): Promise<void> {
  await session.all(insert, { ...webhook, types: webhook.types.join(" ") });
}

export async function countWebhooks(session: Session, clinicId: number): Promise<number> {
  return (await session.first(count, { clinicId }))?.total ?? 0;
}

/** Lists the webhooks of a clinic, the oldest first. */
export async function listWebhooks(session: Session, clinicId: number): Promise<WebhookRow[]> {
  return (await session.all(ofClinic, { clinicId, id: "" })).map(toRow);
}

export async function findWebhook(session: Session, of: OfClinic): Promise<WebhookRow | undefined> {
  const row = await session.first(ofClinic, of);
  return row && toRow(row);
}

/** Pauses a webhook. Its events wait meanwhile. @returns false if it is missing */
export async function pauseWebhook(session: Session, of: OfClinic, now: number): Promise<boolean> {
  return (await session.all(pause, { ...of, now })).length > 0;
}

/** Resumes a webhook, sends what waits now, and counts its failures from now on. @returns false if it is missing */
export async function resumeWebhook(session: Session, of: OfClinic, now: number): Promise<boolean> {
  const [resumed] = await session.all(resume, of);
  if (resumed === undefined) return false;
  await session.all(retryNow, { ...resumed, now });
  return true;
}

/**
 * Gives a webhook a new secret. The one before signs too until `oldEndsAt`, null for not at all; an older one ends now.
 * @returns false if it is missing
 */
export async function rotateSecret(
  session: Session,
  { oldEndsAt, ...replaced }: OfClinic & { secret: string; oldEndsAt: number | null },
): Promise<boolean> {
  const changed =
    oldEndsAt === null
      ? await session.all(replaceSecret, replaced)
      : await session.all(rotate, { ...replaced, oldEndsAt });
  return changed.length > 0;
}

/** A webhook that paused itself. */
export interface PausedWebhook {
  readonly clinic_id: number;
  readonly public_id: string;
  readonly url: string;
  readonly paused_at: number;
}

/** Lists the webhooks of all clinics that paused themselves, since no person decided that. */
export async function webhooksPausedByThemselves(session: Session): Promise<PausedWebhook[]> {
  return (await session.all(pausedThemselves, {})).map((row) => ({ ...row, paused_at: row.paused_at ?? 0 }));
}

/** Deletes a webhook with its deliveries. @returns false if it is missing */
export async function deleteWebhook(session: Session, of: OfClinic): Promise<boolean> {
  const found = await session.first(idOf, of);
  if (found === undefined) return false;
  await session.all(deleteAttempts, found);
  await session.all(deleteDeliveries, found);
  await session.all(remove, found);
  return true;
}

/** Adds a test message. @returns false if the webhook is missing */
export async function addTestEvent(session: Session, of: OfClinic, now: number): Promise<boolean> {
  const found = await session.first(idOf, of);
  if (found === undefined) return false;
  await session.all(testEvent, { webhookId: found.id, now });
  return true;
}

/** Sends a delivery once more, under its own id, now. @returns false if it is missing or has not ended */
export async function resendDelivery(
  session: Session,
  { deliveryId, now, ...of }: OfClinic & { deliveryId: number; now: number },
): Promise<boolean> {
  const found = await session.first(idOf, of);
  if (found === undefined) return false;
  return (await session.all(resend, { webhookId: found.id, deliveryId, now })).length > 0;
}

/**
 * Sends ended or waiting deliveries once more, the oldest first, at most `limit` of them: those of changes since a time, or those that
 * were given up for null. @returns undefined if the webhook is missing
 */
export async function resendDeliveries(
  session: Session,
  { since, now, limit, ...of }: OfClinic & { since: number | null; now: number; limit: number },
): Promise<ResentMessages | undefined> {
  const found = await session.first(idOf, of);
  if (found === undefined) return undefined;
  const chosen = { webhookId: found.id, since: since ?? 0, now, limit };
  const { resendChosen, left } = since === null ? givenUp : recent;
  const resent = await session.all(resendChosen, chosen);
  return { count: resent.length, left: (await session.first(left, chosen))?.total ?? 0 };
}

export interface StoredDelivery {
  id: number;
  type: Tables["webhook_delivery"]["type"];
  fp: string;
  state: DeliveryState;
  changed_at: number;
  next_at: number;
  attempts: (Omit<Tables["webhook_attempt"], "delivery_id"> & { why: WebhookReason | null })[];
}

/** Lists one page of the deliveries of a webhook, the newest first. */
export async function listDeliveries(
  session: Session,
  { page, pageSize, ...of }: OfClinic & { page: number; pageSize: number },
): Promise<{ deliveries: StoredDelivery[]; total: number }> {
  const parameters = { ...of, limit: pageSize, offset: (page - 1) * pageSize };
  const rows = await session.all(deliveries, parameters);
  const attempts = new Map<number, StoredDelivery["attempts"]>();
  for (const { delivery_id, ...attempt } of await session.all(attemptsOfPage, parameters)) {
    const read = { ...attempt, ...readWebhookReason(attempt.reason) };
    attempts.set(delivery_id, [...(attempts.get(delivery_id) ?? []), read]);
  }
  const total = (await session.first(countDeliveries, of))?.total ?? 0;
  return { deliveries: rows.map((row) => ({ ...row, attempts: attempts.get(row.id) ?? [] })), total };
}

interface RowOfWebhook {
  public_id: string;
  url: string;
  types: string;
  paused: number;
  pause_code: PauseCode | null;
  paused_at: number | null;
  failing_since: number | null;
  old_secret_ends_at: number | null;
  created_at: number;
  waiting: number | null;
  given_up: number | null;
  delivered_at: number | null;
}

function toRow({ public_id, types, paused, waiting, given_up, ...row }: RowOfWebhook): WebhookRow {
  return {
    id: public_id,
    url: row.url,
    types: types.split(" ") as WebhookType[],
    paused: paused === 1,
    pause_code: row.pause_code,
    paused_at: timestampOrNull(row.paused_at),
    failing_since: timestampOrNull(row.failing_since),
    old_secret_ends_at: timestampOrNull(row.old_secret_ends_at),
    created_at: new Date(row.created_at).toISOString(),
    waiting: waiting ?? 0,
    given_up: given_up ?? 0,
    delivered_at: timestampOrNull(row.delivered_at),
  };
}

// An empty id means all webhooks of the clinic.
const ofClinic = query((db, p: OfClinic) =>
  db
    .selectFrom("webhook")
    .select(["public_id", "url", "types", "paused", "pause_code", "paused_at", "failing_since"])
    .select(["old_secret_ends_at", "created_at"])
    .select((select) => [
      select
        .selectFrom("webhook_delivery as delivery")
        .select((delivery) => delivery.fn.countAll<number>().as("total"))
        .whereRef("delivery.webhook_id", "=", "webhook.id")
        .where("delivery.state", "in", ["new", "sending", "retrying"])
        .as("waiting"),
      select
        .selectFrom("webhook_delivery as delivery")
        .select((delivery) => delivery.fn.countAll<number>().as("total"))
        .whereRef("delivery.webhook_id", "=", "webhook.id")
        .where("delivery.state", "=", "given-up")
        .as("given_up"),
      select
        .selectFrom("webhook_delivery as delivery")
        .innerJoin("webhook_attempt as attempt", "attempt.delivery_id", "delivery.id")
        .select((attempt) => attempt.fn.max("attempt.ended_at").as("at"))
        .whereRef("delivery.webhook_id", "=", "webhook.id")
        .where("delivery.state", "=", "delivered")
        .where("attempt.reason", "is", null)
        .as("delivered_at"),
    ])
    .where("clinic_id", "=", p.clinicId)
    .where(sql<boolean>`(${p.id} = '' or public_id = ${p.id})`)
    .orderBy("id"),
);

const count = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("webhook")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("clinic_id", "=", p.clinicId),
);

const idOf = query((db, p: OfClinic) =>
  db.selectFrom("webhook").select("id").where("clinic_id", "=", p.clinicId).where("public_id", "=", p.id),
);

const insert = uncachedWrite((db, p: Omit<WebhookToStore, "types"> & { types: string }) =>
  db.insertInto("webhook").values({
    public_id: p.id,
    clinic_id: p.clinicId,
    url: p.url,
    secret: p.secret,
    types: p.types,
    created_at: p.now,
    paused: 0,
  }),
);

/** A webhook that is paused already keeps its time, but a person has decided it now. */
const pause = uncachedWrite((db, p: OfClinic & { now: number }) =>
  db
    .updateTable("webhook")
    .set((set) => ({
      paused: 1,
      pause_code: null,
      paused_at: set.fn.coalesce("paused_at", sql<number>`cast(${p.now} as bigint)`),
    }))
    .where("clinic_id", "=", p.clinicId)
    .where("public_id", "=", p.id)
    .returning("id"),
);

const resume = uncachedWrite((db, p: OfClinic) =>
  db
    .updateTable("webhook")
    .set({ paused: 0, pause_code: null, paused_at: null, failing_since: null })
    .where("clinic_id", "=", p.clinicId)
    .where("public_id", "=", p.id)
    .returning("id"),
);

const retryNow = uncachedWrite((db, p: { id: number; now: number }) =>
  db
    .updateTable("webhook_delivery")
    .set({ next_at: p.now })
    .where("webhook_id", "=", p.id)
    .where("state", "=", "retrying")
    .where("next_at", ">", p.now),
);

const rotate = uncachedWrite((db, p: OfClinic & { secret: string; oldEndsAt: number }) =>
  db
    .updateTable("webhook")
    .set((set) => ({ old_secret: set.ref("secret"), old_secret_ends_at: p.oldEndsAt, secret: p.secret }))
    .where("clinic_id", "=", p.clinicId)
    .where("public_id", "=", p.id)
    .returning("id"),
);

const replaceSecret = uncachedWrite((db, p: OfClinic & { secret: string }) =>
  db
    .updateTable("webhook")
    .set({ old_secret: null, old_secret_ends_at: null, secret: p.secret })
    .where("clinic_id", "=", p.clinicId)
    .where("public_id", "=", p.id)
    .returning("id"),
);

const pausedThemselves = query((db) =>
  db
    .selectFrom("webhook")
    .select(["clinic_id", "public_id", "url", "paused_at"])
    .where("pause_code", "is not", null)
    .orderBy("id"),
);

const deleteAttempts = uncachedWrite((db, p: { id: number }) =>
  db
    .deleteFrom("webhook_attempt")
    .where("delivery_id", "in", (delivery) =>
      delivery.selectFrom("webhook_delivery").select("id").where("webhook_id", "=", p.id),
    ),
);

const deleteDeliveries = uncachedWrite((db, p: { id: number }) =>
  db.deleteFrom("webhook_delivery").where("webhook_id", "=", p.id),
);

const remove = uncachedWrite((db, p: { id: number }) => db.deleteFrom("webhook").where("id", "=", p.id));

const resend = uncachedWrite((db, p: { webhookId: number; deliveryId: number; now: number }) =>
  db
    .updateTable("webhook_delivery")
    .set({ state: "retrying", next_at: p.now })
    .where("webhook_id", "=", p.webhookId)
    .where("id", "=", p.deliveryId)
    .where("state", "in", ["retrying", "delivered", "given-up"])
    .returning("id"),
);

interface ChosenDeliveries {
  webhookId: number;
  since: number;
  now: number;
  limit: number;
}

const givenUp = bulk(() => sql<boolean>`state = 'given-up'`);
/** Not those that are due now anyway: the call before may have chosen them. */
const recent = bulk(
  ({ since, now }) => sql<boolean>`changed_at >= ${since}
    and (state in ('delivered', 'given-up') or state = 'retrying' and next_at > ${now})`,
);

/** Makes the queries that send chosen deliveries again, and count those that are left. */
function bulk(chosen: (p: ChosenDeliveries) => RawBuilder<boolean>) {
  return {
    resendChosen: uncachedWrite((db, p: ChosenDeliveries) =>
      db
        .updateTable("webhook_delivery")
        .set({ state: "retrying", next_at: p.now })
        .where("id", "in", (delivery) =>
          delivery
            .selectFrom("webhook_delivery")
            .select("id")
            .where("webhook_id", "=", p.webhookId)
            .where(chosen(p))
            .orderBy("id")
            .limit(p.limit),
        )
        .returning("id"),
    ),
    left: query((db, p: ChosenDeliveries) =>
      db
        .selectFrom("webhook_delivery")
        .select((select) => select.fn.countAll<number>().as("total"))
        .where("webhook_id", "=", p.webhookId)
        .where(chosen(p)),
    ),
  };
}

interface PageOfDeliveries extends OfClinic {
  limit: number;
  offset: number;
}

const deliveries = query((db, p: PageOfDeliveries) =>
  db
    .selectFrom("webhook_delivery as delivery")
    .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
    .select([
      "delivery.id",
      "delivery.type",
      "delivery.fp",
      "delivery.state",
      "delivery.changed_at",
      "delivery.next_at",
    ])
    .where("webhook.clinic_id", "=", p.clinicId)
    .where("webhook.public_id", "=", p.id)
    .orderBy("delivery.id", "desc")
    .limit(p.limit)
    .offset(p.offset),
);

const attemptsOfPage = query((db, p: PageOfDeliveries) =>
  db
    .selectFrom("webhook_attempt")
    .selectAll()
    .where("delivery_id", "in", (page) =>
      page
        .selectFrom("webhook_delivery as delivery")
        .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
        .select("delivery.id")
        .where("webhook.clinic_id", "=", p.clinicId)
        .where("webhook.public_id", "=", p.id)
        .orderBy("delivery.id", "desc")
        .limit(p.limit)
        .offset(p.offset),
    )
    .orderBy("delivery_id")
    .orderBy("number"),
);

const countDeliveries = query((db, p: OfClinic) =>
  db
    .selectFrom("webhook_delivery as delivery")
    .innerJoin("webhook", "webhook.id", "delivery.webhook_id")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("webhook.clinic_id", "=", p.clinicId)
    .where("webhook.public_id", "=", p.id),
);
