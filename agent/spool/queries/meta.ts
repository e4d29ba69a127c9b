import type Database from "better-sqlite3";
import { isWhole, rowChecksum } from "../../../shared/runtime/row-checksum.ts";

// Values with a checksum that are kept by key: the progress of the directory, the state of the server, the clock's offset.

/** Part of operationsOn(). */
export function metaOperationsOn(db: Database.Database) {
  const sql = {
    getMeta: db.prepare("SELECT value FROM meta WHERE key = ?").pluck(),
    setMeta: db.prepare(
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ),
  };
  return {
    /** A damaged value is null, as if it had never been stored: its owner fetches or computes it again. */
    getMeta(key: string): string | null {
      const value = (sql.getMeta.get(key) as string | undefined) ?? null;
      const checksum = (sql.getMeta.get(checksumKey(key)) as string | undefined) ?? null;
      return isWhole(checksum === null ? null : Number(checksum), [key, value]) ? value : null;
    },

    setMeta(key: string, value: string): void {
      sql.setMeta.run(key, value);
      sql.setMeta.run(checksumKey(key), String(rowChecksum([key, value])));
    },
  };
}

function checksumKey(key: string): string {
  return `checksum:${key}`;
}
