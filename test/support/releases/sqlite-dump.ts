import Database from "better-sqlite3";

/** @returns an SQLite file as SQL that makes it again: versions, tables, rows by their keys, then indexes and triggers */
export function dumpSqlite(file: string): string {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    // SQLite makes its own tables, such as that of the last ids.
    const own = "sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";
    const objects = db.prepare(`SELECT type, name, sql FROM sqlite_schema WHERE ${own} ORDER BY rowid`).all();
    const lines = ["PRAGMA foreign_keys = OFF;", "BEGIN;"];
    for (const name of ["user_version", "application_id"]) {
      const value = Number(db.pragma(name, { simple: true }));
      if (value !== 0) lines.push(`PRAGMA ${name} = ${value};`);
    }
    const made = objects as { type: string; name: string; sql: string }[];
    for (const { name, sql } of made.filter(({ type }) => type === "table")) lines.push(`${sql};`, ...rowsOf(db, name));
    for (const { sql } of made.filter(({ type }) => type !== "table")) lines.push(`${sql};`);
    return `${[...lines, "COMMIT;"].join("\n")}\n`;
  } finally {
    db.close();
  }
}

function rowsOf(db: Database.Database, table: string): string[] {
  const columns = db.pragma(`table_info("${table}")`) as { name: string; pk: number }[];
  const quoted = (names: readonly { name: string }[]) => names.map(({ name }) => `"${name}"`).join(", ");
  const keys = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  // A table without a key has rowids.
  const order = keys.length > 0 ? quoted(keys) : "rowid";
  const values = columns.map(({ name }) => `quote("${name}")`).join(` || ', ' || `);
  const insert = `INSERT INTO "${table}" (${quoted(columns)}) VALUES (`;
  const rows = db.prepare(`SELECT ${values} FROM "${table}" ORDER BY ${order}`).pluck().all();
  return rows.map((row) => `${insert}${String(row)});`);
}
