import { closeSync, openSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { query, StoreUnavailable, uncachedWrite } from "../../../server/database/query.ts";
import { connect } from "../../../server/database/sqlite.ts";
import { openStore } from "../../../server/database/open.ts";
import type { Store } from "../../../server/database/store.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { temporaryFolder } from "../harness.ts";

// Tests of SQLite alone.

const insert = uncachedWrite((db, p: { fp: string }) => db.insertInto("clinic").values({ fp: p.fp, name: "" }));

describe("the store on SQLite", () => {
  test("writes to a removed or replaced file are refused until the file is put back", async () => {
    const folder = temporaryFolder();
    const store = await openStore(folder);
    const write = async () => store.transaction((session) => session.all(insert, { fp: newFp("clinic") }));
    const away = join(folder, "away");
    for (const name of ["vetwire.db", "vetwire.db-wal"]) {
      const file = join(folder, name);
      renameSync(file, away);
      for (const replace of [() => undefined, () => writeFileSync(file, "")]) {
        replace();
        await expect(write()).rejects.toThrow(StoreUnavailable);
        await expect(store.ping()).rejects.toThrow("vetwire.db was removed or replaced: put it back, or restart");
        await expect(store.snapshot(async () => undefined)).rejects.toThrow(StoreUnavailable);
      }
      renameSync(away, file);
      await write();
      await store.ping();
    }
    await store.close();
  });

  test("a link to a database is not opened, since its folder is not the one that is locked, and nothing of it changes", async () => {
    const [folder, other] = [temporaryFolder(), temporaryFolder()];
    await (await openStore(folder)).close();
    symlinkSync(join(folder, "vetwire.db"), join(other, "vetwire.db"));
    await expect(openStore(other)).rejects.toThrow("vetwire.db is a link, expected the database itself");
    expect(readdirSync(other)).toEqual(["vetwire.db"]);
    // The folder itself may be one.
    symlinkSync(folder, join(other, "data"));
    await (await openStore(join(other, "data"))).close();
  });

  test("the file uses WAL, synchronous FULL and foreign keys, so that a power cut loses no commit", async () => {
    const folder = temporaryFolder();
    const store = await openStore(folder);
    const orphan = uncachedWrite((db) => db.insertInto("user").values({ fp: "x", name: "x", clinic_id: 99 }));
    await expect(store.transaction((session) => session.all(orphan, {}))).rejects.toThrow("FOREIGN KEY");
    // The pragma belongs to a connection, so that the test reads it on such a connection.
    const file = connect(join(folder, "vetwire.db"), 0);
    const FULL = 2;
    expect(file.pragma("synchronous", { simple: true })).toBe(FULL);
    expect(file.pragma("journal_mode", { simple: true })).toBe("wal");
    file.close();
    await store.close();
  });

  test("a clinic's list is read from one index without sorting", async () => {
    const folder = temporaryFolder();
    await (await openStore(folder)).close();
    const file = new Sqlite(join(folder, "vetwire.db"));
    const plan = (species: string) =>
      file
        .prepare(
          `explain query plan select patient_id, patient_fp, patient_updated_at from clinic_patient
           where clinic_id = 1 and listed = 1 ${species} and patient_updated_at >= 0
           order by patient_updated_at desc, patient_fp desc limit 20`,
        )
        .all()
        .map((step) => (step as { detail: string }).detail);
    expect(plan("")).toEqual([expect.stringContaining("USING COVERING INDEX clinic_patient_list (")]);
    expect(plan("and patient_species = 'dog'")).toEqual([
      expect.stringContaining("USING COVERING INDEX clinic_patient_list_by_species ("),
    ]);
    file.close();
  });

  test("a clinic's events and stock are selected in one index without sorting", async () => {
    const folder = temporaryFolder();
    await (await openStore(folder)).close();
    const file = new Sqlite(join(folder, "vetwire.db"));
    const plan = (statement: string) =>
      file
        .prepare(`explain query plan ${statement}`)
        .all()
        .map((step) => (step as { detail: string }).detail);
    const items = (where: string) =>
      plan(`select id from inventory_item where clinic_id = 1 ${where} order by name, fp limit 20`);
    const low = "and quantity_on_hand < low_stock_threshold";
    for (const only of ["", low]) {
      expect(items(only)).toEqual([expect.stringContaining("USING COVERING INDEX inventory_item_list (clinic_id=?)")]);
      expect(items(`and category = 'FOOD' ${only}`)).toEqual([
        expect.stringContaining("USING COVERING INDEX inventory_item_list_by_category (clinic_id=? AND category=?)"),
      ]);
    }
    expect(plan("select * from calendar_event where clinic_id = 1 and start_at >= 1 order by start_at, fp")).toEqual([
      expect.stringContaining("USING INDEX calendar_event_list ("),
    ]);
    file.close();
  });

  test.each([
    ["the table of migrations", "migration", "database disk image is malformed"],
    ["the first page", null, "file is not a database"],
  ])("opening a damaged file reports its name and the remedy (%s)", async (_, table, words) => {
    const folder = temporaryFolder();
    await (await openStore(folder)).close();
    const file = damage(folder, table);
    await expect(openStore(folder)).rejects.toThrow(`${file} is damaged (${words}): copy it with its -wal file`);
  });

  test("a query that reads a damaged page reports the file and the remedy", async () => {
    const folder = temporaryFolder();
    await (await openStore(folder)).close();
    const file = damage(folder, "clinic");
    const store = await openStore(folder);
    const clinics = query((db) => db.selectFrom("clinic").selectAll());
    const damaged = `${file} is damaged (database disk image is malformed): copy it with its -wal file`;
    await expect(store.all(clinics, {})).rejects.toThrow(damaged);
    const write = store.transaction((session) => session.all(insert, { fp: newFp("clinic") }));
    await expect(write).rejects.toThrow(damaged);
    await store.close();
  });
});

describe("the write-ahead log on SQLite", () => {
  const write = (store: Store) => store.transaction((session) => session.all(insert, { fp: newFp("clinic") }));

  test("the write-ahead log is emptied five seconds after the last commit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = temporaryFolder();
    const store = await openStore(folder);
    const logBytes = () => statSync(join(folder, "vetwire.db-wal")).size;
    await write(store);
    await vi.advanceTimersByTimeAsync(4_900);
    await write(store);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(logBytes()).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(200);
    expect(logBytes()).toBe(0);
    await write(store);
    await store.close();
  });
});

/** Overwrites the root page of a table or the first page of the file, like a failing disk. */
function damage(folder: string, table: string | null): string {
  const path = join(folder, "vetwire.db");
  const file = new Sqlite(path);
  const root = file.prepare("select rootpage from sqlite_schema where name = ?").pluck();
  const page = table === null ? 1 : (root.get(table) as number);
  const size = file.pragma("page_size", { simple: true }) as number;
  file.close();
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, Buffer.alloc(size, 0xa5), 0, size, (page - 1) * size);
  closeSync(descriptor);
  return path;
}
