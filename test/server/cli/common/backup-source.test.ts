import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { backupSource, restoreTarget, SERVER_BACKUP } from "../../../../server/cli/common/backup-source.ts";
import { keptAuthority, readAuthority, readSetting, writeSetting } from "../../../../server/network/setting-file.ts";
import { openSqlite } from "../../../../server/database/sqlite.ts";
import { makeBackup } from "../../../../shared/platform/care/backup.ts";
import { checkBackup, restoreBackup } from "../../../../shared/platform/care/restore.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

async function serverData(): Promise<{ root: string; data: string }> {
  vi.stubEnv("DATABASE_URL", undefined);
  const root = temporaryFolder();
  onTestFinished(() => {
    vi.unstubAllEnvs();
    fs.rmSync(root, { recursive: true, force: true });
  });
  const data = path.join(root, "data");
  await (await openSqlite(data, 1000)).close();
  fs.writeFileSync(path.join(data, "pepper"), Buffer.alloc(32, 1));
  return { root, data };
}

test("a backup of a server is restored with its pepper and its authority, and opened at the next start", async () => {
  const { root, data } = await serverData();
  const [file, fresh] = [path.join(root, "one.backup"), path.join(root, "fresh")];
  const authority = keptAuthority(data, { names: ["clinic-pc"], addresses: [] }, Date.now());
  writeSetting(data, { way: "own authority", port: 8443 });
  const { manifest } = await makeBackup(backupSource(data), file);
  expect(manifest).toMatchObject({ program: "server", schema: SERVER_BACKUP.schema });
  restoreBackup(
    file,
    checkBackup(file, SERVER_BACKUP, () => undefined),
    restoreTarget(fresh),
    false,
  );
  expect(fs.readFileSync(path.join(fresh, "pepper"))).toEqual(Buffer.alloc(32, 1));
  // Phones and PCs trust the machine that takes over, and it opens no port by itself.
  expect([readAuthority(fresh), readSetting(fresh)]).toEqual([authority, { way: "this machine" }]);
  const store = await openSqlite(fresh, 1000);
  await store.close();
});

test("a restore ends the sessions of the dashboard", async () => {
  const { root, data } = await serverData();
  const db = new Database(path.join(data, "vetwire.db"));
  db.pragma("foreign_keys = OFF");
  const columns = db.prepare("SELECT name, type FROM pragma_table_info('dashboard_session')").all() as {
    name: string;
  }[];
  const names = columns.map(({ name }) => name).join(", ");
  db.prepare(`INSERT INTO dashboard_session (${names}) VALUES (${columns.map(() => "1").join(", ")})`).run();
  db.close();
  const [file, fresh] = [path.join(root, "one.backup"), path.join(root, "fresh")];
  await makeBackup(backupSource(data), file);
  restoreBackup(
    file,
    checkBackup(file, SERVER_BACKUP, () => undefined),
    restoreTarget(fresh),
    false,
  );
  const restored = new Database(path.join(fresh, "vetwire.db"), { readonly: true });
  expect(restored.prepare("SELECT COUNT(*) FROM dashboard_session").pluck().get()).toBe(0);
  restored.close();
});

test("a restored clinic has other versions than those that were reached after the backup", async () => {
  const { root, data } = await serverData();
  const database = path.join(data, "vetwire.db");
  const [one, two] = [newFp("clinic"), newFp("clinic")];
  const before = new Database(database);
  before.exec(`INSERT INTO clinic (fp, name) VALUES ('${one}', 'One'), ('${two}', 'Two')`);
  before.close();
  const file = path.join(root, "one.backup");
  await makeBackup(backupSource(data), file);
  const restored = (name: string) => {
    const folder = path.join(root, name);
    const manifest = checkBackup(file, SERVER_BACKUP, () => undefined);
    restoreBackup(file, manifest, restoreTarget(folder), false);
    const db = new Database(path.join(folder, "vetwire.db"), { readonly: true });
    const rows = db.prepare("SELECT version, lists_version FROM clinic ORDER BY id").raw().all() as [number, number][];
    db.close();
    return rows;
  };
  const source = new Database(database, { readonly: true });
  const versions = source.prepare("SELECT version FROM clinic").pluck().all() as number[];
  source.close();
  const [first, second] = [restored("first"), restored("second")];
  expect([...first, ...second].flat().every((version) => version > Math.max(...versions))).toBe(true);
  expect(first).not.toEqual(second);
});

/** Adds a row that only foreign keys would refuse. */
function addKey(data: string): void {
  const db = new Database(path.join(data, "vetwire.db"));
  db.pragma("foreign_keys = OFF");
  const columns = db.prepare("SELECT name FROM pragma_table_info('api_key')").pluck().all() as string[];
  db.prepare(`INSERT INTO api_key (${columns.join(", ")}) VALUES (${columns.map(() => "1").join(", ")})`).run();
  db.close();
}

test("a missing pepper ends a backup before the copy, because no key works without it", async () => {
  const { root, data } = await serverData();
  addKey(data);
  fs.rmSync(path.join(data, "pepper"));
  const file = path.join(root, "one.backup");
  const done: number[] = [];
  await expect(makeBackup(backupSource(data), file, (part) => done.push(part))).rejects.toThrow(
    `${path.join(data, "pepper")} is missing, and the backup needs it: restore it first`,
  );
  expect([done, fs.readdirSync(root)]).toEqual([[], ["data"]]);
});

test("a server that has no key yet needs no pepper for its backup and the restore", async () => {
  const { root, data } = await serverData();
  fs.rmSync(path.join(data, "pepper"));
  const [file, fresh] = [path.join(root, "one.backup"), path.join(root, "fresh")];
  await makeBackup(backupSource(data), file);
  const manifest = checkBackup(file, SERVER_BACKUP, () => undefined);
  restoreBackup(file, manifest, restoreTarget(fresh), false);
  expect(fs.readdirSync(fresh)).toContain("vetwire.db");
  expect(fs.readdirSync(fresh)).not.toContain("pepper");
});

test("on PostgreSQL a backup names its tools and the pepper", () => {
  vi.stubEnv("DATABASE_URL", "postgres://localhost/vetwire");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => backupSource("data")).toThrow(/pg_dump .* pg_restore, or pgbackrest\. Save data.pepper with it/);
});
