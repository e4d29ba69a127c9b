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

/** Most webhooks of a clinic. */
export const WEBHOOKS_MAX = 10;

export interface WebhookRow {
  id: string;
  url: string;
  types: WebhookType[];
  paused: boolean;
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

export interface AttemptRow {
  number: number;
  started_at: string;
  /** Null while it is under way, or if the server stopped before a response. */
  ended_at: string | null;
  status: number | null;
  reason: string | null;
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

/** The `webhook-id` of a delivery's messages. It is unique over all webhooks. */
export function messageId(webhookId: string, deliveryId: number): string {
  return `msg_${webhookId}_${deliveryId}`;
}
