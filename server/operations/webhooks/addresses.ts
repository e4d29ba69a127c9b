import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { currentProxy } from "../../../shared/network/client.ts";
import { webhookReason, webhookText } from "../../dashboard/types/webhook-reasons.ts";
import { LookUps } from "./look-up.ts";
import { type Checked, checkAddresses, hostOf } from "./receiver.ts";
import { errorCode } from "../../../shared/runtime/error-message.ts";

// The addresses to which a request may go.

/** One for the process, as its threads are. */
const lookUps = new LookUps();

/** @returns all addresses of a host */
export const lookUp = async (host: string) => lookUps.of(host);

/**
 * Looks a receiver up and checks its addresses, also for a proxy, which then gets the address in place of the name: the proxy's own
 * look-up could lead into its network. @returns null for a name that the proxy alone may know, if the operator allows private receivers
 */
export async function addressesOf(
  url: URL,
  allowPrivate: boolean,
  lookup: (host: string) => Promise<readonly LookupAddress[]> = lookUp,
): Promise<Checked<readonly LookupAddress[]> | null> {
  const host = hostOf(url);
  const family = isIP(host);
  if (family !== 0) return checkAddresses(url, [{ address: host, family }], allowPrivate);
  const proxy = currentProxy(url);
  try {
    return checkAddresses(url, await lookup(host), allowPrivate);
  } catch (error) {
    const code = errorCode(error);
    if (proxy === null || !["ENOTFOUND", "EAI_AGAIN"].includes(code)) throw error;
    if (allowPrivate && url.protocol === "https:") return null;
    const why = webhookReason("HOOK.PROXY_LOOK_UP", proxy.name);
    return { ok: false, reason: webhookText(why), why };
  }
}

/** Rejects at the deadline, since a look-up cannot be stopped. */
export async function before<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  const ended = new Promise<never>((_resolve, reject) => {
    deadline.addEventListener("abort", () => reject(new Error("deadline")), { once: true });
  });
  return Promise.race([work, ended]);
}
