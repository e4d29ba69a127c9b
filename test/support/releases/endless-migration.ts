import { writeSync } from "node:fs";
import Database from "better-sqlite3";
import { migrateSqlite } from "../../../shared/platform/care/sqlite-schema.ts";

// A process that a test kills within a migration: `FILE KNOWN`, the versions that the file has. It prints a line within the migration.

const [file = "", known = ""] = process.argv.slice(2);
const db = new Database(file);
db.function("reached", () => writeSync(1, "within the migration\n"));
// Ten megabytes: pages of the transaction are on the disk before its end.
db.pragma("cache_size = 10");
const filled = "CREATE TABLE filler AS SELECT randomblob(10000000) AS bytes";
const endless = "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n";
migrateSqlite(db, [...Array.from({ length: Number(known) }, () => ""), filled, `SELECT reached(); ${endless}`]);
