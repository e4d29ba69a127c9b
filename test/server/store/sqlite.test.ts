import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { noInvalidation, query, StoreUnavailable } from "../../../server/store/query.ts";
import { connect } from "../../../server/store/sqlite.ts";
import { openStore } from "../../../server/store/open.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { temporaryFolder } from "../harness.ts";

// What holds for the embedded database alone.

const insert = query((db, p: { fp: string }) => db.insertInto("clinic").values({ fp: p.fp, name: "" }), noInvalidation);

describe("the store on SQLite", () => {
  test("acknowledges nothing into a file that was removed or replaced, and goes on when it is put back", async () => {
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

  test("runs on a file that keeps every commit through a power cut: WAL, synchronous FULL, foreign keys", async () => {
    const folder = temporaryFolder();
    const store = await openStore(folder);
    const orphan = query((db) => db.insertInto("user").values({ fp: "x", name: "x", clinic_id: 99 }), noInvalidation);
    await expect(store.transaction((session) => session.all(orphan, {}))).rejects.toThrow("FOREIGN KEY");
    // The pragma holds for a connection only: it is read where it is set.
    const file = connect(join(folder, "vetwire.db"), 0);
    const FULL = 2;
    expect(file.pragma("synchronous", { simple: true })).toBe(FULL);
    expect(file.pragma("journal_mode", { simple: true })).toBe("wal");
    file.close();
    await store.close();
  });

  test("reads a clinic's list from one index, without sorting", async () => {
    const folder = temporaryFolder();
    await (await openStore(folder)).close();
    const file = new Sqlite(join(folder, "vetwire.db"));
    const plan = (species: string) =>
      file
        .prepare(
          `explain query plan select patient_id, patient_fp, patient_updated_at from connection
           where clinic_id = 1 and listed = 1 ${species} and patient_updated_at >= 0
           order by patient_updated_at desc, patient_fp desc limit 20`,
        )
        .all()
        .map((step) => (step as { detail: string }).detail);
    expect(plan("")).toEqual([expect.stringContaining("USING COVERING INDEX connection_list (")]);
    expect(plan("and patient_species = 'dog'")).toEqual([
      expect.stringContaining("USING COVERING INDEX connection_list_by_species ("),
    ]);
    file.close();
  });

  test("selects a clinic's events and stock in one index, without sorting", async () => {
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
});
