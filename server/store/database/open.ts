import { hasPostgresTables, openPostgres } from "./postgres.ts";
import { hasSqliteFile, openSqlite } from "./sqlite.ts";
import type { Store } from "./store.ts";

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
