import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { AGENT_BACKUP, backupSource, restoreTarget } from "../../../agent/care/backup-source.ts";
import type { Config } from "../../../agent/config/schema.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { makeBackup } from "../../../shared/care/backup.ts";
import { checkBackup, restoreBackup } from "../../../shared/care/restore.ts";
import { commitPlan } from "../../../shared/care/restore-steps.ts";
import { temporaryFolder } from "../../support/processes.ts";

const OLD_SCHEMA = 16;

/** Makes a spool of an older version. */
function oldSpool(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  const db = new Database(path.join(folder, "spool.db"));
  db.exec(fs.readFileSync(path.join(import.meta.dirname, "../spool/schema-16.sql"), "utf8"));
  db.pragma(`user_version = ${OLD_SCHEMA}`);
  db.close();
}

function schemaOf(folder: string): unknown {
  const db = new Database(path.join(folder, "spool.db"), { readonly: true });
  try {
    return db.pragma("user_version", { simple: true });
  } finally {
    db.close();
  }
}

function root(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a backup of an older version is restored, and migrated at the next start", async () => {
  const folder = root();
  const [data, fresh, file] = ["data", "fresh", "one.backup"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  oldSpool(data);
  const source = backupSource({ data } as Config, false);
  const { manifest } = await makeBackup(source, file);
  expect(manifest.schema).toBe(OLD_SCHEMA);
  restoreBackup(
    file,
    checkBackup(file, AGENT_BACKUP, () => undefined),
    restoreTarget(fresh),
    false,
  );
  expect(schemaOf(fresh)).toBe(OLD_SCHEMA);
  const spool = await Spool.open(fresh);
  await spool.close();
  expect(schemaOf(fresh)).toBe(AGENT_BACKUP.schema);
});

test("the start of the agent finishes an interrupted restore before it opens the spool", async () => {
  const data = root();
  await (await Spool.open(data)).close();
  oldSpool(path.join(data, "restoring"));
  commitPlan(data, { backup: "b", database: "spool.db", files: [], later: [], aside: "before-restore-x" });
  const spool = await Spool.open(data);
  await spool.close();
  expect(schemaOf(data)).toBe(AGENT_BACKUP.schema);
  expect(fs.existsSync(path.join(data, "before-restore-x", "spool.db"))).toBe(true);
  expect(fs.readdirSync(data).filter((name) => name.startsWith("resto"))).toEqual([]);
});

test("a damaged spool gives no backup", async () => {
  const folder = root();
  const data = path.join(folder, "data");
  oldSpool(data);
  const db = new Database(path.join(data, "spool.db"));
  db.pragma("journal_mode = DELETE");
  db.exec("CREATE TABLE filler AS SELECT hex(randomblob(20000)) AS text");
  db.close();
  const bytes = fs.readFileSync(path.join(data, "spool.db"));
  // Pages in the middle belong to tables and indexes.
  bytes.fill(0xa5, 4096 * 4, 4096 * 6);
  fs.writeFileSync(path.join(data, "spool.db"), bytes);
  const file = path.join(folder, "one.backup");
  await expect(makeBackup(backupSource({ data } as Config, false), file)).rejects.toThrow(/spool\.db is damaged \(.*/);
  expect(fs.readdirSync(folder)).toEqual(["data"]);
});
