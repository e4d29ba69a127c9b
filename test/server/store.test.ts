import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { connect, nobody, openStore, query, StoreUnavailable } from "../../server/store/store.ts";
import { newFp } from "../../shared/fp.ts";
import { temporaryFolder } from "./harness.ts";

const clinics = query((db) => db.selectFrom("clinic").select("fp").orderBy("id"));
const insert = query((db, p: { fp: string }) => db.insertInto("clinic").values({ fp: p.fp, name: "" }), nobody);

describe("the store", () => {
  test("is made where there is none, by several at once, and opened again as it was left", async () => {
    const folder = join(temporaryFolder(), "new", "data");
    const stores = await Promise.all([openStore(folder), openStore(folder), openStore(folder)]);
    const fp = newFp("clinic");
    await stores[0].transaction((session) => session.all(insert, { fp }));
    expect(await stores[2].all(clinics, {})).toEqual([{ fp }]);
    await Promise.all(stores.map((store) => store.close()));
    const again = await openStore(folder);
    expect(await again.all(clinics, {})).toEqual([{ fp }]);
    await again.close();
  });

  test("of a newer program is refused with both versions", async () => {
    const folder = temporaryFolder();
    await (await openStore(folder)).close();
    const file = new Sqlite(join(folder, "vetwire.db"));
    file.exec("insert into migration (version, applied_at) values (99, 0)");
    file.close();
    await expect(openStore(folder)).rejects.toThrow(
      /vetwire\.db has schema version 99, this program knows versions up to \d+: use the newer program$/,
    );
  });

  test("shows nobody half a transaction, and undoes one that fails", async () => {
    const store = await openStore(temporaryFolder());
    const [kept, undone] = [newFp("clinic"), newFp("clinic")];
    const failing = store.transaction(async (session) => {
      await session.all(insert, { fp: undone });
      expect(await session.all(clinics, {})).toEqual([{ fp: undone }]);
      expect(await store.all(clinics, {})).toEqual([]);
      throw new Error("no");
    });
    // Begun while the other is open: it waits its turn.
    const following = store.transaction((session) => session.all(insert, { fp: kept }));
    await expect(failing).rejects.toThrow("no");
    await following;
    expect(await store.all(clinics, {})).toEqual([{ fp: kept }]);
    await store.close();
  });

  test("waits for another program's write without stopping this one, and not for ever", async () => {
    const folder = temporaryFolder();
    const store = await openStore(folder, 300);
    const other = new Sqlite(join(folder, "vetwire.db"));
    const write = () => store.transaction((session) => session.all(insert, { fp: newFp("clinic") }));

    other.exec("begin immediate");
    const waiting = write();
    expect(await store.all(clinics, {})).toEqual([]);
    other.exec("rollback");
    await waiting;
    expect(await store.all(clinics, {})).toHaveLength(1);

    other.exec("begin immediate");
    // All in the time of one: who stands in line has waited already.
    const begun = performance.now();
    const refused = await Promise.allSettled(Array.from({ length: 10 }, write));
    expect(performance.now() - begun).toBeLessThan(2000);
    for (const result of refused) {
      expect(result.status === "rejected" && (result.reason as unknown)).toBeInstanceOf(StoreUnavailable);
    }
    other.close();
    await store.close();
  });

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
    const orphan = query((db) => db.insertInto("user").values({ fp: "x", name: "x", clinic_id: 99 }), nobody);
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
