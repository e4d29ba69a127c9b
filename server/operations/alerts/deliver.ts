import { type WebhookOptions, type WebhookOutcome, sendWebhook } from "../webhooks/send.ts";
import type { AlertMessage, Batch, Channel, Delivery } from "./book.ts";
import { alertMail, type Teller, testMail } from "./email-text.ts";
import { mailReason } from "../../dashboard/types/settings/mail-server.ts";
import { webhookReason, webhookText } from "../../dashboard/types/webhook-reasons.ts";
import { failed, type SendMail } from "../mail/smtp.ts";
import { alertPath } from "./texts.ts";

export interface Receiver extends Channel {
  /** An e-mail address, or the URL of a webhook. */
  readonly target: string;
  /** Signs the messages to a webhook; empty for an e-mail address. */
  readonly secret: string;
}

export interface Senders {
  /** Null if no mail server is set. */
  readonly sendMail: SendMail | null;
  readonly webhooks: WebhookOptions;
}

/** Sends the messages of one attempt. Never rejects. */
export async function deliver(
  { messages }: Batch,
  { type, target, secret }: Receiver,
  teller: Teller,
  { sendMail, webhooks }: Senders,
): Promise<Delivery> {
  if (type === "email") return sendMail === null ? NO_MAIL_SERVER : sendMail(alertMail(target, messages, teller));
  const [message] = messages;
  if (message === undefined) throw new Error("expected a message for the webhook, got none");
  const body = JSON.stringify(webhookBody(message, teller));
  return told(await sendWebhook({ url: target, secret }, { id: message.id, body }, webhooks));
}

/** Sends a test message immediately. Never rejects. */
export async function deliverTest(
  { id, type, target, secret }: Receiver,
  teller: Teller,
  { sendMail, webhooks }: Senders,
  now: number,
): Promise<Delivery> {
  if (type === "email") return sendMail === null ? NO_MAIL_SERVER : sendMail(testMail(target, teller));
  const body = JSON.stringify({ type: "alert.test", timestamp: new Date(now).toISOString(), data: {} });
  return told(await sendWebhook({ url: target, secret }, { id: `test_${id}_${now}`, body }, webhooks));
}

const NO_MAIL_SERVER: Delivery = failed(mailReason("MAIL.NOT_SET"));

/** Returns a reason for the log, without the address of a person, which a mail server may repeat. */
export function loggedReason(reason: string): string {
  return reason.replaceAll(/[^\s<>"]+@[^\s<>"]+/g, "(an address)");
}

/** The receiver of a webhook drops a repeat by its id, so that no attempt is uncertain. */
function told(outcome: WebhookOutcome): Delivery {
  if (!outcome.delivered) {
    const { delivered: _no, status: _status, ...fault } = outcome;
    return { ok: false, isUncertain: false, ...fault };
  }
  const why = webhookReason("HOOK.TAKEN", outcome.status);
  return { ok: true, said: webhookText(why), why };
}

/**
 * Names the kind, the device, the count and the page, but no patient or owner, because e-mails pass through foreign servers. A
 * repeat has the same body.
 */
function webhookBody({ event, alert, at }: AlertMessage, { dashboard, name }: Teller): object {
  const { kind, subject, count, since, openedAt } = alert;
  return {
    type: `alert.${event}`,
    timestamp: new Date(at).toISOString(),
    data: {
      kind,
      subject,
      ...(count !== undefined && { count }),
      since: new Date(since).toISOString(),
      opened_at: new Date(openedAt).toISOString(),
      from: name,
      ...(dashboard !== null && { link: dashboard + alertPath(alert) }),
    },
  };
}
