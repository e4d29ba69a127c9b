import { createHash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { insertSession, type NewSession, removeSession } from "../../records/users/sessions.ts";
import { ApiError } from "../../http/errors.ts";
import { findUser, type StoredUser } from "../../records/users/users.ts";
import type { Realm } from "../types/settings/session.ts";
import type { DashboardContext } from "../context.ts";
import { presentedCookie, setCookie } from "./cookies.ts";
import { nextBrowserCookie } from "./known-browser.ts";

// The cookie of a session: 256 random bits. The store keeps their SHA-256.

/** A session ends this long after its last use, and at the latest this long after its start. */
const IDLE_MS = 12 * 3_600_000;
const LONGEST_MS = 30 * 24 * 3_600_000;

const TOKEN_BYTES = 32;
const BROWSER_CHARS_MAX = 200;

const cookies: Readonly<Record<Realm, string>> = { clinic: "vetwire", operator: "vetwire-operator" };

/** The end of a session that is used now. */
export function endOfSession(startedAt: number, now: number): number {
  return Math.min(now + IDLE_MS, startedAt + LONGEST_MS);
}

interface NewUserSession {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly user: Pick<StoredUser, "id" | "public_id" | "name" | "password" | "totp_secret">;
  /** The default is the dashboard. */
  readonly realm?: Realm;
  /** Set if a provider signed the user in. */
  readonly oidc?: NewSession["oidc"];
}

/** Starts a session and sets its cookie, and the one of a known browser. A session that the browser had ends. The audit row of the request names the user. */
export async function startSession(
  { store, pepper, now: clock }: Pick<DashboardContext, "store" | "pepper" | "now">,
  { request, reply, user, realm = "clinic", oidc }: NewUserSession,
): Promise<void> {
  const now = clock();
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const browser = request.headers["user-agent"]?.slice(0, BROWSER_CHARS_MAX) ?? null;
  const expiresAt = endOfSession(now, now);
  const given = { digest: digestOf(token), userId: user.id, realm, now, expiresAt, address: request.ip, browser };
  const wanted = { ...given, ...(oidc && { oidc }) };
  const replaced = request.context.signedIn;
  const known = nextBrowserCookie(request, pepper);
  const sessionId = await store.transaction(async (session) => {
    // A reset or a new password that came while this one was checked ends this sign-in, too.
    const current = await findUser(session, user.id);
    if (current?.password !== user.password || current.disabled_at !== null)
      throw new ApiError("SESSION.SIGN_IN_FAILED");
    if (replaced !== null) await removeSession(session, replaced.sessionId);
    await known.store(session, user.id, now);
    return insertSession(session, wanted);
  });
  const { id: userId, public_id: userPublicId, name } = user;
  const hasSecondFactor = user.totp_secret !== null;
  request.context.signedIn = { sessionId, userId, userPublicId, name, hasSecondFactor, clinic: null };
  setCookie({ request, reply }, { name: cookies[realm], value: token });
  known.set(reply);
}

/** Removes the cookie from the browser. */
export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply, realm: Realm = "clinic"): void {
  setCookie({ request, reply }, { name: cookies[realm], value: "", expires: new Date(0) });
}

/** The digest of the presented cookie; undefined without one. */
export function presentedDigest(request: FastifyRequest, realm: Realm): string | undefined {
  const token = presentedCookie(request, cookies[realm]);
  return token === undefined ? undefined : digestOf(token);
}

function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
