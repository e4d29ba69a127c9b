import path from "node:path";
import Database from "better-sqlite3";

/** Empties a spool between tests: opening one starts a thread, which takes longer than most tests. */
export function emptySpool(folder: string): void {
  const db = new Database(path.join(folder, "spool.db"));
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  for (const table of tables) db.exec(`DELETE FROM ${table}`);
  db.close();
}
