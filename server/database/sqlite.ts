import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { copyToOwnSchema } from "../../shared/platform/care/older-schema.ts";
import { migrateSqlite } from "../../shared/platform/care/sqlite-schema.ts";
import { makePrivateFile, makePrivateFolder } from "../../shared/files/private-folder.ts";
import { atEndOfTurn, readVersions, runAndBumpVersions, type Stamped, type Versions } from "./cache-versions.ts";
import { describeDamage } from "../../shared/files/damaged-file.ts";
import { watchFiles } from "../../shared/files/file-watch.ts";
import { LOG_KEPT_BYTES } from "../../shared/log/long-log.ts";
import { trustedDatabase } from "../../shared/files/folder-owner.ts";
import { sqlite } from "./sqlite-schema.ts";
import { migrationsFor } from "./migrations.ts";
import { DamagedRecords, firstWhole, wholeRows } from "./damaged-records.ts";
import { runningClock } from "./running-clock.ts";
import { noteVisible } from "./stamps.ts";
import { filled, type Query, type Session, sqlBuilder, StoreUnavailable } from "./query.ts";
import type { Store } from "./store.ts";

// The store on an SQLite file of the data folder.

const FILE = "vetwire.db";

const WRITE_RETRY_MS = 20;

/** Time without a commit after which the write-ahead log is emptied, because damage to the log loses its commits. */
const IDLE_MS = 5000;

/** Max time that reads continue on a removed file. A check for each read would slow reads down. */
const READS_CHECK_MS = 1000;

export function hasSqliteFile(folder: string): boolean {
  return existsSync(join(folder, FILE));
}

/** Replaces a database that a later version has migrated; see copyToOwnSchema(). */
export function copySqliteToOwnSchema(folder: string): void {
  copyToOwnSchema(join(folder, FILE), migrationsFor(sqlite));
}

/** Opens the SQLite database of a data folder. Committed data is durable (synchronous=FULL). */
export async function openSqlite(folder: string, writeWaitMs: number, clock = runningClock()): Promise<Store> {
  makePrivateFolder(folder);
  const path = join(folder, FILE);
  // The log of a linked database is next to its target, and the lock of this folder keeps no other server from it.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw new Error(`${path} is a link, expected the database itself: move it here, or name its folder as --data`);
  }
  guarded(path, () => makePrivateFile(path));

  // Two connections: a read neither sees part of a transaction nor waits for one.
  const writer = guarded(path, () => connect(path, writeWaitMs));
  writer.pragma(`busy_timeout = ${WRITE_RETRY_MS}`);
  await retryWhileBusy(path, writeWaitMs, () => migrateSqlite(writer, migrationsFor(sqlite)));
  const reader = guarded(path, () => connect(path, writeWaitMs));
  reader.pragma("query_only = ON");

  const place = placeCheck(path);
  const damaged = new DamagedRecords();
  const reads = session(reader, damaged, place.checkOccasionally);
  const writes = writeQueue(writer, session(writer, damaged), { writeWaitMs, clock, checkPlace: place.check });

  return {
    ...reads,
    shared: false,
    damaged,
    transaction: (work) => writes.transaction(work),
    noteVisible: (clinicId) => writes.noteVisible(clinicId),
    ...versionReader(reader, reads),
    async snapshot(work) {
      // Opening a missing file would create it.
      place.check();
      const connection = guarded(path, () => connect(path, writeWaitMs));
      try {
        // Deferred: the first read fixes the snapshot (WAL).
        connection.exec("begin");
        return await work(session(connection, damaged));
      } finally {
        connection.close();
      }
    },
    async ping() {
      place.check();
      guarded(path, () => reader.prepare("select 1").get());
    },
    async close() {
      await writes.end();
      reader.close();
      writer.close();
    },
    pools: () => [],
  };
}

/** Detects that the open files were removed or replaced. `checkOccasionally` skips checks within READS_CHECK_MS. */
function placeCheck(path: string): { check: () => void; checkOccasionally: () => void } {
  const findMissing = watchFiles([path, `${path}-wal`]);
  let checkedAt = performance.now();
  function check(): void {
    if (findMissing() !== null)
      throw new StoreUnavailable(`${path} was removed or replaced: put it back, or restart the server`);
    checkedAt = performance.now();
  }
  return {
    check,
    checkOccasionally() {
      if (performance.now() - checkedAt > READS_CHECK_MS) check();
    },
  };
}

/** Commits transactions one after another. */
function writeQueue(
  writer: Sqlite.Database,
  writes: Session,
  { writeWaitMs, clock, checkPlace }: { writeWaitMs: number; clock: () => number; checkPlace: () => void },
) {
  const path = writer.name;
  let lastWrite: Promise<unknown> = Promise.resolve();
  const idle = setTimeout(() => {
    lastWrite = lastWrite.then(() => emptyLog(writer));
  }, IDLE_MS).unref();

  async function commit<T>(work: (session: Session) => Promise<T>, deadline: number): Promise<T> {
    await retryWhileBusy(path, deadline - performance.now(), () => writer.exec("begin immediate"));
    try {
      const { result, stamped } = await runAndBumpVersions(writes, work, { clock });
      guarded(path, () => writer.exec("commit"));
      if (stamped !== null) await noteCommit(stamped);
      idle.refresh();
      // Checked last: a commit into a removed file is not acknowledged.
      checkPlace();
      return result;
    } catch (error) {
      // After some errors (disk full) SQLite has already rolled back and left the transaction.
      if (writer.inTransaction) writer.exec("rollback");
      throw error;
    }
  }

  /** Does not wait for the disk, nor for another process: a note that is lost is written again after the next read. */
  async function noteCommit({ clinicIds, stamp }: Stamped): Promise<void> {
    const now = Math.max(clock(), stamp);
    try {
      writer.pragma("synchronous = NORMAL");
      writer.exec("begin immediate");
      for (const clinicId of clinicIds) await writes.all(noteVisible, { clinicId, now });
      writer.exec("commit");
    } catch {
      if (writer.inTransaction) writer.exec("rollback");
    } finally {
      writer.pragma("synchronous = FULL");
    }
  }

  return {
    noteVisible(clinicId: number): Promise<void> {
      const noted = lastWrite.then(() => noteCommit({ clinicIds: [clinicId], stamp: 0 }));
      lastWrite = noted;
      return noted;
    },
    transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
      // The deadline includes the time in the queue.
      const deadline = performance.now() + writeWaitMs;
      const result = lastWrite.then(() => commit(work, deadline));
      lastWrite = result.catch(() => undefined);
      return result;
    },
    /** Resolves after the last transaction. */
    async end(): Promise<void> {
      clearTimeout(idle);
      await lastWrite;
    },
  };
}

/** Opens a connection with durable commits. SQLite's default for WAL may lose the last commits in a power cut. */
export function connect(path: string, timeout: number): Sqlite.Database {
  const connection = new Sqlite(trustedDatabase(path), { timeout });
  connection.pragma("journal_mode = WAL");
  // After a long reader the log shrinks again, also on a server that is never idle.
  connection.pragma(`journal_size_limit = ${LOG_KEPT_BYTES}`);
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  // Deleted bytes are overwritten in the file, too.
  connection.pragma("secure_delete = ON");
  return connection;
}

function session(connection: Sqlite.Database, damaged: DamagedRecords, check: () => void = () => undefined): Session {
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
    // Spread, because better-sqlite3 binds arguments faster than an array.
    if (statement.reader) return statement.all(...given) as R[];
    statement.run(...given);
    return [];
  }

  return {
    all: async (asked, parameters) =>
      guarded(connection.name, () => wholeRows(asked.check, parameters, rows(asked, parameters), damaged)),
    first: async (asked, parameters) =>
      guarded(connection.name, () => firstWhole(asked.check, parameters, rows(asked, parameters), damaged)),
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

/** Empties the write-ahead log. If another process uses the database, the log stays until the next attempt. */
function emptyLog(connection: Sqlite.Database): void {
  try {
    connection.pragma("wal_checkpoint(TRUNCATE)");
  } catch {
    // The next commit reports the error.
  }
}

/** Retries while another process writes. SQLite's own busy timeout would block the event loop. */
async function retryWhileBusy<Result>(path: string, waitMs: number, attempt: () => Result): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (
        !(error instanceof Sqlite.SqliteError && error.code.startsWith("SQLITE_BUSY")) ||
        performance.now() > deadline
      ) {
        throw describedError(path, error);
      }
      await sleep(WRITE_RETRY_MS);
    }
  }
}

/** Runs a function of SQLite, with errors that name the file and the remedy. */
function guarded<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw describedError(path, error);
  }
}

const TEMPORARY_ERRORS = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM)/;

function describedError(path: string, error: unknown): unknown {
  if (error instanceof Sqlite.SqliteError && TEMPORARY_ERRORS.test(error.code)) {
    return new StoreUnavailable(`the database cannot be used now: ${error.code}, ${error.message}`, { cause: error });
  }
  return describeDamage(error, path);
}
