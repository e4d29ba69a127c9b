import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import {
  type Compilable,
  DummyDriver,
  Kysely,
  type KyselyConfig,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { watchFiles } from "./files.ts";
import { type Engine, migrations, type Tables } from "./schema.ts";

// Queries are written once with Kysely, compiled once, and run as prepared statements. Everything that asks the
// database is a promise, and the SQL is what SQLite and PostgreSQL both know, so that a second engine is a second
// openStore() and nothing else.

/** A query and the parameters it waits for. */
export interface Query<Parameters, Row> {
  readonly compile: (builder: Kysely<Tables>) => { sql: string; values: readonly unknown[] };
  // Never set: they carry the two types to the functions that run the query.
  readonly parameters?: Parameters;
  readonly row?: Row;
}

/** Runs queries: each on its own, or inside one transaction. */
export interface Session {
  readonly all: <P, R>(query: Query<P, R>, parameters: P) => Promise<R[]>;
  readonly first: <P, R>(query: Query<P, R>, parameters: P) => Promise<R | undefined>;
}

/** The server's database. */
export interface Store extends Session {
  /** Runs the work in one transaction, committed to disk (synchronous=FULL) when the promise resolves, undone when it rejects. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Reads one state of the database, however long the work takes; writers go on meanwhile. */
  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The database cannot serve just now (locked, full, unreadable): refuse and let the caller come again. */
export class StoreUnavailable extends Error {}

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Describes a query; `p.clinicId` stands for the value given under that name when it runs, and cannot be looked at here. */
export function query<Parameters, Row>(
  build: (db: Kysely<Tables>, p: Parameters) => Compilable<Row>,
): Query<Parameters, Row> {
  // Kysely takes anything that is no expression of its own for a value and lists it in `parameters`, in order.
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) });
  return {
    compile(builder) {
      const { sql, parameters } = build(builder, placeholders as Parameters).compile();
      return { sql, values: parameters };
    },
  };
}

const WRITE_RETRY_MS = 20;

/** How long reads go on from a file that was removed. A look at it takes 4 us: for a commit nothing, for each read too much. */
const READS_CHECK_MS = 1000;

/**
 * Opens (makes, migrates) the SQLite database of a data folder. Throws a plain sentence when a newer program wrote it.
 * A write waits `writeWaitMs` for another process's write (an import) before StoreUnavailable.
 */
export async function openStore(folder: string, writeWaitMs = 5000): Promise<Store> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "vetwire.db");

  // Two connections: a read never sees half a transaction of ours, and never waits for one.
  const writer = guarded(() => connect(path, writeWaitMs));
  writer.pragma(`busy_timeout = ${WRITE_RETRY_MS}`);
  await retryWhileBusy(writeWaitMs, () => {
    migrate(writer, path);
  });
  const reader = connect(path, writeWaitMs);
  reader.pragma("query_only = ON");

  const isInPlace = watchFiles(path);
  let checkedAt = performance.now();
  function checkPlace(): void {
    if (!isInPlace()) throw new StoreUnavailable(`${path} was removed or replaced: put it back, or restart the server`);
    checkedAt = performance.now();
  }

  const reads = session(reader, () => {
    if (performance.now() - checkedAt > READS_CHECK_MS) checkPlace();
  });
  const writes = session(writer);
  let lastWrite: Promise<unknown> = Promise.resolve();

  async function commit<T>(work: (session: Session) => Promise<T>, deadline: number): Promise<T> {
    await retryWhileBusy(deadline - Date.now(), () => writer.exec("begin immediate"));
    try {
      const result = await work(writes);
      guarded(() => writer.exec("commit"));
      // Last of all: what was committed into a removed file is not acknowledged.
      checkPlace();
      return result;
    } catch (error) {
      // SQLite has already rolled back after some failures (disk full), and says so by leaving the transaction.
      if (writer.inTransaction) writer.exec("rollback");
      throw error;
    }
  }

  return {
    ...reads,
    transaction(work) {
      // Counted from here: whoever stands in line behind others has waited already.
      const deadline = Date.now() + writeWaitMs;
      const result = lastWrite.then(() => commit(work, deadline));
      lastWrite = result.catch(() => undefined);
      return result;
    },
    async snapshot(work) {
      // A connection to a path without a file would make one.
      checkPlace();
      const connection = guarded(() => connect(path, writeWaitMs));
      try {
        // Deferred: the first read fixes the state that is seen (WAL).
        connection.exec("begin");
        return await work(session(connection));
      } finally {
        connection.close();
      }
    },
    async ping() {
      checkPlace();
      guarded(() => reader.prepare("select 1").get());
    },
    async close() {
      await lastWrite;
      reader.close();
      writer.close();
    },
  };
}

/** Opens a connection on which a commit is on the disk when it returns: SQLite's default for WAL may lose the last ones to a power cut. */
export function connect(path: string, timeout: number): Sqlite.Database {
  const connection = new Sqlite(path, { timeout });
  connection.pragma("journal_mode = WAL");
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  return connection;
}

function session(connection: Sqlite.Database, check: () => void = () => undefined): Session {
  // Building on a driver that does nothing: Kysely writes the SQL here and never runs it.
  const builder = new Kysely<Tables>({ dialect: compileOnly });
  const prepared = new Map<Query<never, unknown>, { statement: Sqlite.Statement; values: readonly unknown[] }>();

  function prepare(asked: Query<never, unknown>) {
    let entry = prepared.get(asked);
    if (entry === undefined) {
      const { sql, values } = asked.compile(builder);
      entry = { statement: connection.prepare(sql), values };
      prepared.set(asked, entry);
    }
    return entry;
  }

  function rows<P, R>(asked: Query<P, R>, parameters: P): R[] {
    check();
    const { statement, values } = prepare(asked as Query<never, unknown>);
    const given = values.map((value) =>
      value instanceof Placeholder ? (parameters as Record<string, unknown>)[value.name] : value,
    );
    if (statement.reader) return statement.all(given) as R[];
    statement.run(given);
    return [];
  }

  return {
    all: async (asked, parameters) => guarded(() => rows(asked, parameters)),
    first: async (asked, parameters) => guarded(() => rows(asked, parameters)[0]),
  };
}

const compileOnly: KyselyConfig["dialect"] = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

const sqlite: Engine = {
  orderedText: "text",
  refuse: ({ name, event, table, when, message }) =>
    `create trigger ${name} before ${event} on ${table} when ${when} begin select raise(abort, '${message}'); end;`,
};

function migrate(connection: Sqlite.Database, path: string): void {
  const run = connection.transaction(() => {
    connection.exec("create table if not exists migration (version integer primary key, applied_at bigint not null)");
    const { version } = connection.prepare("select coalesce(max(version), 0) as version from migration").get() as {
      version: number;
    };
    if (version > migrations.length) {
      throw new Error(
        `${path} has schema version ${version}, this program knows versions up to ${migrations.length}: use the newer program`,
      );
    }
    for (const [index, statements] of migrations.entries()) {
      if (index < version) continue;
      connection.exec(statements("integer primary key", sqlite));
      connection.prepare("insert into migration (version, applied_at) values (?, ?)").run(index + 1, Date.now());
    }
  });
  run.immediate();
}

/** SQLite's own busy wait stops the event loop; this one lets requests be answered meanwhile. */
async function retryWhileBusy(waitMs: number, attempt: () => void): Promise<void> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    try {
      attempt();
      return;
    } catch (error) {
      if (!(error instanceof Sqlite.SqliteError && error.code.startsWith("SQLITE_BUSY")) || Date.now() > deadline) {
        throw unavailable(error);
      }
      await sleep(WRITE_RETRY_MS);
    }
  }
}

function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw unavailable(error);
  }
}

const PASSING_FAULTS = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM)/;

function unavailable(error: unknown): unknown {
  if (error instanceof Sqlite.SqliteError && PASSING_FAULTS.test(error.code)) {
    return new StoreUnavailable(`the database cannot be used now: ${error.code}, ${error.message}`, { cause: error });
  }
  return error;
}
