import { createHash, randomBytes } from "node:crypto";
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { insertSession } from "../../store/dashboard/sessions.ts";
import type { Store } from "../../store/database/store.ts";

// The cookie of a session: 256 random bits. The store keeps their SHA-256.

/** A session ends this long after its last use. */
export const IDLE_MS = 12 * 3_600_000;

const TOKEN_BYTES = 32;
const BROWSER_CHARS_MAX = 200;

/** `__Host-` binds the cookie to this host and to TLS. Browsers drop such a cookie on plain http. */
function cookieName({ protocol }: FastifyRequest): string {
  return protocol === "https" ? "__Host-vetwire" : "vetwire";
}

/** Starts a session and sets its cookie. */
export async function startSession(
  store: Store,
  { request, reply, userId, now }: { request: FastifyRequest; reply: FastifyReply; userId: number; now: number },
): Promise<void> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const browser = request.headers["user-agent"]?.slice(0, BROWSER_CHARS_MAX) ?? null;
  const wanted = { digest: digestOf(token), userId, now, expiresAt: now + IDLE_MS, address: request.ip, browser };
  await store.transaction((session) => insertSession(session, wanted));
  setCookie(request, reply, token);
}

/** Removes the cookie from the browser. */
export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  setCookie(request, reply, "", new Date(0));
}

function setCookie(request: FastifyRequest, reply: FastifyReply, value: string, expires?: Date): void {
  const secure = request.protocol === "https";
  const options = { path: "/", httpOnly: true, sameSite: "strict" as const, secure, ...(expires && { expires }) };
  reply.header("set-cookie", stringifySetCookie(cookieName(request), value, options));
}

/** The digest of the presented cookie; undefined without one. */
export function presentedDigest(request: FastifyRequest): string | undefined {
  const token = parseCookie(request.headers.cookie ?? "")[cookieName(request)];
  return token === undefined ? undefined : digestOf(token);
}

function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
