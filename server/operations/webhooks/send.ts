import type { LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import {
  type WebhookCode,
  type WebhookReason,
  webhookReason,
  webhookText,
} from "../../dashboard/types/webhook-reasons.ts";
import { currentProxy, sendRequest } from "../../../shared/network/client.ts";
import { currentTrace, traceparentOf } from "../../../shared/network/trace.ts";
import { readRetryAfter } from "../../../shared/network/retry-after.ts";
import { ProxyError } from "../../../shared/network/proxy.ts";
import { isNoWay } from "../../../shared/network/connection-fault.ts";
import { errorCode, errorMessage } from "../../../shared/runtime/error-message.ts";
import { addressesOf, before, lookUp } from "./addresses.ts";
import { readReceiverUrl } from "./receiver.ts";
import { signedHeaders, type WebhookMessage } from "./sign.ts";

/** The receiver of a message, and the secrets that sign it. */
export interface WebhookReceiver {
  readonly url: string;
  readonly secret: string;
  /** Signs too while the receiver changes to the new secret. */
  readonly oldSecret?: string | null;
}

/** Outcome of one attempt. `status` is null without a response; `why` is the problem with its remedy, `reason` its words in English. */
export type WebhookOutcome =
  | { readonly delivered: true; readonly status: number }
  | {
      readonly delivered: false;
      readonly status: number | null;
      readonly reason: string;
      readonly why: WebhookReason;
      /** How long the receiver wants no repeat. */
      readonly retryAfterMs?: number;
    };

export interface WebhookOptions {
  /** Allows receivers in the local network and plain http to them. */
  readonly allowPrivate: boolean;
  /** Time for the complete attempt. Standard Webhooks recommends 15 to 30 s. */
  readonly deadlineMs?: number;
  readonly now?: () => number;
  /** @returns all addresses of a host */
  readonly lookup?: (host: string) => Promise<readonly LookupAddress[]>;
}

/**
 * Sends one message to its receiver once. The response counts by its status alone: a redirect is not followed and a body is not
 * read. It connects to the very address that it checked. Never rejects.
 */
export async function sendWebhook(
  { url: text, secret, oldSecret = null }: WebhookReceiver,
  message: WebhookMessage,
  { allowPrivate, deadlineMs = 15_000, now = Date.now, lookup = lookUp }: WebhookOptions,
): Promise<WebhookOutcome> {
  const url = readReceiverUrl(text, allowPrivate);
  if (!url.ok) return failed(url.why);
  const deadline = AbortSignal.timeout(deadlineMs);
  try {
    const addresses = await before(deadline, addressesOf(url.value, allowPrivate, lookup));
    if (addresses?.ok === false) return failed(addresses.why);
    const body = Buffer.from(message.body);
    const trace = currentTrace();
    const headers = {
      ...signedHeaders(message, oldSecret === null ? [secret] : [secret, oldSecret], now()),
      "content-type": "application/json",
      "content-length": body.length,
      "user-agent": "Vetwire-Webhooks/1",
      ...(trace && { traceparent: traceparentOf(trace) }),
    };
    const to = addresses === null ? {} : { addresses: addresses.value };
    const response = await sendRequest(url.value, { method: "POST", headers, body, signal: deadline, ...to });
    response.destroy();
    return outcomeOf(response);
  } catch (error) {
    if (deadline.aborted && !(error instanceof ProxyError))
      return failed(webhookReason("HOOK.SILENT", deadlineMs / 1000));
    return failed(faultOf(error, url.value));
  }
}

/** The status by which a receiver asks for no more messages (Standard Webhooks). */
export const GONE = 410;

/** Statuses whose Retry-After is the time of a repeat (RFC 6585 §4, RFC 9110 §15.6.4). */
const BUSY = [429, 503];

function outcomeOf({ statusCode: status = 0, headers }: IncomingMessage): WebhookOutcome {
  if (status >= 200 && status < 300) return { delivered: true, status };
  if (status >= 300 && status < 400) return failed(webhookReason("HOOK.REDIRECT", status), status);
  const why = status === GONE ? webhookReason("HOOK.GONE") : webhookReason("HOOK.STATUS", status);
  const waitMs = BUSY.includes(status) ? readRetryAfter(headers) : null;
  return waitMs === null ? failed(why, status) : { ...failed(why, status), retryAfterMs: waitMs };
}

function failed(why: WebhookReason, status: number | null = null) {
  return { delivered: false, status, reason: webhookText(why), why } as const;
}

const FAULTS: Readonly<Record<string, WebhookCode>> = {
  ECONNREFUSED: "HOOK.NOBODY_LISTENS",
  ECONNRESET: "HOOK.BROKEN",
  ENOTFOUND: "HOOK.UNKNOWN_HOST",
  EAI_AGAIN: "HOOK.NO_LOOK_UP",
  ETIMEDOUT: "HOOK.NO_ANSWER",
  CERT_HAS_EXPIRED: "HOOK.CERTIFICATE_ENDED",
  ERR_TLS_CERT_ALTNAME_INVALID: "HOOK.CERTIFICATE_NAME",
  DEPTH_ZERO_SELF_SIGNED_CERT: "HOOK.SELF_SIGNED",
  SELF_SIGNED_CERT_IN_CHAIN: "HOOK.AUTHORITY",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "HOOK.CHAIN",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "HOOK.AUTHORITY",
  EPROTO: "HOOK.NO_TLS",
  ERR_SSL_WRONG_VERSION_NUMBER: "HOOK.NO_TLS",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "HOOK.NO_TLS",
};

function faultOf(error: unknown, url: URL): WebhookReason {
  const code = errorCode(error);
  const words = errorMessage(error);
  if (error instanceof ProxyError)
    return webhookReason("HOOK.PROXY", `${words[0]?.toUpperCase()}${words.slice(1)}`, proxyName(url));
  if (isNoWay(code)) return webhookReason("HOOK.NO_WAY");
  const known = FAULTS[code];
  return known === undefined ? webhookReason("HOOK.NO_HTTP", words, code) : webhookReason(known);
}

/** The host and port of the receiver's proxy; empty for a setting that names none. */
function proxyName(url: URL): string {
  try {
    return currentProxy(url)?.name ?? "";
  } catch {
    return "";
  }
}
