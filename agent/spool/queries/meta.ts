import type Database from "better-sqlite3";

// Values that are kept by key: the progress of the directory, the state of the server, the clock's offset.

/** Part of operationsOn(). */
export function metaOperationsOn(db: Database.Database) {
  const sql = {
    getMeta: db.prepare("SELECT value FROM meta WHERE key = ?").pluck(),
    setMeta: db.prepare(
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ),
  };
  return {
    getMeta(key: string): string | null {
      return (sql.getMeta.get(key) as string | undefined) ?? null;
    },

    setMeta(key: string, value: string): void {
      sql.setMeta.run(key, value);
    },
  };
}
