import type { FastifyReply, FastifyRequest } from "fastify";
import { seal, unseal } from "../../records/audit/sealed-text.ts";
import type { Attempt } from "../../oidc/provider.ts";
import { presentedCookie, setCookie } from "../auth/cookies.ts";

// The cookie of the browser in which a sign-in began: its state, nonce and PKCE verifier, sealed with the pepper. The page of the
// dashboard brings the provider's answer back, so that the cookie is SameSite=Strict as all others, and the store keeps nothing of
// sign-ins that nobody ends.

const COOKIE = "vetwire-oidc";

/** Time for the sign-in at the provider, a second factor included. */
export const ATTEMPT_MS = 15 * 60_000;

interface Sealed extends Attempt {
  readonly begun: number;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export function keepAttempt(exchange: Exchange, attempt: Attempt, pepper: Buffer, now: number): void {
  const text = JSON.stringify({ ...attempt, begun: now } satisfies Sealed);
  const value = seal(text, pepper, "sign-in through a provider");
  setCookie(exchange, { name: COOKIE, value, maxAge: ATTEMPT_MS / 1000 });
}

/** Takes the attempt from the browser. @returns null without one that this server sealed within `ATTEMPT_MS` */
export function takeAttempt(exchange: Exchange, pepper: Buffer, now: number): Attempt | null {
  const value = presentedCookie(exchange.request, COOKIE);
  if (value === undefined) return null;
  setCookie(exchange, { name: COOKIE, value: "", expires: new Date(0) });
  try {
    const { begun, ...attempt } = JSON.parse(unseal(value, pepper, "sign-in through a provider")) as Sealed;
    return begun <= now && now < begun + ATTEMPT_MS ? attempt : null;
  } catch {
    return null;
  }
}
