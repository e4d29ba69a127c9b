import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { MIGRATIONS } from "../../../agent/spool/migrations.ts";
import { migrate } from "../../../agent/spool/schema.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { temporaryFolder } from "../../support/processes.ts";

function newFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** Returns a database with the schema after the first `version` migrations. */
function databaseOf(version: number): Database.Database {
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  for (const { sql } of MIGRATIONS.slice(0, version)) db.exec(sql);
  db.pragma(`user_version = ${version}`);
  return db;
}

test("a spool of a newer agent is refused", async () => {
  const folder = newFolder();
  const db = new Database(path.join(folder, "spool.db"));
  db.pragma("user_version = 99");
  db.close();
  await expect(Spool.open(folder)).rejects.toThrow(
    /spool\.db has schema 99, this version \S+ knows schemas up to \d+: install the version that wrote it, or restore a/,
  );
});

test("headers with measurements of an older schema are read again, or kept by name without a file", () => {
  const db = databaseOf(10);
  const old = (measurements: object[]) => JSON.stringify({ study: "1.2", measurements });
  const measured = old([{ name: "Ejection Fraction", value: "64", unit: null }]);
  const insert = db.prepare(
    `INSERT INTO instance (message, study, sop_class, sop_instance, transfer_syntax, calling_ae, sha256, file_bytes, header_bytes, header, removed_at)
     VALUES (?, '1.2', '1', '1', '1', 'DX1', '', 1, 1, ?, ?)`,
  );
  insert.run("M1", measured, null);
  insert.run("M2", measured, 5);
  insert.run("M3", old([]), null);
  insert.run("M4", null, null);
  migrate(db);
  const concept = { value: "", scheme: "", meaning: "Ejection Fraction" };
  expect(db.prepare("SELECT header FROM instance ORDER BY message").pluck().all()).toEqual([
    null,
    JSON.stringify({ study: "1.2", measurements: [{ concept, modifiers: [], value: "64", unit: null }] }),
    old([]),
    null,
  ]);
});

test("unmatched messages of an older schema wait for the identifier that was sent", () => {
  const db = databaseOf(13);
  const insert = db.prepare(
    `INSERT INTO study (fp, revision, dedupe_key, body, snapshot, state, created_at)
     VALUES (@fp, 1, @fp, json_object('patient_hint', json_object('identifier', @identifier)), '{}', @state, 1)`,
  );
  const link = db.prepare("INSERT INTO message_study (message, fp, revision) VALUES (?, ?, 1)");
  for (const [message, identifier, state] of [
    ["M1", "4711", "unmatched"],
    ["M2", "4712", "queued"],
    ["M3", null, "unmatched"],
  ] as const) {
    insert.run({ fp: `cds_${message}`, identifier, state });
    link.run(message, `cds_${message}`);
  }
  migrate(db);
  expect(db.prepare("SELECT * FROM pending_match").all()).toEqual([{ match_key: "4711", message: "M1", due: 0 }]);
});
