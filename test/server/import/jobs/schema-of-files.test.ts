import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { migrationsFor } from "../../../../server/database/migrations.ts";
import { sqlite } from "../../../../server/database/sqlite-schema.ts";

// The schema of imported files: a database that has some gets the next version.

test("files under way keep their parts and refused lines when their table is made again", () => {
  const db = new Database(":memory:");
  db.pragma("foreign_keys = ON");
  const migrations = migrationsFor(sqlite);
  const next = migrations.findIndex((sql) => sql.includes("create table imported_file"));
  for (const sql of migrations.slice(0, next)) db.exec(sql);
  db.exec(`
    insert into clinic (id, fp, name) values (1, 'c', 'Clinic');
    insert into dashboard_user (id, public_id, name, sign_in_name, password, created_at) values (7, 'u', 'Ada', 'ada', 'x', 1);
  `);
  const file = `insert into file_import (id, public_id, clinic_id, user_id, file_name, phase, choices, done, lease_until, started_at)
    values (3, 'p', 1, 7, 'a.csv', 'running', '{}', 200, 0, 5)`;
  db.exec(file);
  db.exec("insert into file_import_part values (3, 0, 'content')");
  db.exec("insert into file_import_refusal values (3, 12, 14, '[]')");
  const before = db.prepare("select * from file_import").all();
  db.transaction(() => db.exec(migrations[next] ?? ""))();

  expect(db.prepare("select * from file_import").all()).toEqual(
    before.map((row) => ({ ...(row as object), api_key_id: null })),
  );
  expect(db.prepare("select content from file_import_part").pluck().all()).toEqual(["content"]);
  expect(db.prepare("select line from file_import_refusal").pluck().all()).toEqual([14]);
  expect(db.pragma("foreign_key_check")).toEqual([]);
  // A part belongs to the new table.
  expect(() => db.exec("insert into file_import_part values (4, 0, 'x')")).toThrow("FOREIGN KEY");
  db.exec("update file_import set user_id = null");
  expect(db.prepare("select name from sqlite_master where name glob 'file_import*_before'").all()).toEqual([]);
});
