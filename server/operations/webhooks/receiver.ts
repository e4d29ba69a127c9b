import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import {
  type WebhookCode,
  type WebhookReason,
  webhookReason,
  webhookText,
} from "../../dashboard/types/webhook-reasons.ts";
import { addressKind } from "./network.ts";

// The rule for the URL of a receiver: https to a public address. An operator may allow receivers in the local network.

/** A checked value, or the problem with its remedy, also in words. */
export type Checked<T> = { readonly ok: true; readonly value: T } | Refused;

interface Refused {
  readonly ok: false;
  readonly reason: string;
  readonly why: WebhookReason;
}

const URL_MAX = 2000;

/** Checks the form of a receiver's URL. Its addresses are checked at each attempt, because a name may change them. */
export function readReceiverUrl(text: string, allowPrivate: boolean): Checked<URL> {
  if (text.length > URL_MAX) return refused("HOOK.URL_LONG", text.length, URL_MAX);
  if (!URL.canParse(text)) return refused("HOOK.URL_FORM");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return refused("HOOK.URL_USER");
  if (url.hash !== "") return refused("HOOK.URL_HASH");
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) {
    return refused("HOOK.URL_SCHEME", url.protocol);
  }
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  // Lower ports are mail, file and shell services, not receivers.
  if (port < 1024 && port !== 443 && !(allowPrivate && port === 80)) {
    return refused("HOOK.URL_PORT", port);
  }
  const host = hostOf(url);
  if (isIP(host) !== 0) {
    const checked = checkAddresses(url, [{ address: host, family: isIP(host) }], allowPrivate);
    if (!checked.ok) return checked;
  }
  return { ok: true, value: url };
}

/**
 * Checks all addresses of a receiver's name. A forbidden address refuses the name, since either could be taken. No sentence names
 * a private address: a user could learn the addresses of a foreign network.
 */
export function checkAddresses(
  url: URL,
  addresses: readonly LookupAddress[],
  allowPrivate: boolean,
): Checked<readonly LookupAddress[]> {
  const host = hostOf(url);
  if (addresses.length === 0) return refused("HOOK.NO_ADDRESS", host);
  for (const { address } of addresses) {
    const kind = addressKind(address);
    if (kind === "refused") return refused("HOOK.CLOSED", host);
    if (kind === "private" && !allowPrivate) return refused("HOOK.PRIVATE", host);
    if (kind === "public" && url.protocol === "http:") return refused("HOOK.PUBLIC_PLAIN", host, address);
  }
  return { ok: true, value: addresses };
}

/** @returns the host of a URL, an IPv6 address without its brackets */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function refused(code: WebhookCode, ...values: readonly (string | number)[]): Refused {
  const why = webhookReason(code, ...values);
  return { ok: false, reason: webhookText(why), why };
}
