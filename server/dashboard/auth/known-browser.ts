import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { insertKnownBrowser, KNOWN_MS } from "../../records/users/known-browsers.ts";
import type { Session } from "../../database/query.ts";
import { type CookieRequest, presentedCookie, setCookie } from "./cookies.ts";

// The signed cookie of a browser in which somebody signed in before ("device cookie", OWASP "Slow Down Online Guessing Attacks
// with Device Cookies"). It does not sign anybody in. Tries with it are counted by it, so that wrong passwords of strangers, also
// at the same address, shut no user out of that browser. The odds: whoever steals the cookie has ten tries for each user of the
// browser.

const COOKIE = "vetwire-browser";
const NONCE_BYTES = 32;

/** The digest of the presented cookie; null without one that this server signed. */
export function browserDigest(request: CookieRequest, pepper: Buffer): string | null {
  const [nonce = "", given = ""] = (presentedCookie(request, COOKIE) ?? "").split(".");
  const expected = Buffer.from(signature(nonce, pepper));
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected) ? digestOf(nonce) : null;
}

/** The next cookie of a browser. Storing it ends the previous one. */
export function nextBrowserCookie(request: FastifyRequest, pepper: Buffer) {
  const nonce = randomBytes(NONCE_BYTES).toString("base64url");
  const value = `${nonce}.${signature(nonce, pepper)}`;
  const digests = { digest: digestOf(nonce), replaced: browserDigest(request, pepper) };
  return {
    /** Notes that a user signed in with it. Needs a transaction. */
    store: (session: Session, userId: number, now: number) => insertKnownBrowser(session, { ...digests, userId, now }),
    set: (reply: FastifyReply) => setCookie({ request, reply }, { name: COOKIE, value, maxAge: KNOWN_MS / 1000 }),
  };
}

/** The prefix keeps these signatures apart from the digests of keys. */
function signature(nonce: string, pepper: Buffer): string {
  return createHmac("sha256", pepper).update(`known browser ${nonce}`).digest("base64url");
}

function digestOf(nonce: string): string {
  return createHash("sha256").update(nonce).digest("hex");
}
