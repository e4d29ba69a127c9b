import { createHash } from "node:crypto";
import { ApiError } from "../../http/errors.ts";
import { networkOf } from "../../../shared/runtime/network-address.ts";
import type { SharedCounters } from "../../store/rate-limit-counters.ts";
import { signInName } from "../../store/dashboard/users.ts";

// Limits attempts to sign in: by name and address, by name alone (many addresses), and by address alone (many names).

const WINDOW_MS = 15 * 60_000;
/** The address first: an address beyond its limit makes no further names that would push others out of the memory. */
const limits = { address: 60, nameAndAddress: 10, name: 100 };

export type SignInLimit = (attempt: { name: string; address: string; now: number }) => Promise<void>;

/** @returns a function that counts an attempt and throws 429 if there are too many */
export function createSignInLimit({ addresses }: SharedCounters): SignInLimit {
  return async ({ name, address, now }) => {
    // A digest, since a user may type the password into the field of the name.
    const person = createHash("sha256").update(signInName(name)).digest("base64url").slice(0, 22);
    const network = networkOf(address);
    const names = { nameAndAddress: `${person} ${network}`, name: person, address: network };
    for (const [kind, limit] of Object.entries(limits) as [keyof typeof limits, number][]) {
      const { taken } = await addresses.take(`sign-in ${names[kind]}`, [{ name: "window", ms: WINDOW_MS, limit }], now);
      if (!taken) throw new ApiError("SESSION.TOO_MANY_ATTEMPTS");
    }
  };
}
