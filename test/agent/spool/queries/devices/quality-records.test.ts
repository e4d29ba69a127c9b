import path from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { qualityRecordsOf } from "../../../../../agent/spool/queries/devices/quality-records.ts";
import { MIGRATIONS } from "../../../../../agent/spool/thread/migrations.ts";
import { operationsOn } from "../../../../../agent/spool/queries/operations.ts";
import { migrate } from "../../../../../agent/spool/thread/schema.ts";
import type { Settlement } from "../../../../../agent/spool/queries/studies/studies.ts";
import { copyToOwnSchema } from "../../../../../shared/platform/care/older-schema.ts";
import { migrateSqlite } from "../../../../../shared/platform/care/sqlite-schema.ts";
import { controlRun, deviceEvent } from "../../../../support/clinic/quality-records.ts";
import { addMessage, openOperations, settlement } from "../../../../support/spool-operations.ts";

// Control runs and device events in the spool: each once, until the server has it.

const QUALITY_CONTROL = { state: "not-for-patients", reason: "quality control" } as const;
const outcomeOf = (message: string, values: Partial<Settlement>) =>
  settlement(message, { ...QUALITY_CONTROL, ...values });

const rows = (db: Database.Database) =>
  db.prepare("SELECT dedupe_key, message, state FROM quality_record ORDER BY rowid").raw().all();
const bytes = (db: Database.Database) =>
  db.prepare("SELECT stored_bytes FROM device WHERE id = 'chem-1'").pluck().get();

test("a resend and another reading under the same key change nothing", () => {
  const { db, spool } = openOperations();
  spool.settle(outcomeOf("M1", { controls: [controlRun(1)], events: [deviceEvent(1)] }));
  const resent = controlRun(1, { fp: controlRun(9).fp, results: controlRun(9).results });
  spool.settle(outcomeOf("M2", { controls: [resent, resent] }));
  expect(spool.unsentQuality([resent])).toEqual([]);
  expect(spool.queuedQuality(10, 1e6)).toEqual({ batch: [controlRun(1), deviceEvent(1)], more: false });
  expect(rows(db)).toEqual([
    ["chem-1:QC:1", "M1", "queued"],
    ["chem-1:event:1", "M1", "queued"],
  ]);
});

test("a batch has at most so many records and characters, or is one record", () => {
  const { spool } = openOperations();
  spool.settle(outcomeOf("M1", { controls: [controlRun(1), controlRun(2), controlRun(3)] }));
  const length = JSON.stringify(controlRun(1)).length;
  const numbers = (limit: number, chars: number) => {
    const { batch, more } = spool.queuedQuality(limit, chars);
    return [batch.map(({ dedupe_key }) => dedupe_key.slice(-1)).join(""), more];
  };
  expect(numbers(10, 1e6)).toEqual(["123", false]);
  expect(numbers(2, 1e6)).toEqual(["12", true]);
  expect(numbers(10, 2.5 * length)).toEqual(["12", true]);
  expect(numbers(10, 1)).toEqual(["1", true]);
  spool.putQualityBehind(controlRun(1).fp);
  expect(numbers(10, 1e6)).toEqual(["231", false]);
});

test("a record that the server rejected is sent again if it comes again, a stored one is not", () => {
  const { db, spool } = openOperations();
  spool.settle(outcomeOf("M1", { controls: [controlRun(1), controlRun(2)] }));
  const reason = { code: "QUALITY.UNKNOWN_DEVICE", values: ["chem-1"] };
  spool.settleQuality([{ fp: controlRun(1).fp, outcome: "rejected", reason }], 3000);
  spool.settleQuality([{ fp: controlRun(2).fp, outcome: "unchanged", reason: null }], 3000);
  expect(qualityRecordsOf(db, "M1")).toEqual([
    { record: controlRun(1), state: "rejected", reason, createdAt: 2000, settledAt: 3000 },
    { record: controlRun(2), state: "stored", reason: null, createdAt: 2000, settledAt: 3000 },
  ]);
  const again = [controlRun(1, { fp: controlRun(7).fp }), controlRun(2, { fp: controlRun(8).fp })];
  expect(spool.unsentQuality(again)).toEqual([again[0]]);
  spool.settle(outcomeOf("M1", { controls: again }));
  expect(spool.queuedQuality(10, 1e6).batch).toEqual([again[0]]);
});

test("a resend of everything since a time sends the records again, too", () => {
  const { spool } = openOperations();
  spool.settle(outcomeOf("M1", { controls: [controlRun(1)] }));
  spool.settleQuality([{ fp: controlRun(1).fp, outcome: "stored", reason: null }], 3000);
  spool.resendSince(3001);
  expect(spool.waitingQuality()).toEqual({ depth: 0, oldestAt: null });
  spool.resendSince(3000);
  expect(spool.waitingQuality()).toEqual({ depth: 1, oldestAt: 2000 });
});

test("a record that the server refused because of its time is sent again once that time is past", () => {
  const { spool } = openOperations();
  spool.settle(outcomeOf("M1", { controls: [controlRun(1), controlRun(2)], events: [deviceEvent(3)] }));
  const reject = (fp: string, code: string) =>
    spool.settleQuality([{ fp, outcome: "rejected", reason: { code, values: [] } }], 3000);
  reject(controlRun(1).fp, "QUALITY.AFTER_CLOCK");
  reject(controlRun(2).fp, "QUALITY.INVALID");
  reject(deviceEvent(3).fp, "QUALITY.AFTER_CLOCK");
  const queuedAt = (until: string) => {
    spool.queueRefusedTimes(Date.parse(until));
    return spool.queuedQuality(10, 1e6).batch;
  };
  expect(queuedAt("2026-11-29T07:59:59.000Z")).toEqual([]);
  expect(queuedAt("2026-11-29T08:00:00.000Z")).toEqual([deviceEvent(3)]);
  expect(queuedAt("2026-11-29T09:12:00.000Z")).toEqual([controlRun(1), deviceEvent(3)]);
});

test("settled records are removed when they are old or with their message, queued ones stay, and the sums follow", () => {
  const { db, spool } = openOperations();
  db.exec("INSERT INTO device (id, profile, connected) VALUES ('chem-1', 'generic-astm', 1)");
  for (const [ordinal, id] of ["M1", "M2"].entries()) addMessage(spool, id, ordinal);
  const before = bytes(db);
  spool.settle(outcomeOf("M1", { controls: [controlRun(1), controlRun(2)] }));
  spool.settle(outcomeOf("M2", { controls: [controlRun(3)] }));
  const held = bytes(db);
  expect(held).toBeGreaterThan(Number(before) + 3 * 400);
  for (const number of [1, 3]) {
    spool.settleQuality([{ fp: controlRun(number).fp, outcome: "stored", reason: null }], 1000 * number);
  }
  // The messages stay, because their sessions are not finished.
  db.exec("UPDATE message SET state = 'quarantined'");
  spool.prune(2000, 100);
  expect(rows(db)).toEqual([
    ["chem-1:QC:2", "M1", "queued"],
    ["chem-1:QC:3", "M2", "stored"],
  ]);
  db.exec(
    `UPDATE message SET state = 'not-for-patients';
     INSERT INTO session (id, device, profile, first_event, last_event, opened_at, finished_at) VALUES (1, 'chem-1', 'p', 1, 1, 1, 1)`,
  );
  spool.makeRoom(["chem-1"], 10);
  expect(rows(db)).toEqual([["chem-1:QC:2", "M1", "queued"]]);
  spool.settleQuality([{ fp: controlRun(2).fp, outcome: "stored", reason: null }], 4000);
  spool.prune(4001, 100);
  expect(rows(db)).toEqual([]);
  expect(db.prepare("SELECT COUNT(*) FROM message").pluck().get()).toBe(0);
  expect(bytes(db)).toBe(0);
});

test("a spool of the version before opens, and that version takes over the messages of a spool with records", () => {
  const file = path.join(openOperations().folder, "before.db");
  const before = MIGRATIONS.slice(
    0,
    MIGRATIONS.findIndex((sql) => sql.includes("CREATE TABLE quality_record")),
  );
  const opened = <Result>(work: (db: Database.Database) => Result): Result => {
    const db = new Database(file);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  opened((db) => migrateSqlite(db, before));
  opened((db) => {
    migrate(db);
    const spool = operationsOn(db);
    addMessage(spool, "M1");
    spool.settle(outcomeOf("M1", { controls: [controlRun(1)] }));
    expect(rows(db)).toEqual([["chem-1:QC:1", "M1", "queued"]]);
  });
  copyToOwnSchema(file, before);
  opened((db) => {
    expect(db.prepare("SELECT id, state FROM message").raw().all()).toEqual([["M1", "not-for-patients"]]);
    migrate(db);
    expect(rows(db)).toEqual([]);
  });
});
