import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import {
  Client,
  type ClientBase,
  type ClientConfig,
  DatabaseError,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryConfig,
  type QueryResult,
  types,
} from "pg";
import { type Engine, missingMigrations } from "./migrations.ts";
import { filled, type Query, type Session, sqlBuilder, StoreUnavailable } from "./query.ts";
import type { Store } from "./store.ts";
import { atEndOfTurn, runAndBumpVersions, readVersions, type Versions } from "./cache-versions.ts";

// The database as a PostgreSQL that several servers may share.

/** Max connections for reading, and as many for writing. PostgreSQL's own limit is 100 for all clients. */
const CONNECTIONS_MAX = 5;

/** How long a request waits for a connection. */
const CONNECT_WAIT_MS = 5000;

/** A statement of ours takes milliseconds; what takes this long has no database behind it any more. */
const ANSWER_WAIT_MS = 15_000;

/** How often a transaction is tried; the last time alone, so that it cannot lose against another again. */
const ATTEMPTS_MAX = 4;

/** The database that a URL names; what is committed is on the disk (PostgreSQL's synchronous_commit). */
export async function openPostgres(url: string, lockWaitMs: number): Promise<Store> {
  const config: ClientConfig = {
    ...readUrl(url),
    application_name: "vetwire",
    connectionTimeoutMillis: CONNECT_WAIT_MS,
    keepAlive: true,
    types: { getTypeParser },
  };
  await migrate(config);

  // Apart: a transaction may read beside itself, and an import must not hold up readers.
  const readers = openPool({ ...config, lock_timeout: lockWaitMs });
  const writers = openPool({ ...config, lock_timeout: lockWaitMs });
  const prepare = preparer();
  const transactions = new Set<Promise<unknown>>();

  function session(run: (statement: QueryConfig) => Promise<QueryResult>): Session {
    async function rows<P, R>(asked: Query<P, R>, parameters: P): Promise<R[]> {
      const { name, text, values } = prepare(asked as Query<never, unknown>);
      return (await run({ name, text, values: filled(values, parameters).map(withoutNul) })).rows as R[];
    }
    return {
      all: rows,
      first: async (asked, parameters) => (await rows(asked, parameters))[0],
      each: async (asked, list) => void (await Promise.all(list.map(async (parameters) => rows(asked, parameters)))),
    };
  }

  async function inside<T>(pool: Pool, begin: string, work: (session: Session) => Promise<T>): Promise<T> {
    return borrowed(pool, async (client) => {
      // A query after a failure fails because of it. The first failure decides whether to try again.
      let failure: unknown;
      async function run(statement: QueryConfig): Promise<QueryResult> {
        try {
          return await ask(client, statement);
        } catch (error) {
          failure ??= error;
          throw failure;
        }
      }
      await ask(client, begin);
      const result = await work(session(run));
      await ask(client, "commit");
      return result;
    });
  }

  // SERIALIZABLE: whatever servers do at once, the outcome is that of one after the other, as on SQLite. The lock is taken
  // before the first query fixes what the transaction sees; usually it is shared with all others.
  async function commit<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const lock = attempt < ATTEMPTS_MAX ? "row share" : "exclusive";
      try {
        const begin = `begin isolation level serializable; lock table migration in ${lock} mode`;
        return await inside(writers, begin, async (own) => runAndBumpVersions(own, work));
      } catch (error) {
        if (!(error instanceof DatabaseError && LOST_AGAINST_ANOTHER.test(error.code ?? ""))) throw error;
        if (attempt === ATTEMPTS_MAX) throw unavailable(error);
      }
    }
  }

  const reads = session((statement) => borrowed(readers, (client) => ask(client, statement)));

  return {
    ...reads,
    shared: true,
    loss: null,
    async transaction(work) {
      const result = commit(work);
      const settled = result.catch(() => undefined).finally(() => transactions.delete(settled));
      transactions.add(settled);
      return result;
    },
    ...versionReader(reads),
    snapshot: (work) => inside(readers, "begin isolation level repeatable read, read only", work),
    async ping() {
      await borrowed(readers, (client) => ask(client, "select 1"));
    },
    async close() {
      await Promise.all(transactions);
      await Promise.all([readers.end(), writers.end()]);
    },
  };
}

/** Asks once for all requests of a clinic in a turn of the event loop. */
function versionReader(reads: Session): Pick<Store, "refreshVersions" | "versions"> {
  const asked = new Map<number, Promise<Versions>>();
  return {
    refreshVersions: atEndOfTurn(() => {
      asked.clear();
    }),
    versions(clinicId) {
      const versions = asked.get(clinicId) ?? readVersions(reads, clinicId);
      asked.set(clinicId, versions);
      return versions;
    },
  };
}

/** No part of the URL may come into a message: where its marks are not where they should be, any may hold the password. */
function readUrl(url: string): ClientConfig {
  try {
    // Read here once, where it can be told what is wrong.
    void new Client({ connectionString: url });
    return { connectionString: url };
  } catch {
    throw new Error("DATABASE_URL cannot be read, expected such as postgres://user:password@host:5432/database");
  }
}

function openPool(config: PoolConfig): Pool {
  // An import asks many things at once: they go out without waiting for each other's answers. Not in pg's types yet.
  const pipelined = { pipeline: true };
  const pool = new Pool({ ...config, ...pipelined, max: CONNECTIONS_MAX, query_timeout: ANSWER_WAIT_MS });
  // A connection that is lost while nobody uses it is replaced when somebody needs one; who uses it is told by its query.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

async function borrowed<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw unavailable(error);
  });
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    // After a passing fault nobody knows what state the connection is in: it is given up, which undoes as well.
    const usable = !(error instanceof StoreUnavailable) && (await undone(client));
    client.release(!usable);
    throw error;
  }
}

async function undone(client: PoolClient): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    return false;
  }
}

async function ask(client: ClientBase, statement: string | QueryConfig): Promise<QueryResult> {
  try {
    return await client.query(statement);
  } catch (error) {
    throw isPassing(error) ? unavailable(error) : withoutValues(error);
  }
}

const LOST_AGAINST_ANOTHER = /^(40001|40P01)$/;

// Connection lost, no room or connection left, shut down or starting, disk fault, read-only standby, lock not got, cancelled;
// and a table that a newer program changed under a statement prepared before.
const PASSING_FAULTS = /^(08|53|57P|58|25006|55P03|57014|0A000)/;

/** An error of PostgreSQL has a code; any other error is the connection's. */
function isPassing(error: unknown): boolean {
  return !(error instanceof DatabaseError) || PASSING_FAULTS.test(error.code ?? "");
}

function unavailable(error: unknown): StoreUnavailable {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = [code, message].filter(Boolean).join(", ");
  return new StoreUnavailable(`the database cannot be used now: ${reason}`, { cause: error });
}

/** The row that an error speaks of holds names, which must not come into a log. */
function withoutValues(error: unknown): unknown {
  if (error instanceof DatabaseError) {
    error.detail = undefined;
    error.where = undefined;
  }
  return error;
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

/** Compiles each query once; under its name each connection prepares it once. */
function preparer(): (asked: Query<never, unknown>) => Statement {
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

/** PostgreSQL's text holds no NUL. What is stored has none, so a filter with one finds nothing, as it should. */
function withoutNul(value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\0", "\u{FFFD}") : value;
}

const INT8: number = types.builtins.INT8;

/** Our bigints are counts, ids and milliseconds, all far below what a number holds exactly; pg gives them as text. */
const getTypeParser = ((type: number, format?: "text" | "binary") =>
  type === INT8 ? Number : (types.getTypeParser(type, format) as unknown)) as typeof types.getTypeParser;

const postgres: Engine = {
  id: "bigint generated by default as identity primary key",
  orderedText: 'text collate "C"',
  shared: true,
  refuse: ({ name, event, table, when, message }) => `
    create function ${name}() returns trigger language plpgsql as $$ begin raise exception '${message}'; end $$;
    create trigger ${name} before ${event} on ${table} for each row when (${when}) execute function ${name}();
  `,
  renameIndex: ({ from, to }) => `alter index ${from} rename to ${to};`,
};

/** Any number, the same in every version: servers that start at once migrate one after the other. */
const MIGRATION_LOCK = 7_306_921;

async function migrate(config: ClientConfig): Promise<void> {
  await withClient(config, async (client) => {
    await ask(client, `begin; select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await ask(client, "create table if not exists migration (version integer primary key, applied_at bigint not null)");
    const { rows } = await ask(client, "select coalesce(max(version), 0) as version from migration");
    const [{ version }] = rows as [{ version: number }];
    for (const { number, statements } of missingMigrations("the database", version, postgres)) {
      await ask(client, statements);
      const text = "insert into migration (version, applied_at) values ($1, $2)";
      await ask(client, { text, values: [number, Date.now()] });
    }
    await ask(client, "commit");
  });
}

/** Whether a server or an import has used the database. */
export async function hasPostgresTables(url: string): Promise<boolean> {
  return withClient({ ...readUrl(url), connectionTimeoutMillis: CONNECT_WAIT_MS }, async (client) => {
    const { rows } = await ask(client, "select to_regclass('migration') is not null as found");
    return (rows as [{ found: boolean }])[0].found;
  });
}

async function withClient<T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config);
  client.on("error", () => undefined);
  await client.connect().catch((error: unknown) => {
    throw unavailable(error);
  });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
