import type { FastifyReply, FastifyRequest } from "fastify";
import { seal, unseal } from "../../records/audit/sealed-text.ts";
import type { Attempt } from "../../oidc/provider.ts";
import { presentedCookie, setCookie } from "../auth/cookies.ts";
import type { Realm } from "../types/settings/session.ts";

// The cookie of the browser in which a sign-in began: its state, nonce and PKCE verifier, sealed with the pepper. The page of the
// dashboard brings the provider's answer back, so that the cookie is SameSite=Strict as all others, and the store keeps nothing of
// sign-ins that were given up.

const cookies: Readonly<Record<Realm, string>> = { clinic: "vetwire-oidc", operator: "vetwire-operator-oidc" };

/** Time for the sign-in at the provider, a second factor included. */
export const ATTEMPT_MS = 15 * 60_000;

interface Sealed extends Attempt {
  readonly begun: number;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly realm: Realm;
}

/** An attempt of one realm opens in no other. */
const purposes = {
  clinic: "sign-in through a provider",
  operator: "sign-in of an operator through a provider",
} as const satisfies Record<Realm, string>;

export function keepAttempt(exchange: Exchange, attempt: Attempt, pepper: Buffer, now: number): void {
  const text = JSON.stringify({ ...attempt, begun: now } satisfies Sealed);
  const value = seal(text, pepper, purposes[exchange.realm]);
  setCookie(exchange, { name: cookies[exchange.realm], value, maxAge: ATTEMPT_MS / 1000 });
}

/** Takes the attempt from the browser. @returns null without one that this server sealed within `ATTEMPT_MS` */
export function takeAttempt(exchange: Exchange, pepper: Buffer, now: number): Attempt | null {
  const value = presentedCookie(exchange.request, cookies[exchange.realm]);
  if (value === undefined) return null;
  setCookie(exchange, { name: cookies[exchange.realm], value: "", expires: new Date(0) });
  try {
    const { begun, ...attempt } = JSON.parse(unseal(value, pepper, purposes[exchange.realm])) as Sealed;
    // Another server may have begun it, whose clock is ahead.
    return Math.abs(now - begun) < ATTEMPT_MS ? attempt : null;
  } catch {
    return null;
  }
}
