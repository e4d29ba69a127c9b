import { randomInt } from "node:crypto";
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientBase, type ClientConfig, type Pool, type QueryConfig, type QueryResult, types } from "pg";
import { atEndOfTurn, readVersions, runAndBumpVersions, type Stamped, type Versions } from "./cache-versions.ts";
import {
  begin,
  commit,
  commitLogged,
  CONNECT_WAIT_MS,
  execute,
  executeAlone,
  isConnectionLost,
  isSerializationFailure,
  isTakenKey,
  openPool,
  poolState,
  requireWrites,
  unavailable,
  UnknownCommit,
  withClient,
  withPoolClient,
} from "./postgres-client.ts";
import { DamagedRecords, firstWhole, wholeRows } from "./damaged-records.ts";
import { APPLICATION, migrate } from "./postgres-schema.ts";
import { runningClock } from "./running-clock.ts";
import { noteVisible, noteVisibleByDatabaseClock } from "./stamps.ts";
import { filled, type Query, type Session, sqlBuilder } from "./query.ts";
import type { Store } from "./store.ts";

// The store on a PostgreSQL database that several servers may share.

/** Max attempts of a transaction. The last one locks out all others, so that it cannot fail because of them. */
const ATTEMPTS_MAX = 4;

/** Time in ms for which a read or a transaction tries other connections after a lost one. HAProxy may lead them to another primary. */
const RETRY_MS = 1000;
const RETRY_PAUSE_MS = 100;

/**
 * Opens the database of a URL. Committed data is durable (PostgreSQL's synchronous_commit). A write waits at most `writeWaitMs` for the
 * write of another process.
 */
export async function openPostgres(url: string, writeWaitMs = 5000, clock?: () => number): Promise<Store> {
  const config = configOf(url);
  await withClient(config, requireWrites);
  await migrate(config);

  // Two pools: a transaction may read outside itself, and an import must not block readers.
  const readers = openPool(config, writeWaitMs);
  const writers = openPool(config, writeWaitMs);
  const prepare = createPreparer();
  const damaged = new DamagedRecords();
  const asSession = (run: Run) => sessionOn(prepare, run, damaged);
  const now = clock ?? runningClock();
  const noteCommit = noteCommitsBy(asSession, now, clock === undefined ? noteVisibleByDatabaseClock : noteVisible);
  const transactions = new Set<Promise<unknown>>();
  let isClosing = false;

  /** Runs the work again after a lost connection, if `repeats` of the error is set. */
  async function connected<T>(work: () => Promise<T>, repeats: (error: unknown) => boolean): Promise<T> {
    let until: number | undefined;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (isClosing || !isConnectionLost(error) || !repeats(error)) throw error;
        until ??= performance.now() + RETRY_MS;
        if (performance.now() > until) throw error;
        await sleep(RETRY_PAUSE_MS);
      }
    }
  }

  const reads = asSession((statement, isRead) =>
    connected(
      () => withPoolClient(readers, (client) => executeAlone(client, statement)),
      () => isRead,
    ),
  );

  return {
    ...reads,
    shared: true,
    damaged,
    async transaction(work, { repeatable = false } = {}) {
      const result = connected(
        () => transact(writers, { asSession, end: repeatable ? commitLogged : commit, noteCommit, clock: now }, work),
        (error) => repeatable || !(error instanceof UnknownCommit),
      );
      const ended = result.catch(() => undefined).finally(() => transactions.delete(ended));
      transactions.add(ended);
      return result;
    },
    async noteVisible(clinicId) {
      await withPoolClient(writers, (client) => noteCommit(client, { clinicIds: [clinicId], stamp: 0 })).catch(
        () => undefined,
      );
    },
    ...versionReader(reads),
    snapshot: (work) => inTransaction(readers, asSession, { mode: SNAPSHOT, end: (client) => commit(client) }, work),
    ping: () => withPoolClient(readers, requireWrites),
    async close() {
      isClosing = true;
      await Promise.all(transactions);
      await Promise.all([readers.end(), writers.end()]);
    },
    pools: () => [poolState("read", readers), poolState("write", writers)],
  };
}

/** Notes when a commit was visible, after it. */
function noteCommitsBy(asSession: AsSession, now: () => number, note: typeof noteVisible): NoteCommit {
  return async (client, { clinicIds, stamp }) => {
    const session = asSession((statement) => execute(client, statement));
    const at = Math.max(now(), stamp);
    // Does not wait for the disk, nor for a standby: a note that is lost is written again after the next read. All are sent together.
    const steps = [
      begin(client),
      execute(client, "set local synchronous_commit = off"),
      session.each(
        note,
        clinicIds.map((clinicId) => ({ clinicId, now: at })),
      ),
      execute(client, "commit"),
    ];
    await Promise.allSettled(steps);
  };
}

/** @throws Error that quotes no part of the URL, if node-postgres cannot read it: any part of it may be the password */
function configOf(connectionString: string): ClientConfig {
  try {
    void new Client({ connectionString });
  } catch {
    throw new Error("invalid DATABASE_URL, expected a URL such as postgres://user:password@host:5432/database");
  }
  return { ...common, connectionTimeoutMillis: CONNECT_WAIT_MS, connectionString };
}

const SNAPSHOT = "isolation level repeatable read, read only";

/** Runs a statement. `isRead`: it changes nothing. */
type Run = (statement: QueryConfig, isRead: boolean) => Promise<QueryResult>;
type AsSession = (run: Run) => Session;

function sessionOn(prepare: Preparer, run: Run, damaged: DamagedRecords): Session {
  async function rows<P, R>(asked: Query<P, R>, parameters: P): Promise<R[]> {
    const { name, text, values } = prepare(asked as Query<never, unknown>);
    const statement = { name, text, values: filled(values, parameters) };
    return (await run(statement, asked.changes === undefined)).rows as R[];
  }
  return {
    all: async (asked, parameters) => wholeRows(asked.check, parameters, await rows(asked, parameters), damaged),
    first: async (asked, parameters) => firstWhole(asked.check, parameters, await rows(asked, parameters), damaged),
    each: async (asked, list) => void (await Promise.all(list.map(async (parameters) => rows(asked, parameters)))),
  };
}

/** Notes when a commit became visible. Never rejects. */
type NoteCommit = (client: ClientBase, stamped: Stamped) => Promise<void>;

async function inTransaction<T>(
  pool: Pool,
  asSession: AsSession,
  { mode, lock, end }: { mode: string; lock?: string; end: (client: ClientBase, result: T) => Promise<void> },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  return withPoolClient(pool, async (client) => {
    // Every query after a failed one fails too. The first error decides whether to retry.
    let failure: unknown;
    async function run(statement: QueryConfig): Promise<QueryResult> {
      try {
        return await execute(client, statement);
      } catch (error) {
        failure ??= error;
        throw failure;
      }
    }
    await begin(client, mode, lock);
    const result = await work(asSession(run));
    await end(client, result);
    return result;
  });
}

/**
 * Max step of a version. A failover or a restore may lose a write whose version a server has cached: a random step gives the next
 * write another version. Versions stay exact numbers for ten thousand million writes.
 */
const STEP_MAX = 1_000_000;

// SERIALIZABLE: concurrent transactions have the outcome of some serial order, as on SQLite. The lock precedes the first
// query, which fixes the snapshot. Transactions share the lock, except in their last attempt.
async function transact<T>(
  writers: Pool,
  {
    asSession,
    end,
    noteCommit,
    clock,
  }: {
    asSession: AsSession;
    end: (client: ClientBase) => Promise<void>;
    noteCommit: NoteCommit;
    clock: () => number;
  },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const lock = `lock table migration in ${attempt < ATTEMPTS_MAX ? "row share" : "exclusive"} mode`;
    try {
      const mode = "isolation level serializable";
      const endAndNote = async (client: ClientBase, { stamped }: { stamped: Stamped | null }) => {
        await end(client);
        if (stamped !== null) await noteCommit(client, stamped);
      };
      const done = await inTransaction(writers, asSession, { mode, lock, end: endAndNote }, async (own) =>
        runAndBumpVersions(own, work, { clock, step: randomInt(1, STEP_MAX) }),
      );
      return done.result;
    } catch (error) {
      const isLast = attempt === ATTEMPTS_MAX;
      // A key that a concurrent transaction took is a failure of the same kind (manual of PostgreSQL, 13.5), unless it stays taken.
      if (!isSerializationFailure(error) && (isLast || !isTakenKey(error))) throw error;
      if (isLast) throw unavailable(error);
    }
  }
}

/** Reads the versions of a clinic once for all its requests in a turn of the event loop. */
function versionReader(reads: Session): Pick<Store, "refreshVersions" | "versions"> {
  const pending = new Map<number, Promise<Versions>>();
  return {
    refreshVersions: atEndOfTurn(() => {
      pending.clear();
    }),
    versions(clinicId) {
      const versions = pending.get(clinicId) ?? readVersions(reads, clinicId);
      pending.set(clinicId, versions);
      return versions;
    },
  };
}

const builder = sqlBuilder({
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

type Preparer = (asked: Query<never, unknown>) => Statement;

/** Compiles each query once. Each connection prepares a statement once under its name. */
function createPreparer(): Preparer {
  const prepared = new Map<Query<never, unknown>, Statement>();
  return (asked) => {
    let statement = prepared.get(asked);
    if (statement === undefined) {
      const { sql, values } = asked.compile(builder);
      statement = { name: `q${prepared.size}`, text: sql, values };
      prepared.set(asked, statement);
    }
    return statement;
  };
}

const INT8: number = types.builtins.INT8;

// pg returns a bigint as text. The columns hold counts, ids and milliseconds, which a number represents exactly.
const getTypeParser = ((type: number, format?: "text" | "binary") =>
  type === INT8 ? Number : (types.getTypeParser(type, format) as unknown)) as typeof types.getTypeParser;

const common: ClientConfig = { application_name: APPLICATION, keepAlive: true, types: { getTypeParser } };

/** Whether a server or an import has created the tables. */
export async function hasPostgresTables(url: string): Promise<boolean> {
  return withClient(configOf(url), async (client) => {
    const { rows } = await execute(client, "select to_regclass('migration') is not null as found");
    return (rows as [{ found: boolean }])[0].found;
  });
}

/** Returns whether PostgreSQL verifies the checksums of its pages (initdb --data-checksums). */
export async function hasDataChecksums(url: string): Promise<boolean> {
  return withClient(configOf(url), async (client) => {
    const { rows } = await execute(client, "show data_checksums");
    return (rows as [{ data_checksums: string }])[0].data_checksums === "on";
  });
}
