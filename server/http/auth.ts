import crypto from "node:crypto";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { digest, isActive, isWellFormedKey, type Permission } from "./api-keys.ts";
import type { AuditedRequests } from "./audit-trail.ts";
import type { CachedAnswers } from "./response-cache.ts";
import { ApiError } from "./errors.ts";
import type { Budget, RateLimiter, Verdict } from "./rate-limit.ts";
import type { FoundKey } from "./request-context.ts";
import { type ApiKey, findKey, touchKey, touchNewKey } from "../store/keys.ts";
import type { Store } from "../store/types.ts";
import type { Versions } from "../store/cache-versions.ts";

// API keys: `sk_live_`, 32 random base62 letters, and 6 letters of CRC32 over all before them, so that a typing error
// or junk is refused without asking the database. Stored is an HMAC only: the key is shown once, when it is made.

/** The header in which an endpoint takes its key (specification, section 5). */
export type KeyHeader = "x-api-key" | "authorization";

/** Runs before anything else of a protected route; rejects with 401, 429 or 403, in this order (api.md 140). */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** A day-old last_used_at serves its purpose, a write at each request would not. */
const LAST_USED_THROTTLE_MS = 60_000;

interface GuardContext {
  readonly store: Store;
  readonly findPresented: ReturnType<typeof createKeyLookup>;
  readonly limiter: RateLimiter;
  readonly audited: AuditedRequests;
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * Makes the guards of the routes: which header carries the key, and which permissions open the route (any one of them does).
 * What a guard lets through it answers itself from the cache, if there is one that has the answer.
 */
export function createGuards(context: GuardContext, cached?: CachedAnswers) {
  const { store, findPresented, limiter, audited, now, logger } = context;
  return (header: KeyHeader, ...anyOf: Permission[]): Guard =>
    async (request, reply) => {
      audited.begin(request);
      try {
        const found = await findPresented(request.socket, presentedKey(request, header));
        const at = now();
        // Unknown, revoked and expired keys are alike to the caller (api.md 130).
        if (found === undefined || !isActive(found.key, at)) {
          request.setDecorator<ApiKey | null>("refusedKey", found?.key ?? null);
          // Counted only here: who shares an address with a flood and has a key is not held up by it.
          refuseIfOver(await limiter.takeForAddress(request.ip, at), header);
          throw new ApiError("AUTH.UNAUTHORIZED", "", {
            details: EXPECTED_HEADERS[header],
            headers: { "www-authenticate": CHALLENGES[header] },
          });
        }
        const { key, versions } = found;
        request.setDecorator<ApiKey>("apiKey", key);
        const noted = noteUse(store, key, at, logger);
        if (noted !== undefined) await noted;

        const isOpen = anyOf.some((permission) => key.permissions.includes(permission));
        const answer = isOpen ? cached?.find(request, found, at) : undefined;
        const counted =
          answer?.status === 304
            ? limiter.takeUnchanged(key, at)
            : limiter.takeForKey(key, budgetOf(request, anyOf), at);
        // What is counted in memory is here already, and to await it all the same is not free.
        const verdict = counted instanceof Promise ? await counted : counted;
        if (answer !== undefined && verdict.allowed) {
          cached?.send(request, reply, answer, verdict.headers);
          return;
        }
        request.setDecorator<Versions>("versions", versions);
        request.setDecorator("limitHeaders", verdict.headers);
        refuseIfOver(verdict, header);
        if (!isOpen) throw new ApiError("AUTH.FORBIDDEN", anyOf.join(" or "), { details: { required: anyOf } });
      } finally {
        audited.end(request, reply);
      }
    };
}

function budgetOf(request: FastifyRequest, anyOf: readonly Permission[]): Budget {
  if (!anyOf.includes("clinic.lab.ingest")) return "api";
  return request.method === "POST" ? "ingest" : "directory";
}

// The samples of the specification (section 7) show a code for each family of endpoints, and the families differ in their
// header. The agent's routes take X-API-Key, so theirs is that family's code; the agent goes by the status and Retry-After.
export const RATE_CODES = { "x-api-key": "API_KEY.RATE_LIMIT_EXCEEDED", authorization: "AUTH.RATE_LIMITED" } as const;

function refuseIfOver({ allowed, retryAfterS }: Verdict, header: KeyHeader): void {
  if (allowed) return;
  const headers = { "retry-after": String(retryAfterS) };
  throw new ApiError(RATE_CODES[header], retryAfterS === 1 ? "1 second" : `${retryAfterS} seconds`, { headers });
}

export const CHALLENGES: Record<KeyHeader, string> = {
  "x-api-key": 'X-API-Key realm="vetwire"',
  authorization: 'Bearer realm="vetwire"',
};

const EXPECTED_HEADERS: Record<KeyHeader, Record<string, string>> = {
  "x-api-key": { header: "X-API-Key" },
  authorization: { header: "Authorization", scheme: "Bearer" },
};

function presentedKey(request: FastifyRequest, header: KeyHeader): string {
  const value = request.headers[header];
  if (typeof value !== "string") return "";
  if (header === "x-api-key") return value;
  // RFC 9110: the scheme in any case; RFC 6750: one space.
  return /^bearer ([^ ]+)$/i.exec(value)?.[1] ?? "";
}

const KEYS_CACHED_MAX = 10_000;

/** Finds keys as they are presented, revoked and expired ones too, and asks the database only when the clinic has changed. */
export function createKeyLookup(store: Store, pepper: Buffer) {
  // By a hash, so that no list of keys lies in the memory.
  const cached = new Map<string, FoundKey>();
  // A connection commonly presents one key all its life, and is hashed once.
  const names = new WeakMap<Socket, { presented: string; name: string }>();

  function nameOf(socket: Socket, presented: string): string {
    const last = names.get(socket);
    if (last?.presented === presented) return last.name;
    const name = crypto.hash("sha256", presented, "base64");
    names.set(socket, { presented, name });
    return name;
  }

  return async (socket: Socket, presented: string): Promise<FoundKey | undefined> => {
    const name = nameOf(socket, presented);
    const known = cached.get(name);
    if (known !== undefined) {
      await store.refreshVersions();
      const current = store.versions(known.key.clinic_id);
      const { answers } = current instanceof Promise ? await current : current;
      if (answers === known.versions.answers) return known;
      cached.delete(name);
    }
    if (!isWellFormedKey(presented)) return undefined;
    // Looked up by its digest: how long the index takes tells nothing of a key to one who lacks the pepper.
    const found = await findKey(store, digest(pepper, presented));
    if (found === undefined) return undefined;
    cached.set(name, found);
    const [oldest] = cached.keys();
    if (cached.size > KEYS_CACHED_MAX && oldest !== undefined) cached.delete(oldest);
    return found;
  };
}

/** The first uses that are being stored: requests that come meanwhile wait for the same transaction. */
const firstUses = new WeakMap<ApiKey, Promise<void>>();

/**
 * Stores when a key was used. Returns a promise for its first use alone: from then on imports stamp what they change, so no
 * answer may leave before it is stored.
 */
function noteUse(store: Store, key: ApiKey, now: number, logger: Logger): Promise<void> | undefined {
  if (key.last_used_at === null) {
    const storing = firstUses.get(key) ?? noteFirstUse(store, key, now, logger);
    firstUses.set(key, storing);
    return storing;
  }
  if (now - key.last_used_at < LAST_USED_THROTTLE_MS) return undefined;
  // It may be a cached one, which is not read again for this.
  key.last_used_at = now;
  // Not awaited: the answer need not wait for a disk, and is right without it.
  store.transaction((session) => touchKey(session, key.id, now)).catch(warnOf(key, logger));
  return undefined;
}

/** After a failure the next request tries again. */
async function noteFirstUse(store: Store, key: ApiKey, now: number, logger: Logger): Promise<void> {
  try {
    await store.transaction((session) => touchNewKey(session, key, now));
    key.last_used_at = now;
  } catch (error) {
    firstUses.delete(key);
    warnOf(key, logger)(error);
  }
}

function warnOf(key: ApiKey, logger: Logger): (error: unknown) => void {
  return (error) => {
    logger.warn({ err: error, key: key.public_id }, "the last use of a key was not stored");
  };
}
