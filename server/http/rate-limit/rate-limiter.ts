import type { KeyHolder } from "../../dashboard/types/settings/keys.ts";
import type { Cost, SharedCounters, Window, WindowCount } from "../../records/clinics/rate-limit-counters.ts";
import { networkOf } from "../../../shared/network/network-address.ts";
import type { HeaderList } from "../response-headers.ts";

// Fixed-window rate limits. Each key has a window of a minute and one of an hour, and a request counts in both.

/** Max requests of a key per minute and per hour, by the type of the key. */
export interface Limits extends Record<KeyHolder, { readonly minute: number; readonly hour: number }> {
  /** Max requests per minute from one address without a valid key. */
  readonly addressMinute: number;
  /** Max requests per minute of a session of the dashboard. */
  readonly sessionMinute?: number;
  /** Max pushes and heartbeats of an agent, for keys of any type. */
  readonly ingest: { readonly minute: number; readonly hour: number };
}

export const defaultLimits: Limits = {
  // A directory sync of 6,000 patients takes 60 pages of 100, and must end within a minute.
  integration: { minute: 60, hour: 1000 },
  device: { minute: 120, hour: 3000 },
  partner: { minute: 300, hour: 10_000 },
  addressMinute: 600,
  // An agent collects results for 200 ms before a push, so it sends at most 5 pushes a second.
  ingest: { minute: 600, hour: 20_000 },
};

/**
 * Counted for each session, not for each user: a clinic may share one user among its PCs. A page that is used quickly sends some
 * 300 requests a minute.
 */
const SESSION_MINUTE = 1200;

/**
 * The budget that a request spends. The agent's wait for news, its directory sync, its orders and its pictures have their own, so that they cannot delay
 * results, and so has practice software that sends patients. `ingest` has its own limits, the others have those of the key's type.
 */
export type Budget = "api" | "directory" | "ingest" | "news" | "orders" | "preview" | "sync";

/** The windows of a budget, and the constant parts of its headers. */
interface RateBudget {
  readonly windows: readonly Window[];
  /** The `RateLimit-Policy` header (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly policy: string;
  /** The text before the numbers of each window in the `RateLimit` header of the same draft. */
  readonly labels: readonly string[];
}

export interface RateLimitResult {
  readonly isAllowed: boolean;
  /** Whole seconds until a refused client may try again, at least 1. 0 if the request is allowed. */
  readonly retryAfterS: number;
  readonly headers: HeaderList;
}

type LimitedKey = Readonly<{ id: number; type: KeyHolder }>;

/** Counts requests against the limits. */
export class RateLimiter {
  readonly #counters: SharedCounters;
  readonly #keys: Record<KeyHolder, RateBudget>;
  readonly #unchanged: Record<KeyHolder, RateBudget>;
  readonly #addresses: RateBudget;
  readonly #sessions: RateBudget;
  readonly #ingest: RateBudget;

  constructor(limits: Limits, counters: SharedCounters) {
    this.#counters = counters;
    const minuteAndHour = ({ minute, hour }: { minute: number; hour: number }, times = 1): RateBudget =>
      rateBudget([
        { name: "minute", ms: MINUTE_MS, limit: minute * times },
        { name: "hour", ms: HOUR_MS, limit: hour * times },
      ]);
    const byType = (times: number) => ({
      integration: minuteAndHour(limits.integration, times),
      device: minuteAndHour(limits.device, times),
      partner: minuteAndHour(limits.partner, times),
    });
    this.#keys = byType(1);
    this.#unchanged = byType(FREE_TIMES);
    this.#ingest = minuteAndHour(limits.ingest);
    this.#addresses = rateBudget([{ name: "minute", ms: MINUTE_MS, limit: limits.addressMinute }]);
    const { sessionMinute = SESSION_MINUTE } = limits;
    this.#sessions = rateBudget([{ name: "minute", ms: MINUTE_MS, limit: sessionMinute }]);
  }

  /** Counts a request of a key. */
  async takeForKey(key: LimitedKey, budget: Budget, now: number, cost: Cost = 1): Promise<RateLimitResult> {
    const spent = budget === "ingest" ? this.#ingest : this.#keys[key.type];
    const { taken, counts } = await this.#counters.keys.take(`${key.id} ${budget}`, spent.windows, now, cost);
    return resultOf(taken, spent, counts, now);
  }

  /**
   * Counts a 304, which is free for FREE_TIMES as many requests as the budget has. Further ones cost a request each.
   * `paid` is the cost that this request has been charged already; it is refunded.
   */
  async takeUnchanged(key: LimitedKey, now: number, paid: 0 | 1 = 0): Promise<RateLimitResult> {
    const { windows } = this.#unchanged[key.type];
    const { taken: isFree } = await this.#counters.keys.take(`${key.id} unchanged`, windows, now);
    return this.takeForKey(key, "api", now, ((isFree ? 0 : 1) - paid) as Cost);
  }

  /** Counts a request of a session of the dashboard. Its response reports no budget. */
  async takeForSession(sessionId: number | string, now: number): Promise<RateLimitResult> {
    const { taken, counts } = await this.#counters.keys.take(`session ${sessionId}`, this.#sessions.windows, now);
    return { ...resultOf(taken, this.#sessions, counts, now), headers: [] };
  }

  /** Counts a request without a valid key. Its response reports no budget. */
  async takeForAddress(address: string, now: number): Promise<RateLimitResult> {
    const { taken, counts } = await this.#counters.addresses.take(networkOf(address), this.#addresses.windows, now);
    return { ...resultOf(taken, this.#addresses, counts, now), headers: [] };
  }
}

/** A budget of N requests allows this many times N free 304 responses. */
export const FREE_TIMES = 10;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

function rateBudget(windows: readonly Window[]): RateBudget {
  return {
    windows,
    policy: windows.map(({ name, ms, limit }) => `"${name}";q=${limit};w=${ms / 1000}`).join(", "),
    labels: windows.map(({ name }, index) => `${index === 0 ? "" : ", "}"${name}";r=`),
  };
}

/** The result with the headers for the tightest window. Of two equally tight windows the later end counts. */
function resultOf(
  isAllowed: boolean,
  budget: RateBudget,
  counts: readonly WindowCount[],
  now: number,
): RateLimitResult {
  const { windows, policy, labels } = budget;
  let tightest = { limit: 0, remaining: Infinity, resetS: 1 };
  let rateLimit = "";
  for (let index = 0; index < windows.length; index += 1) {
    const { limit } = windows[index] as Window;
    const remaining = Math.max(0, limit - (counts[index]?.used ?? 0));
    const resetS = secondsLeft(counts[index], now);
    if (remaining < tightest.remaining || (remaining === tightest.remaining && resetS > tightest.resetS)) {
      tightest = { limit, remaining, resetS };
    }
    rateLimit += `${labels[index]}${remaining};t=${resetS}`;
  }
  const headers = [
    "x-ratelimit-limit",
    String(tightest.limit),
    "x-ratelimit-remaining",
    String(tightest.remaining),
    "x-ratelimit-reset",
    String(tightest.resetS),
    "ratelimit-policy",
    policy,
    "ratelimit",
    rateLimit,
  ];
  // Retry-After is the time left in the full window, not the length of the window.
  return { isAllowed, retryAfterS: isAllowed ? 0 : tightest.resetS, headers };
}

/** Seconds until a window ends, rounded up so that a client that waits this long is admitted. */
function secondsLeft(count: WindowCount | undefined, now: number): number {
  return Math.max(1, Math.ceil(((count?.endsAt ?? now) - now) / 1000));
}
