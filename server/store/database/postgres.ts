import { randomInt } from "node:crypto";
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientBase, type ClientConfig, type Pool, type QueryConfig, type QueryResult, types } from "pg";
import { atEndOfTurn, readVersions, runAndBumpVersions, type Versions } from "./cache-versions.ts";
import {
  commit,
  commitLogged,
  CONNECT_WAIT_MS,
  execute,
  isNodeLost,
  isSerializationFailure,
  isTakenKey,
  unavailable,
  UnknownCommit,
  withClient,
  withPoolClient,
} from "./postgres-client.ts";
import { LEASE_MS } from "./postgres-lease.ts";
import { Primary, type PrimaryNode } from "./postgres-primary.ts";
import { invalidUrl, readDatabaseUrl } from "./postgres-url.ts";
import { firstWhole, wholeRows } from "./checksum.ts";
import { DamagedRecords } from "./damaged-records.ts";
import { APPLICATION, migrate } from "./postgres-schema.ts";
import { Behind, Standbys } from "./postgres-standbys.ts";
import { filled, type Query, type Session, sqlBuilder, StoreUnavailable } from "./query.ts";
import type { ReadPoint, Store } from "./store.ts";

// The store on a PostgreSQL database that several servers may share.

/** Max attempts of a transaction. The last one locks out all others, so that it cannot fail because of them. */
const ATTEMPTS_MAX = 4;

/** Time in ms for which a transaction looks for the next primary. Half of the time that an agent waits for its push. */
const RETRY_MS = 10_000;
const RETRY_PAUSE_MS = 100;

export interface PostgresOptions {
  /** Max time in ms that a write waits for the write of another process. */
  readonly writeWaitMs: number;
  /** Time in ms for which a commit proves that its node is the primary. */
  readonly leaseMs: number;
  /** URL of the nodes that serve reads of one version of a clinic. Null for none. */
  readonly readUrl: string | null;
}

const defaults: PostgresOptions = { writeWaitMs: 5000, leaseMs: LEASE_MS, readUrl: null };

/** Opens the database of a URL. Committed data is durable (PostgreSQL's synchronous_commit). */
export async function openPostgres(url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const { writeWaitMs, leaseMs, readUrl } = { ...defaults, ...options };
  const primary = primaryOf(url, { lock_timeout: writeWaitMs }, leaseMs, readUrl !== null);
  const standbys = readUrl === null ? null : standbysOf(readUrl);
  await migrate(await primary.config());

  const prepare = createPreparer();
  const damaged = new DamagedRecords();
  const asSession = (run: Run) => sessionOn(prepare, run, damaged);
  const reads = asSession((statement) =>
    primary.read((readers) => withPoolClient(readers, (client) => execute(client, statement))),
  );
  const transactions = new Set<Promise<unknown>>();
  let isClosing = false;

  /** Runs a transaction, on the next primary if the present one is lost. */
  async function transact<T>(work: (session: Session) => Promise<T>, isRepeatable: boolean): Promise<T> {
    let until: number | undefined;
    for (;;) {
      try {
        return await primary.use((node) => transactOn(node, asSession, work));
      } catch (error) {
        const mayBeDone = error instanceof UnknownCommit && !isRepeatable;
        if (!primary.hasSuccessors || isClosing || mayBeDone || !isNodeLost(error)) throw error;
        until ??= performance.now() + RETRY_MS;
        if (performance.now() > until) throw error;
        await sleep(RETRY_PAUSE_MS);
      }
    }
  }

  return {
    ...reads,
    shared: true,
    loss: null,
    damaged,
    async transaction(work, { repeatable = false } = {}) {
      const result = transact(work, repeatable);
      const ended = result.catch(() => undefined).finally(() => transactions.delete(ended));
      transactions.add(ended);
      return result;
    },
    ...versionReader(reads),
    async readAt(at, work) {
      const read = await standbys?.read((client) => readOnStandby(client, prepare, at, work));
      return read ? read.result : work(reads);
    },
    snapshot: (work) => primary.read((readers) => inTransaction(readers, asSession, SNAPSHOT, commit, work), false),
    async ping() {
      await primary.read((readers) => withPoolClient(readers, (client) => execute(client, "select 1")));
    },
    async close() {
      isClosing = true;
      await Promise.all(transactions);
      await Promise.all([primary.close(), standbys?.close()]);
    },
    pools: () => [...primary.pools(), ...(standbys?.pools() ?? [])],
  };
}

/** The primary among the hosts of a URL. It has successors if there are other nodes, or if the URL asks for a role. */
function primaryOf(url: string, more: ClientConfig, leaseMs: number, hasStandbys: boolean): Primary {
  const { hosts, target, connectMs } = readDatabaseUrl(url, "DATABASE_URL");
  if (target !== null && !/^(any|read-write|primary)$/.test(target)) {
    throw new Error("DATABASE_URL asks for a standby, expected target_session_attrs=read-write, primary or any");
  }
  const connectionTimeoutMillis = connectMs ?? CONNECT_WAIT_MS;
  const isCluster = hasStandbys || hosts.length > 1 || (target !== null && target !== "any");
  return new Primary({
    hosts: hosts.map((host) => ({ ...common, connectionTimeoutMillis, ...more, ...checkedUrl(host, "DATABASE_URL") })),
    leaseMs: isCluster ? leaseMs : null,
  });
}

function standbysOf(url: string): Standbys {
  const { hosts, target } = readDatabaseUrl(url, "DATABASE_READ_URL");
  if (target === "read-write" || target === "primary") {
    throw new Error("DATABASE_READ_URL asks for the primary, expected target_session_attrs=any, standby or read-only");
  }
  const configs = hosts.map((host) => ({ ...common, ...checkedUrl(host, "DATABASE_READ_URL") }));
  return new Standbys(configs, target !== null && target !== "any");
}

/** @throws Error that quotes no part of the URL, if node-postgres cannot read it */
function checkedUrl(connectionString: string, variable: string): ClientConfig {
  try {
    void new Client({ connectionString });
    return { connectionString };
  } catch {
    throw invalidUrl(variable);
  }
}

const SNAPSHOT = "begin isolation level repeatable read, read only";

type Run = (statement: QueryConfig) => Promise<QueryResult>;
type AsSession = (run: Run) => Session;

function sessionOn(prepare: Preparer, run: Run, damaged: DamagedRecords): Session {
  async function rows<P, R>(asked: Query<P, R>, parameters: P): Promise<R[]> {
    const { name, text, values } = prepare(asked as Query<never, unknown>);
    return (await run({ name, text, values: filled(values, parameters).map(withoutNul) })).rows as R[];
  }
  return {
    all: async (asked, parameters) => wholeRows(asked, parameters, await rows(asked, parameters), damaged),
    first: async (asked, parameters) => firstWhole(asked, parameters, await rows(asked, parameters), damaged),
    each: async (asked, list) => void (await Promise.all(list.map(async (parameters) => rows(asked, parameters)))),
  };
}

async function inTransaction<T>(
  pool: Pool,
  asSession: AsSession,
  begin: string,
  end: (client: ClientBase) => Promise<void>,
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
    await execute(client, begin);
    const result = await work(asSession(run));
    await end(client);
    return result;
  });
}

/**
 * Max step of a version. A random step lets two histories that part at a failover differ in their versions. Versions stay exact
 * numbers for ten thousand million writes.
 */
const STEP_MAX = 1_000_000;

// SERIALIZABLE: concurrent transactions have the outcome of some serial order, as on SQLite. The lock precedes the first
// query, which fixes the snapshot. Transactions share the lock, except in their last attempt.
async function transactOn<T>(
  { writers, lease }: PrimaryNode,
  asSession: AsSession,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const end = async (client: ClientBase) => {
    if (lease === null) return commit(client);
    const sentAt = performance.now();
    await commitLogged(client);
    lease.note(sentAt);
  };
  for (let attempt = 1; ; attempt += 1) {
    const lock = attempt < ATTEMPTS_MAX ? "row share" : "exclusive";
    try {
      const begin = `begin isolation level serializable; lock table migration in ${lock} mode`;
      return await inTransaction(writers, asSession, begin, end, async (own) =>
        runAndBumpVersions(own, work, randomInt(1, STEP_MAX)),
      );
    } catch (error) {
      const isLast = attempt === ATTEMPTS_MAX;
      // A key that a concurrent transaction took is a failure of the same kind (manual of PostgreSQL, 13.5), unless it stays taken.
      if (!isSerializationFailure(error) && (isLast || !isTakenKey(error))) throw error;
      if (isLast) throw unavailable(error);
    }
  }
}

/**
 * Reads in one snapshot of a standby that has exactly that version. A later one is refused too: a standby may show a commit that no
 * client was told of, and that a failover loses. @throws Behind if the standby cannot serve the read
 */
async function readOnStandby<T>(
  client: ClientBase,
  prepare: Preparer,
  { clinicId, version }: ReadPoint,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  // A damaged row of the standby is whole on the primary.
  const damaged = new DamagedRecords();
  damaged.report = (record) => {
    throw record;
  };
  const session = sessionOn(prepare, (statement) => execute(client, statement), damaged);
  const [, found] = await Promise.all([
    execute(client, SNAPSHOT),
    readVersions(session, clinicId).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) throw error;
      throw new Behind("the standby lacks the clinic", { cause: error });
    }),
  ]);
  if (found.answers !== version) throw new Behind("the standby has another version of the clinic");
  const result = await work(session);
  await commit(client);
  return result;
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

/** Replaces NUL, which PostgreSQL's text cannot contain. Stored text has no NUL, so such a filter finds nothing. */
function withoutNul(value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\0", "\u{FFFD}") : value;
}

const INT8: number = types.builtins.INT8;

// pg returns a bigint as text. The columns hold counts, ids and milliseconds, which a number represents exactly.
const getTypeParser = ((type: number, format?: "text" | "binary") =>
  type === INT8 ? Number : (types.getTypeParser(type, format) as unknown)) as typeof types.getTypeParser;

const common: ClientConfig = { application_name: APPLICATION, keepAlive: true, types: { getTypeParser } };

/** Whether a server or an import has created the tables. */
export async function hasPostgresTables(url: string): Promise<boolean> {
  return withClient(await primaryOf(url, {}, LEASE_MS, false).config(), async (client) => {
    const { rows } = await execute(client, "select to_regclass('migration') is not null as found");
    return (rows as [{ found: boolean }])[0].found;
  });
}
