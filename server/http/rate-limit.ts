import { isIP } from "node:net";
import type { HeaderList } from "./response-headers.ts";
import type { Soon } from "../store/maybe-promise.ts";
import type {
  Cost,
  WindowCount,
  Counters,
  SharedCounters,
  CounterResult,
  Window,
} from "../store/rate-limit-counters.ts";
import type { KeyType } from "../store/keys.ts";

// Rate limits (api.md 141-146): fixed windows, a minute and an hour at once, counted for each key.

/** Requests that a key of each type may make in a minute and in an hour, and those without a valid key from one address in a minute. */
export interface Limits extends Record<KeyType, { readonly minute: number; readonly hour: number }> {
  readonly addressMinute: number;
  /** Of an agent's pushes and heartbeats, whatever the type of its key. */
  readonly ingest: { readonly minute: number; readonly hour: number };
}

export const defaultLimits: Limits = {
  // 60 pages of 100: a clinic of 6,000 patients is walked within a minute.
  integration: { minute: 60, hour: 1000 },
  device: { minute: 120, hour: 3000 },
  partner: { minute: 300, hour: 10_000 },
  addressMinute: 600,
  // A push carries what came within 200 ms: a clinic whose analyzers all talk at once sends 5 a second, and a result must
  // not wait for a minute's end.
  ingest: { minute: 600, hour: 20_000 },
};

/**
 * What a key spends from. An agent's walk over the patient directory must not hold up its results, so its own surface has
 * two budgets beside the one of the public API; ingest has limits of its own, the others those of the key's type.
 */
export type Budget = "api" | "directory" | "ingest";

/** The windows that a request counts in, and how they are told its client. */
interface Budgeted {
  readonly windows: readonly Window[];
  /** draft-ietf-httpapi-ratelimit-headers-10, and what stands in its `RateLimit` before each window's numbers. */
  readonly policy: string;
  readonly labels: readonly string[];
}

/** What a request may do, and the headers that tell its client (api.md 144). */
export interface Verdict {
  readonly allowed: boolean;
  /** Whole seconds, at least 1, until a refused client may ask again; 0 when it is allowed. */
  readonly retryAfterS: number;
  readonly headers: HeaderList;
}

export class RateLimiter {
  readonly #counters: SharedCounters;
  readonly #ofKeys: Record<KeyType, Budgeted>;
  readonly #unchanged: Record<KeyType, Budgeted>;
  readonly #ofAddresses: Budgeted;
  readonly #ingest: Budgeted;
  /** What a key was told with its last 304: those of a second are all told the same. */
  readonly #told = new WeakMap<object, Told>();

  constructor(limits: Limits, counters: SharedCounters = memoryCounters()) {
    this.#counters = counters;
    const both = ({ minute, hour }: { minute: number; hour: number }, times = 1): Budgeted =>
      budgeted([
        { name: "minute", ms: MINUTE_MS, limit: minute * times },
        { name: "hour", ms: HOUR_MS, limit: hour * times },
      ]);
    const ofEachType = (times: number) => ({
      integration: both(limits.integration, times),
      device: both(limits.device, times),
      partner: both(limits.partner, times),
    });
    this.#ofKeys = ofEachType(1);
    this.#unchanged = ofEachType(FREE_TIMES);
    this.#ingest = both(limits.ingest);
    this.#ofAddresses = budgeted([{ name: "minute", ms: MINUTE_MS, limit: limits.addressMinute }]);
  }

  /** Counts a request of a key. */
  takeForKey(key: { id: number; type: KeyType }, budget: Budget, now: number, cost: Cost = 1): Soon<Verdict> {
    const spent = budget === "ingest" ? this.#ingest : this.#ofKeys[key.type];
    const counted = this.#counters.keys.take(`${key.id} ${budget}`, spent.windows, now, cost);
    return then(counted, ({ taken, counts }) => {
      // What takes nothing is told again what was told before; what takes something, never the same.
      const told = cost === 0 ? this.#toldLast(key, spent, counts, now) : tell(spent, counts, now);
      return verdict(taken, told);
    });
  }

  /**
   * Counts a 304, which costs no budget (api.md 149); what its request has `paid` already is given back. Ten times as many
   * as other answers are free; those beyond them are paid for, so that no client asks without end.
   */
  takeUnchanged(key: { id: number; type: KeyType }, now: number, paid: 0 | 1 = 0): Soon<Verdict> {
    const counted = this.#counters.keys.take(`${key.id} unchanged`, this.#unchanged[key.type].windows, now);
    return then(counted, ({ taken: isFree }) => this.takeForKey(key, "api", now, ((isFree ? 0 : 1) - paid) as Cost));
  }

  /** Counts a request without a valid key; it has no budget to be told of. */
  async takeForAddress(address: string, now: number): Promise<Verdict> {
    const spent = this.#ofAddresses;
    const { taken, counts } = await this.#counters.addresses.take(networkOf(address), spent.windows, now);
    return { ...verdict(taken, tell(spent, counts, now)), headers: [] };
  }

  #toldLast(key: object, spent: Budgeted, counts: readonly WindowCount[], now: number): Told {
    let told = this.#told.get(key);
    if (told?.spent !== spent || !isStillSo(told, counts, now)) {
      told = tell(spent, counts, now);
      this.#told.set(key, told);
    }
    return told;
  }
}

function then<T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** A 304 is free, up to so many times as the budget has requests. */
export const FREE_TIMES = 10;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

function budgeted(windows: readonly Window[]): Budgeted {
  return {
    windows,
    policy: windows.map(({ name, ms, limit }) => `"${name}";q=${limit};w=${ms / 1000}`).join(", "),
    labels: windows.map(({ name }, index) => `${index === 0 ? "" : ", "}"${name}";r=`),
  };
}

/** The headers of a key's answers, and what they say of each of its windows. */
interface Told {
  readonly spent: Budgeted;
  readonly left: readonly Left[];
  /** Until the window that stops the client first, of two as full the one that lasts longer, is over. */
  readonly resetS: number;
  readonly headers: HeaderList;
}

interface Left {
  readonly remaining: number;
  readonly resetS: number;
}

function tell(spent: Budgeted, counts: readonly WindowCount[], now: number): Told {
  const { windows, policy, labels } = spent;
  let tightest = { limit: 0, remaining: Infinity, resetS: 1 };
  let state = "";
  const left: Left[] = [];
  for (let index = 0; index < windows.length; index += 1) {
    const window = windows[index] as Window;
    const remaining = remainingIn(window, counts[index]);
    const resetS = secondsLeft(counts[index], now);
    if (remaining < tightest.remaining || (remaining === tightest.remaining && resetS > tightest.resetS)) {
      tightest = { limit: window.limit, remaining, resetS };
    }
    state += `${labels[index]}${remaining};t=${resetS}`;
    left.push({ remaining, resetS });
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
    state,
  ];
  return { spent, left, resetS: tightest.resetS, headers };
}

function verdict(taken: boolean, { resetS, headers }: Told): Verdict {
  // The time that is left, not the window's length (fastify-rate-limit #324): the longest of the full windows.
  return { allowed: taken, retryAfterS: taken ? 0 : resetS, headers };
}

function isStillSo({ spent, left }: Told, counts: readonly WindowCount[], now: number): boolean {
  for (let index = 0; index < left.length; index += 1) {
    const { remaining, resetS } = left[index] as Left;
    const count = counts[index];
    if (remaining !== remainingIn(spent.windows[index] as Window, count)) return false;
    if (resetS !== secondsLeft(count, now)) return false;
  }
  return true;
}

function remainingIn({ limit }: Window, count: WindowCount | undefined): number {
  return Math.max(0, limit - (count?.used ?? 0));
}

// Rounded up: who comes back after that many seconds is let in.
function secondsLeft(count: WindowCount | undefined, now: number): number {
  return Math.max(1, Math.ceil(((count?.endsAt ?? now) - now) / 1000));
}

/** One subscriber commonly has a whole /64 of IPv6 addresses (RFC 6177); counting each alone would count nothing. */
export function networkOf(address: string): string {
  // A proxy may pass on what its client made up, of any length: all of that counts together.
  if (isIP(address) === 0) return "no address";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(":")) return address;
  // `2001:db8::1%eth0`: the zone goes, the zeros that `::` stands for come back.
  const [left = [], right = []] = address.replace(/%.*/, "").split("::").map(groupsOf);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`;
}

function groupsOf(part: string): string[] {
  return part === "" ? [] : part.split(":");
}

/** About 20 MB; beyond it the window that began first is forgotten, and its client starts anew. */
const COUNTED_MAX = 100_000;

/** The counters of a single node. */
export function memoryCounters(countedMax = COUNTED_MAX): SharedCounters {
  return { keys: new MemoryCounters(countedMax), addresses: new MemoryCounters(countedMax) };
}

interface Counting {
  used: number;
  endsAt: number;
}

export class MemoryCounters implements Counters {
  readonly #countedMax: number;
  /** In the order in which their longest windows began, which is the order in which those end. */
  readonly #counts = new Map<string, Counting[]>();

  constructor(countedMax: number) {
    this.#countedMax = countedMax;
  }

  get size(): number {
    return this.#counts.size;
  }

  take(name: string, windows: readonly Window[], now: number, cost: Cost = 1): Soon<CounterResult> {
    const counts = this.#counts.get(name) ?? windows.map(() => ({ used: 0, endsAt: 0 }));
    let taken = true;
    for (let index = 0; index < windows.length; index += 1) {
      const { ms, limit } = windows[index] as Window;
      const count = counts[index] as Counting;
      // A clock that was set back must not make a window last longer than it is.
      if (count.endsAt <= now || count.endsAt - now > ms) {
        count.used = 0;
        count.endsAt = now + ms;
        if (index === windows.length - 1) this.#begin(name, counts, now);
      }
      taken &&= cost <= 0 || count.used < limit;
    }
    if (taken) for (const count of counts) count.used = Math.max(0, count.used + cost);
    return { taken, counts };
  }

  /** Puts it last, and makes room for it: what has ended goes, and what began first when all are under way. */
  #begin(name: string, counts: Counting[], now: number): void {
    this.#counts.delete(name);
    for (const [oldest, others] of this.#counts) {
      const ended = (others.at(-1)?.endsAt ?? 0) <= now;
      if (!ended && this.#counts.size < this.#countedMax) break;
      this.#counts.delete(oldest);
    }
    this.#counts.set(name, counts);
  }
}
