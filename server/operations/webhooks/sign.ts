import { createHmac, randomBytes } from "node:crypto";

// Standard Webhooks 1.0 (standardwebhooks.com): the receiver checks that a message is ours, new and complete.

const PREFIX = "whsec_";

/** One message to a receiver. Its repeats have the same id and body. */
export interface WebhookMessage {
  /** Names the message, so that the receiver drops a repeat. It holds no dot, which separates the signed parts. */
  readonly id: string;
  readonly body: string;
}

/** @returns a new random secret in the form that receivers' libraries take, `whsec_` and 32 bytes in base64 */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString("base64");
}

/**
 * @returns the headers that name and sign a message, with one signature for each secret: a receiver accepts any of them. `atMs` is the
 * moment of this attempt
 */
export function signedHeaders(
  { id, body }: WebhookMessage,
  secrets: readonly string[],
  atMs: number,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(atMs / 1000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": signatures.join(" ") };
}
