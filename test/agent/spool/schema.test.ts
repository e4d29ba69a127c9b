import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { measurementsByConcept, migrate } from "../../../agent/spool/schema.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { temporaryFolder } from "../../support/processes.ts";
import { addMessage, answer, openOperations, settlement } from "../../support/spool-operations.ts";
import { studyDraft } from "../../support/study.ts";

function newFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test("a spool of a newer agent is refused", async () => {
  const folder = newFolder();
  const db = new Database(path.join(folder, "spool.db"));
  db.pragma("user_version = 99");
  db.close();
  await expect(Spool.open(folder)).rejects.toThrow(/schema 99, this agent knows up to/);
});

test("headers with measurements of an older schema are read again, or kept by name without a file", async () => {
  const folder = newFolder();
  await (await Spool.open(folder)).close();
  const db = new Database(path.join(folder, "spool.db"));
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
  db.exec(measurementsByConcept);
  db.close();
  const concept = { value: "", scheme: "", meaning: "Ejection Fraction" };
  expect(
    readSpool(folder, (held) => held.prepare("SELECT header FROM instance ORDER BY message").pluck().all()),
  ).toEqual([
    null,
    JSON.stringify({ study: "1.2", measurements: [{ concept, modifiers: [], value: "64", unit: null }] }),
    old([]),
    null,
  ]);
});

test("unmatched messages of an older schema wait for the identifier that was sent", () => {
  const { db, spool } = openOperations();
  addMessage(spool, "M1", 0);
  addMessage(spool, "M2", 1);
  const [fp] = spool.settle(settlement("M1", { studies: [studyDraft({ patient_fp: null })] }));
  spool.settle(settlement("M2", { studies: [studyDraft({ dedupe_key: "chem-1:def" })] }));
  spool.settleStudies([{ ...answer(fp!, "unmatched"), matched: false }], 3000);
  db.exec("ALTER TABLE session DROP COLUMN bytes; ALTER TABLE device DROP COLUMN stored_bytes; DROP TABLE noise");
  db.exec(`DROP TABLE waiting; PRAGMA user_version = ${Number(db.pragma("user_version", { simple: true })) - 3}`);
  migrate(db);
  expect(db.prepare("SELECT key, message, due FROM waiting").all()).toEqual([{ key: "4711", message: "M1", due: 0 }]);
});
