import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../../server/database/sqlite.ts";
import { openDatabase } from "../../../agent/spool/thread/database.ts";
import { LOG_KEPT_BYTES, longLog, watchLog } from "../../../shared/log/long-log.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Goal: a reader that never ends makes the log grow, which is reported with its program, and the log shrinks afterwards although
// the database is never idle.

const PROGRAMS: Readonly<Record<string, (folder: string) => Database.Database>> = {
  agent: (folder) => openDatabase({ folder, bytesMax: 1024 ** 3 }),
  server: (folder) => connect(path.join(folder, "vetwire.db"), 1000),
};

test.each(Object.keys(PROGRAMS))("the log of the %s", (name) => {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const writer = PROGRAMS[name]!(folder);
  const size = () => fs.statSync(`${writer.name}-wal`).size;
  writer.pragma("synchronous = OFF");
  writer.exec("CREATE TABLE filler (bytes BLOB)");
  const fill = writer.prepare("INSERT INTO filler VALUES (randomblob(500000))");
  const grow = (megabytes: number) => {
    for (let count = 0; count < 2 * megabytes; count += 1) fill.run();
  };
  grow(80);
  expect(longLog(writer.name)).toBe(null);

  const reader = new Database(writer.name, { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM filler").get();
  grow(280);
  const found = longLog(writer.name);
  expect(found).toMatchObject({ code: "database.log", bytes: size() });
  expect(found?.fault).toMatch(new RegExp(`^${writer.name}-wal has \\d{3} MB and grows, because a program reads`));
  const isKnown = process.platform === "linux";
  expect(found?.remedy.endsWith(isKnown ? "open: this program itself" : "open: another program")).toBe(true);

  reader.close();
  grow(80);
  expect(size()).toBeLessThan(2 * LOG_KEPT_BYTES);
  writer.close();
});

test("a long log is reported again and again, and a usual one is not", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const database = path.join(folder, "x.db");
  let reports = 0;
  const stop = watchLog(database, () => (reports += 1), 5);
  onTestFinished(stop);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(reports).toBe(0);
  fs.closeSync(fs.openSync(`${database}-wal`, "w"));
  fs.truncateSync(`${database}-wal`, 300_000_000);
  await expect.poll(() => reports).toBeGreaterThan(1);
});
