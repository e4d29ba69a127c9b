import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { currentProxy, sendRequest } from "../../../shared/network/client.ts";
import { ProxyError } from "../../../shared/network/proxy.ts";
import { isNoWay } from "../../../shared/network/connection-fault.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { LookUps } from "./look-up.ts";
import { checkAddresses, hostOf, readReceiverUrl } from "./receiver.ts";
import { signedHeaders, type WebhookMessage } from "./sign.ts";

/** One for the process, as its threads are. */
const lookUps = new LookUps();
const lookUp = async (host: string) => lookUps.of(host);

/** The receiver of a message, and the secrets that sign it. */
export interface WebhookReceiver {
  readonly url: string;
  readonly secret: string;
  /** Signs too while the receiver changes to the new secret. */
  readonly oldSecret?: string | null;
}

/** Outcome of one attempt. `status` is null without a response; `reason` is the problem with its remedy. */
export type WebhookOutcome =
  | { readonly delivered: true; readonly status: number }
  | { readonly delivered: false; readonly status: number | null; readonly reason: string };

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
  if (!url.ok) return failed(url.reason);
  const deadline = AbortSignal.timeout(deadlineMs);
  try {
    const found = await before(deadline, addressesOf(url.value, allowPrivate, lookup));
    const addresses = found === null ? null : checkAddresses(url.value, found, allowPrivate);
    if (addresses?.ok === false) return failed(addresses.reason);
    const body = Buffer.from(message.body);
    const headers = {
      ...signedHeaders(message, oldSecret === null ? [secret] : [secret, oldSecret], now()),
      "content-type": "application/json",
      "content-length": body.length,
      "user-agent": "Vetwire-Webhooks/1",
    };
    const to = addresses === null ? {} : { addresses: addresses.value };
    const response = await sendRequest(url.value, { method: "POST", headers, body, signal: deadline, ...to });
    response.destroy();
    return outcomeOf(response.statusCode ?? 0);
  } catch (error) {
    if (deadline.aborted && !(error instanceof ProxyError)) {
      return failed(
        `No response came within ${deadlineMs / 1000} s: let the receiver respond first and work afterwards.`,
      );
    }
    return failed(faultText(error));
  }
}

/** The status by which a receiver asks for no more messages (Standard Webhooks). */
export const GONE = 410;

function outcomeOf(status: number): WebhookOutcome {
  if (status >= 200 && status < 300) return { delivered: true, status };
  if (status >= 300 && status < 400) {
    const reason = `The receiver redirects (${status}), which is not followed: enter the URL that it redirects to.`;
    return { delivered: false, status, reason };
  }
  if (status === GONE) {
    const reason = "The receiver responded 410, it takes no more messages: enter its new URL, or delete the webhook.";
    return { delivered: false, status, reason };
  }
  return { delivered: false, status, reason: `The receiver responded ${status}, expected 2xx: look into its log.` };
}

function failed(reason: string): WebhookOutcome {
  return { delivered: false, status: null, reason };
}

/**
 * Looks a receiver up, also for a proxy, which then gets the checked address in place of the name: the proxy's own look-up could
 * lead into its network. @returns null for a name that the proxy alone may know, if the operator allows private receivers
 */
async function addressesOf(
  url: URL,
  allowPrivate: boolean,
  lookup: (host: string) => Promise<readonly LookupAddress[]>,
): Promise<readonly LookupAddress[] | null> {
  const host = hostOf(url);
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const proxy = currentProxy(url);
  try {
    return await lookup(host);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (proxy === null || !["ENOTFOUND", "EAI_AGAIN"].includes(code)) throw error;
    if (allowPrivate && url.protocol === "https:") return null;
    const reason = `this machine cannot look up the receiver's name, and leaves that to no proxy (${proxy.name})`;
    const remedy = "let it look up public names, or start the program with --allow-private-webhooks";
    throw new ProxyError(reason, remedy);
  }
}

/** Rejects at the deadline, since a look-up cannot be stopped. */
async function before<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  const ended = new Promise<never>((_resolve, reject) => {
    deadline.addEventListener("abort", () => reject(new Error("deadline")), { once: true });
  });
  return Promise.race([work, ended]);
}

const FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Nothing listens at the receiver's address: start the receiver, or check the port.",
  ECONNRESET: "The receiver closed the connection without a response: look into its log.",
  ENOTFOUND: "The receiver's name is unknown: check the URL, and this machine's DNS.",
  EAI_AGAIN: "The receiver's name could not be looked up: check this machine's DNS.",
  ETIMEDOUT: "The receiver's machine does not respond: check that it runs, and its firewall.",
  CERT_HAS_EXPIRED: "The receiver's certificate has expired: renew it.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The receiver's certificate is for another name: enter the name of the certificate.",
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "The receiver's certificate is self-signed: use one of a known authority, or set NODE_EXTRA_CA_CERTS.",
  SELF_SIGNED_CERT_IN_CHAIN: "The authority of the receiver's certificate is unknown: set NODE_EXTRA_CA_CERTS.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The receiver's certificate lacks its chain: send the complete chain.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "The authority of the receiver's certificate is unknown: set NODE_EXTRA_CA_CERTS.",
  EPROTO: "The receiver has no TLS at this port: check the port.",
  ERR_SSL_WRONG_VERSION_NUMBER: "The receiver has no TLS at this port: check the port.",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "The receiver has no TLS at this port: check the port.",
};

function faultText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const words = errorMessage(error);
  if (error instanceof ProxyError) return `${words[0]?.toUpperCase()}${words.slice(1)}.`;
  if (isNoWay(code)) return "There is no way to the receiver: check the network.";
  return FAULTS[code] ?? `The receiver did not respond with HTTP: ${words}. Check the URL.`;
}
