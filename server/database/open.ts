import { hasPostgresTables, openPostgres } from "./postgres.ts";
import { hasSqliteFile, openSqlite } from "./sqlite.ts";
import type { Store } from "./store.ts";

/**
 * Opens the database of a `postgres://` URL or of a data folder; creates and migrates it if needed. A write waits at most
 * `writeWaitMs` for the write of another process (an import), then rejects with StoreUnavailable. `clock` returns the time at
 * which a commit became visible, in ms since 1970; by default this machine's, or that of PostgreSQL.
 * @throws Error with the remedy if a newer program wrote the database, or a migration fails
 */
export async function openStore(place: string, writeWaitMs = 5000, clock?: () => number): Promise<Store> {
  if (isPostgresUrl(place)) return openPostgres(place, writeWaitMs, clock);
  return openSqlite(place, writeWaitMs, clock);
}

/** Opens a database without creating it, so that a command reports a mistyped path. @throws if there is no database */
export async function openExistingStore(place: string, writeWaitMs?: number): Promise<Store> {
  if (isPostgresUrl(place)) {
    if (!(await hasPostgresTables(place)))
      throw new Error("the database of DATABASE_URL is empty, expected one that the server or an import has used");
  } else if (!hasSqliteFile(place)) {
    throw new Error(
      `there is no database in ${place}, expected the --data folder that the server or an import has used`,
    );
  }
  return openStore(place, writeWaitMs);
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}
