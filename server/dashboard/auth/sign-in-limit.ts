import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../../http/errors.ts";
import { networkOf } from "../../../shared/network/network-address.ts";
import { takeBrowserTry } from "../../records/users/known-browsers.ts";
import { signInName } from "../../records/users/users.ts";
import type { DashboardContext } from "../context.ts";
import { browserDigest } from "./known-browser.ts";

// Limits attempts to sign in. One with the cookie of a browser in which this user signed in before counts by that cookie. Those of
// strangers count by name and address, by name alone (many addresses), and by address alone (many names).

const WINDOW_MS = 15 * 60_000;
/** The address first: an address beyond its limit makes no further names that would push others out of the memory. */
const limits = { address: 60, nameAndAddress: 10, name: 100 };

/** Max passwords that a session tries. */
const SESSION_TRIES = 10;

/** An attempt that may go on. */
export interface Attempt {
  /** Tries with the cookie since the user's last sign-in, this one included; 0 for a stranger. */
  readonly browserTries: number;
  readonly isKnown: boolean;
}

export const stranger: Attempt = { browserTries: 0, isKnown: false };

type Counting = Pick<DashboardContext, "store" | "pepper" | "counters" | "now">;

/** @returns a function that counts an attempt and throws 429 if there are too many */
export function createSignInLimit({ store, pepper, counters, now }: Counting) {
  return async (request: Pick<FastifyRequest, "ip" | "protocol" | "headers">, typed: string): Promise<Attempt> => {
    const name = signInName(typed);
    const digest = browserDigest(request, pepper);
    if (digest !== null) {
      const asked = { digest, signInName: name, now: now() };
      const browserTries = await store.transaction((session) => takeBrowserTry(session, asked));
      if (browserTries !== undefined) return { browserTries, isKnown: true };
    }
    // A digest, since a user may type the password into the field of the name.
    const person = createHash("sha256").update(name).digest("base64url").slice(0, 22);
    const network = networkOf(request.ip);
    const names = { nameAndAddress: `${person} ${network}`, name: person, address: network };
    for (const [kind, limit] of Object.entries(limits) as [keyof typeof limits, number][]) {
      await take(counters.addresses, { name: `sign-in ${names[kind]}`, limit, now: now() });
    }
    return stranger;
  };
}

/**
 * Counts a try of a signed-in user's own password by the session, so that no stranger spends it.
 * @returns a function that throws 429 if there are too many
 */
export function createSessionLimit({ counters, now }: Pick<Counting, "counters" | "now">) {
  return (sessionId: number): Promise<void> =>
    take(counters.keys, { name: `password ${sessionId}`, limit: SESSION_TRIES, now: now() });
}

async function take(
  counters: Counting["counters"]["keys"],
  { name, limit, now }: { name: string; limit: number; now: number },
): Promise<void> {
  const { taken } = await counters.take(name, [{ name: "window", ms: WINDOW_MS, limit }], now);
  if (!taken) throw new ApiError("SESSION.TOO_MANY_ATTEMPTS");
}
