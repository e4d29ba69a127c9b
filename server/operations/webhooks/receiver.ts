import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { addressKind } from "./network.ts";

// The rule for the URL of a receiver: https to a public address. An operator may allow receivers in the local network.

/** A checked value, or a sentence with the problem and its remedy. */
export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

const URL_MAX = 2000;

/** Checks the form of a receiver's URL. Its addresses are checked at each attempt, because a name may change them. */
export function readReceiverUrl(text: string, allowPrivate: boolean): Checked<URL> {
  if (text.length > URL_MAX) return refused(`The URL has ${text.length} characters: enter one of at most ${URL_MAX}.`);
  if (!URL.canParse(text)) return refused("This is not a URL: enter one such as https://example.com/vetwire.");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    return refused("The URL holds a user name or a password: remove it, because the signature proves the sender.");
  }
  if (url.hash !== "") return refused("The URL holds a part after #, which is never sent: remove it.");
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) {
    return refused(`The URL starts with ${url.protocol}//: enter one that starts with https://.`);
  }
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  // Lower ports are mail, file and shell services, not receivers.
  if (port < 1024 && port !== 443 && !(allowPrivate && port === 80)) {
    return refused(`The URL has the port ${port}: use 443, or one from 1024 on.`);
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
  if (addresses.length === 0) return refused(`${host} has no address: check the name.`);
  for (const { address } of addresses) {
    const kind = addressKind(address);
    if (kind === "refused") return refused(`${host} has an address which cannot be a receiver: enter another host.`);
    if (kind === "private" && !allowPrivate) {
      return refused(
        `${host} is in a private network: enter a public host, or start the program with --allow-private-webhooks.`,
      );
    }
    if (kind === "public" && url.protocol === "http:") {
      return refused(`${host} is at the public address ${address}: enter a URL that starts with https://.`);
    }
  }
  return { ok: true, value: addresses };
}

/** @returns the host of a URL, an IPv6 address without its brackets */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function refused(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}
