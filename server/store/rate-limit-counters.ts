import { sql } from "kysely";
import type { Soon } from "./maybe-promise.ts";
import { noInvalidation, query, type Session } from "./query.ts";
import type { RequestCount } from "./schema.ts";

// Counts requests in a PostgreSQL that several servers share, so that a key has one limit however many of them it asks.
// Ended windows go by the servers' clocks: those must be in step.

/** What has ended is deleted this often; till then it only takes room. */
const PRUNE_MS = 60_000;

/** Rejects with StoreUnavailable while the database is away: a request that cannot be counted is not let through. */
export function storeCounters(session: Session): SharedCounters {
  let prunedAt = 0;

  /** Windows are one or two, the shorter first. */
  function counters(prefix: string): Counters {
    return {
      async take(name, windows, now, cost = 1) {
        if (Math.abs(now - prunedAt) >= PRUNE_MS) {
          prunedAt = now;
          await session.all(prune, { now });
        }
        const row = await counted(session, `${prefix} ${name}`, windows, now, cost);
        return { taken: row.taken, counts: countsOf(row, windows) };
      },
    };
  }

  return { keys: counters("key"), addresses: counters("address") };
}

function countsOf(row: RequestCount, windows: readonly Window[]): WindowCount[] {
  const counts = [
    { used: row.short_used, endsAt: row.short_ends_at },
    { used: row.long_used, endsAt: row.long_ends_at },
  ];
  return counts.slice(0, windows.length);
}

async function counted(
  session: Session,
  name: string,
  windows: readonly Window[],
  now: number,
  cost: Cost,
): Promise<RequestCount> {
  // A single window stands for both.
  const [short, long = short] = windows;
  if (short === undefined || long === undefined) throw new Error("no window is given, expected one or two");
  const row = await session.first(count, {
    name,
    now,
    cost,
    shortLimit: short.limit,
    shortEndsAt: now + short.ms,
    longLimit: long.limit,
    longEndsAt: now + long.ms,
  });
  if (row === undefined) throw new Error("an upsert returned no row");
  return row;
}

interface Counted {
  name: string;
  now: number;
  cost: Cost;
  shortLimit: number;
  shortEndsAt: number;
  longLimit: number;
  longEndsAt: number;
}

// One statement, so that the row's lock makes servers count one after the other. Inside out: which windows go on (a clock
// that was set back must not make one last longer than it is), what they hold, whether there is room in all of them.
const count = query(
  (db, p: Counted) => ({
    compile: () =>
      sql<RequestCount>`
      insert into request_count as stored (name, short_used, short_ends_at, long_used, long_ends_at, taken)
      values (
        ${p.name}, greatest(0, ${p.cost}::integer), ${p.shortEndsAt}, greatest(0, ${p.cost}::integer), ${p.longEndsAt}, true
      )
      on conflict (name) do update set (short_used, short_ends_at, long_used, long_ends_at, taken) = (
        select
          greatest(0, short_used + case when taken then ${p.cost}::integer else 0 end), short_ends_at,
          greatest(0, long_used + case when taken then ${p.cost}::integer else 0 end), long_ends_at,
          taken
        from (
          select *, ${p.cost}::integer <= 0 or (short_used < ${p.shortLimit} and long_used < ${p.longLimit}) as taken
          from (
            select
              case when short_goes_on then stored.short_used else 0 end as short_used,
              case when short_goes_on then stored.short_ends_at else excluded.short_ends_at end as short_ends_at,
              case when long_goes_on then stored.long_used else 0 end as long_used,
              case when long_goes_on then stored.long_ends_at else excluded.long_ends_at end as long_ends_at
            from (
              select
                stored.short_ends_at > ${p.now} and stored.short_ends_at <= excluded.short_ends_at as short_goes_on,
                stored.long_ends_at > ${p.now} and stored.long_ends_at <= excluded.long_ends_at as long_goes_on
            ) as state
          ) as before
        ) as after
      )
      returning name, short_used, short_ends_at, long_used, long_ends_at, taken
    `.compile(db),
  }),
  noInvalidation,
);

const prune = query(
  (db, p: { now: number }) =>
    db.deleteFrom("request_count").where("short_ends_at", "<=", p.now).where("long_ends_at", "<=", p.now),
  noInvalidation,
);

/** A stretch of time that begins with its first request. */
export interface Window {
  readonly name: string;
  readonly ms: number;
  readonly limit: number;
}

/** How full a window is just now; `endsAt` in milliseconds since 1970. */
export interface WindowCount {
  readonly used: number;
  readonly endsAt: number;
}

/** 0 only looks, -1 gives back what was taken. */
export type Cost = -1 | 0 | 1;

export interface CounterResult {
  readonly taken: boolean;
  readonly counts: readonly WindowCount[];
}

/** Where requests are counted. Nodes that share one limit together. */
export interface Counters {
  /**
   * Counts a request in all windows of a name, or in none of them when one is full: a client that keeps asking must not
   * spend its hour on refusals. `counts` are the windows' in order, this request included when it was taken.
   */
  take(name: string, windows: readonly Window[], now: number, cost?: Cost): Soon<CounterResult>;
}

/** Keys and addresses are counted apart: a flood from many addresses must not push a key's count out of a bounded memory. */
export interface SharedCounters {
  readonly keys: Counters;
  readonly addresses: Counters;
}
