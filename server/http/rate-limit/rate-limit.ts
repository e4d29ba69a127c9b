import type { FastifyInstance, FastifyRequest } from "fastify";
import type { KeyHeader } from "../auth/api-keys.ts";
import { ApiError } from "../errors.ts";
import type { Budget, RateLimiter, RateLimitResult } from "./rate-limiter.ts";

// Plugin: counts each request against the budget of its key, or of its address if it has no active key. 429 beyond it.

declare module "fastify" {
  interface FastifyContextConfig {
    /** The budget that the route spends. "api" by default. */
    budget?: Budget;
  }
}

/** Error codes by key header: each family of endpoints has its own code. */
export const RATE_CODES = { "x-api-key": "API_KEY.RATE_LIMIT_EXCEEDED", authorization: "AUTH.RATE_LIMITED" } as const;

export function limitRequests(scope: FastifyInstance, limiter: RateLimiter, now: () => number): void {
  scope.addHook("onRequest", async (request) => {
    const result = await count(request, limiter, now());
    request.context.limitHeaders = result.headers;
    if (!result.isAllowed) throw tooManyRequests(request.context.route.header ?? "x-api-key", result);
  });
}

/** Counts a request of somebody unknown against the budget of its address. @throws ApiError 429 beyond it */
export async function limitStranger({ ip }: FastifyRequest, limiter: RateLimiter, now: number): Promise<void> {
  const result = await limiter.takeForAddress(ip, now);
  if (!result.isAllowed) throw tooManyRequests("authorization", result);
}

/** Counts a request against the budget of its session, or of its known browser. @throws ApiError 429 beyond it */
export async function limitSession(sessionId: number | string, limiter: RateLimiter, now: number): Promise<void> {
  const result = await limiter.takeForSession(sessionId, now);
  if (!result.isAllowed) throw tooManyRequests("authorization", result);
}

async function count(request: FastifyRequest, limiter: RateLimiter, now: number): Promise<RateLimitResult> {
  const { key, cacheHit, route } = request.context;
  if (key === null) return limiter.takeForAddress(request.ip, now);
  if (cacheHit?.status === 304) return limiter.takeUnchanged(key, now);
  return limiter.takeForKey(key, route.budget ?? "api", now);
}

function tooManyRequests(header: KeyHeader, { retryAfterS }: RateLimitResult): ApiError {
  const headers = { "retry-after": String(retryAfterS) };
  return new ApiError(RATE_CODES[header], retryAfterS === 1 ? "1 second" : `${retryAfterS} seconds`, { headers });
}
