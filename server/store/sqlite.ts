import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { CommitMark, recentLoss } from "../../shared/runtime/commit-mark.ts";
import { describeDamage } from "../../shared/runtime/damaged-file.ts";
import { makePrivateFile, makePrivateFolder } from "../../shared/runtime/private-folder.ts";
import { watchFiles } from "./file-watch.ts";
import { type Engine, missingMigrations } from "./migrations.ts";
import { filled, type Query, type Session, sqlBuilder, StoreUnavailable } from "./query.ts";
import type { Store } from "./types.ts";
import { atEndOfTurn, runAndBumpVersions, readVersions, type Versions } from "./cache-versions.ts";

// The database as a file of the data folder.

const FILE = "vetwire.db";

const WRITE_RETRY_MS = 20;

/** After that time without a commit the write-ahead log is emptied: damage to it loses commits. */
const IDLE_MS = 5000;

/** How long reads go on from a file that was removed. A look at it takes 4 us: for a commit nothing, for each read too much. */
const READS_CHECK_MS = 1000;

export function hasSqliteFile(folder: string): boolean {
  return existsSync(join(folder, FILE));
}

/** The SQLite database of a data folder; what is committed is on the disk (synchronous=FULL). */
export async function openSqlite(folder: string, writeWaitMs: number): Promise<Store> {
  makePrivateFolder(folder);
  const path = join(folder, FILE);
  guarded(path, () => makePrivateFile(path));

  // Two connections: a read never sees half a transaction of ours, and never waits for one.
  const writer = guarded(path, () => connect(path, writeWaitMs));
  writer.pragma(`busy_timeout = ${WRITE_RETRY_MS}`);
  const mark = await retryWhileBusy(path, writeWaitMs, () => {
    migrate(writer, path);
    return new CommitMark(writer, join(folder, "vetwire.mark"));
  });
  const reader = guarded(path, () => connect(path, writeWaitMs));
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
  const idle = setTimeout(() => {
    lastWrite = lastWrite.then(() => emptyLog(writer));
  }, IDLE_MS).unref();
  const changes = writer.prepare("select total_changes()").pluck();

  async function commit<T>(work: (session: Session) => Promise<T>, deadline: number): Promise<T> {
    await retryWhileBusy(path, deadline - Date.now(), () => writer.exec("begin immediate"));
    try {
      const before = changes.get();
      const result = await runAndBumpVersions(writes, work);
      const counted = changes.get() === before ? null : guarded(path, () => mark.count());
      guarded(path, () => writer.exec("commit"));
      if (counted !== null) mark.save(counted);
      idle.refresh();
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
    shared: false,
    loss: recentLoss(reader),
    transaction(work) {
      // Counted from here: whoever stands in line behind others has waited already.
      const deadline = Date.now() + writeWaitMs;
      const result = lastWrite.then(() => commit(work, deadline));
      lastWrite = result.catch(() => undefined);
      return result;
    },
    ...versionReader(reader, reads),
    async snapshot(work) {
      // A connection to a path without a file would make one.
      checkPlace();
      const connection = guarded(path, () => connect(path, writeWaitMs));
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
      guarded(path, () => reader.prepare("select 1").get());
    },
    async close() {
      clearTimeout(idle);
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
    const given = filled(values, parameters);
    // Spread: SQLite's binding reads arguments in half the time that it takes to read an array.
    if (statement.reader) return statement.all(...given) as R[];
    statement.run(...given);
    return [];
  }

  return {
    all: async (asked, parameters) => guarded(connection.name, () => rows(asked, parameters)),
    first: async (asked, parameters) => guarded(connection.name, () => rows(asked, parameters)[0]),
    each: async (asked, list) =>
      guarded(connection.name, () => {
        for (const parameters of list) rows(asked, parameters);
      }),
  };
}

/** Caches versions until SQLite's data_version shows a commit by another connection. */
function versionReader(reader: Sqlite.Database, reads: Session): Pick<Store, "refreshVersions" | "versions"> {
  const dataVersion = reader.prepare("pragma data_version").pluck();
  const known = new Map<number, Versions>();
  let seen: unknown;

  async function read(clinicId: number): Promise<Versions> {
    const versions = await readVersions(reads, clinicId);
    known.set(clinicId, versions);
    return versions;
  }

  return {
    refreshVersions: atEndOfTurn(() => {
      const current = guarded(reader.name, () => dataVersion.get());
      if (current !== seen) known.clear();
      seen = current;
    }),
    versions: async (clinicId) => known.get(clinicId) ?? read(clinicId),
  };
}

const builder = sqlBuilder({
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
});

const sqlite: Engine = {
  id: "integer primary key",
  orderedText: "text",
  shared: false,
  refuse: ({ name, event, table, when, message }) =>
    `create trigger ${name} before ${event} on ${table} when ${when} begin select raise(abort, '${message}'); end;`,
};

function migrate(connection: Sqlite.Database, path: string): void {
  const run = connection.transaction(() => {
    connection.exec("create table if not exists migration (version integer primary key, applied_at bigint not null)");
    const { version } = connection.prepare("select coalesce(max(version), 0) as version from migration").get() as {
      version: number;
    };
    for (const { number, statements } of missingMigrations(path, version, sqlite)) {
      connection.exec(statements);
      connection.prepare("insert into migration (version, applied_at) values (?, ?)").run(number, Date.now());
    }
  });
  run.immediate();
}

/** Where another process reads or writes, the log stays until the next time. */
function emptyLog(connection: Sqlite.Database): void {
  try {
    connection.pragma("wal_checkpoint(TRUNCATE)");
  } catch {
    // The next commit reports the fault.
  }
}

/** SQLite's own busy wait stops the event loop; this one lets requests be answered meanwhile. */
async function retryWhileBusy<Result>(path: string, waitMs: number, attempt: () => Result): Promise<Result> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!(error instanceof Sqlite.SqliteError && error.code.startsWith("SQLITE_BUSY")) || Date.now() > deadline) {
        throw told(path, error);
      }
      await sleep(WRITE_RETRY_MS);
    }
  }
}

function guarded<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw told(path, error);
  }
}

const PASSING_FAULTS = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM)/;

function told(path: string, error: unknown): unknown {
  if (error instanceof Sqlite.SqliteError && PASSING_FAULTS.test(error.code)) {
    return new StoreUnavailable(`the database cannot be used now: ${error.code}, ${error.message}`, { cause: error });
  }
  return describeDamage(error, path);
}
