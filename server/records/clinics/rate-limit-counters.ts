import { sql } from "kysely";
import { type Session, uncachedWrite } from "../../database/query.ts";
import type { RequestCount } from "../../database/schema.ts";

// Rate-limit counters in a PostgreSQL database, so that servers on one database share each limit. Windows end by the
// servers' own clocks, which must be synchronised.

/**
 * Time in milliseconds by which the clock of a request may be earlier than the start of the window: the request waited for a
 * connection, or another server's clock is ahead. Beyond it the clock was set back, and the window starts again.
 */
export const CLOCK_LAG_MS = 20_000;

/** Interval between deletions of ended windows. */
const PRUNE_MS = 60_000;

/** Counters in the database. `take` rejects with StoreUnavailable while the database is away, so such requests get 503. */
export function storeCounters(session: Session): SharedCounters {
  let prunedAt = 0;

  /** Expects one or two windows, the shorter first. */
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
  // A single window fills both pairs of columns.
  const [short, long = short] = windows;
  if (short === undefined || long === undefined) throw new Error("expected one or two windows, got none");
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

interface CountParameters {
  name: string;
  now: number;
  cost: Cost;
  shortLimit: number;
  shortEndsAt: number;
  longLimit: number;
  longEndsAt: number;
}

const lag = sql.lit(CLOCK_LAG_MS);

// One statement, so that the row lock serialises the servers. From the innermost select outwards: which windows have not
// ended, their counts, and whether all of them have room. A clock that was set back must not lengthen a window by more.
const count = uncachedWrite((db, p: CountParameters) => ({
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
                stored.short_ends_at > ${p.now} and stored.short_ends_at <= excluded.short_ends_at + ${lag} as short_goes_on,
                stored.long_ends_at > ${p.now} and stored.long_ends_at <= excluded.long_ends_at + ${lag} as long_goes_on
            ) as state
          ) as before
        ) as after
      )
      returning name, short_used, short_ends_at, long_used, long_ends_at, taken
    `.compile(db),
}));

const prune = uncachedWrite((db, p: { now: number }) =>
  db.deleteFrom("request_count").where("short_ends_at", "<=", p.now).where("long_ends_at", "<=", p.now),
);

/** A fixed window. It starts with its first request. */
export interface Window {
  readonly name: string;
  readonly ms: number;
  readonly limit: number;
}

/** Requests counted in the current window. `endsAt` is in milliseconds since 1970. */
export interface WindowCount {
  readonly used: number;
  readonly endsAt: number;
}

/** Requests to count: 0 only reads the counts, -1 refunds a request. */
export type Cost = -1 | 0 | 1;

export interface CounterResult {
  /** False if a window was full. The request is not counted then. */
  readonly taken: boolean;
  /** Counts of the windows in their order, this request included. */
  readonly counts: readonly WindowCount[];
}

/** Request counters. Servers that use the same counters share one limit. */
export interface Counters {
  /** Counts a request in all windows of a name, or in none if one is full. Refused requests thus spend no hourly budget. */
  take(name: string, windows: readonly Window[], now: number, cost?: Cost): Promise<CounterResult>;
}

/** Separate counters for keys and addresses: a flood from many addresses must not evict the count of a key. */
export interface SharedCounters {
  readonly keys: Counters;
  readonly addresses: Counters;
}
