import type { Loss } from "../../shared/commit-mark.ts";
import type { Soon } from "../soon.ts";
import { hasPostgresTables, openPostgres } from "./postgres.ts";
import type { Session } from "./query.ts";
import { hasSqliteFile, openSqlite } from "./sqlite.ts";
import type { Versions } from "./versions.ts";

export { nobody, type Query, query, type Session, StoreUnavailable } from "./query.ts";
export { connect } from "./sqlite.ts";
export type { Versions } from "./versions.ts";

/** The server's database. */
export interface Store extends Session {
  /** Other servers may work on the same database at the same time. */
  readonly shared: boolean;
  /** Acknowledged commits that are missing, as found within the last 30 days. Null on PostgreSQL, which guards its own log. */
  readonly loss: Loss | null;
  /**
   * Runs the work in one transaction, on the disk when the promise resolves, undone when it rejects. The work is run again
   * when PostgreSQL undid it for another server's sake: what it changes besides the session, it must begin anew.
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Looks for what was committed, by whatever process, until this was asked or later: `versions` knows it then. */
  look(): Promise<void>;
  /** A clinic's versions as the last look found them. */
  versions(clinicId: number): Soon<Versions>;
  /** Reads one state of the database, however long the work takes; writers go on meanwhile. */
  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens (makes, migrates) the database: that of a `postgres://` URL, or the SQLite file of a data folder. Throws a plain
 * sentence when a newer program wrote it. A write waits `writeWaitMs` for another process's write (an import) before
 * StoreUnavailable.
 */
export async function openStore(place: string, writeWaitMs = 5000): Promise<Store> {
  return isPostgresUrl(place) ? openPostgres(place, writeWaitMs) : openSqlite(place, writeWaitMs);
}

/** Opens a database for a command that makes none: a mistyped path is told. @throws when there is no database */
export async function openExistingStore(place: string): Promise<Store> {
  if (isPostgresUrl(place)) {
    if (!(await hasPostgresTables(place)))
      throw new Error("the database of DATABASE_URL is empty, expected one that the server or an import has used");
  } else if (!hasSqliteFile(place)) {
    throw new Error(
      `there is no database in ${place}, expected the --data folder that the server or an import has used`,
    );
  }
  return openStore(place);
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}
