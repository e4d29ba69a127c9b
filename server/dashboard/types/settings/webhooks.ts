import type { WebhookReason } from "../webhook-reasons.ts";

// Webhooks of a clinic: receivers of changes of its records.

/** The events that a webhook may choose. */
export const webhookTypes = [
  "study.filed",
  "study.revised",
  "patient.changed",
  "soap.signed",
  "soap.amended",
  "appointment.changed",
  "stock.low",
  "order.placed",
  "order.changed",
] as const;

export type WebhookType = (typeof webhookTypes)[number];

/** `webhook.test` is sent by the button alone, and carries the fp of the clinic. */
export type WebhookEventType = WebhookType | "webhook.test";

/**
 * State of a delivery: `new` waits for its first attempt, `sending` is under way, `retrying` waits for the next attempt,
 * `given-up` has failed ten times.
 */
export type DeliveryState = "new" | "sending" | "retrying" | "delivered" | "given-up";

/** Why a webhook paused itself: its receiver responded 410, or accepted no message for three days. */
export type PauseCode = "gone" | "no-success";

/** Most webhooks of a clinic. */
export const WEBHOOKS_MAX = 10;

/** Longest time in hours for which the old secret of a webhook signs too. */
export const GRACE_HOURS_MAX = 720;

/** Most hours whose messages one call sends again: the log keeps 30 days. */
export const RESEND_HOURS_MAX = 720;

/** Most messages that one call sends again. */
export const RESEND_MAX = 1000;

export interface WebhookRow {
  id: string;
  url: string;
  types: WebhookType[];
  paused: boolean;
  /** Null if a person paused it. */
  pause_code: PauseCode | null;
  /** Time at which it was paused; null if it is not, or was before times were kept. */
  paused_at: string | null;
  /** Time of the first failure since the last success; null without one. */
  failing_since: string | null;
  /** Time until which the old secret signs too; null without an old one. */
  old_secret_ends_at: string | null;
  created_at: string;
  /** Number of deliveries that wait, and that ten attempts have not delivered. */
  waiting: number;
  given_up: number;
  /** Time of the last success. */
  delivered_at: string | null;
}

export interface WebhookList {
  webhooks: WebhookRow[];
  /** Whether the operator allows receivers in the local network and plain http to them. */
  private_allowed: boolean;
}

/** The response to a new webhook. The secret is shown this once. */
export interface NewWebhook {
  id: string;
  secret: string;
}

/** Rotates the secret. With 0 hours the old one ends immediately. */
export interface RotateBody {
  grace_hours: number;
}

/** The response to a rotation. The secret is shown this once. */
export interface RotatedSecret {
  secret: string;
  old_secret_ends_at: string | null;
}

/** Chooses the messages of the last hours; null chooses those that were not delivered. */
export interface ResendAllBody {
  hours: number | null;
}

export interface ResentMessages {
  count: number;
  /** Number of chosen messages beyond the bound of one call. */
  left: number;
}

export interface AttemptRow {
  number: number;
  started_at: string;
  /** Null while it is under way, or if the server stopped before a response. */
  ended_at: string | null;
  status: number | null;
  /** Why it failed, in English, and the reason itself, which older attempts lack; null after a success. */
  reason: string | null;
  why: WebhookReason | null;
}

export interface DeliveryRow {
  /** The `webhook-id` of its messages. */
  id: string;
  type: WebhookEventType;
  fp: string;
  state: DeliveryState;
  changed_at: string;
  /** Time of the next attempt; null if none follows. */
  next_at: string | null;
  attempts: AttemptRow[];
}

export interface DeliveryPage {
  webhook: WebhookRow;
  deliveries: DeliveryRow[];
  total: number;
}

/**
 * The `webhook-id` of a delivery's messages. It is unique over all webhooks, and has the time of the change, since a number comes again
 * after the removal of old deliveries and after the restore of a backup: a receiver would drop the message as a repeat.
 */
export function messageId(
  webhookId: string,
  { id, changedAt }: { readonly id: number; readonly changedAt: number },
): string {
  return `msg_${webhookId}_${id}_${changedAt}`;
}

/** @returns the number of the delivery in a `webhook-id`; NaN for another text */
export function deliveryIdIn(webhookId: string, text: string): number {
  const [, id] = text.split(`msg_${webhookId}_`);
  return Number(/^(\d+)_\d+$/.exec(id ?? "")?.[1]);
}
