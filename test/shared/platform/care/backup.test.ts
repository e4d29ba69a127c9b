import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { type BackupSource, makeBackup } from "../../../../shared/platform/care/backup.ts";
import { readManifest } from "../../../../shared/platform/care/backup-file.ts";
import {
  checkBackup,
  restoreBackup,
  restoreConfig,
  type RestoreTarget,
} from "../../../../shared/platform/care/restore.ts";
import { commitPlan, finishRestore, settleRestore } from "../../../../shared/platform/care/restore-steps.ts";
import { lockFolder } from "../../../../shared/files/folder-lock.ts";
import { noteSchema } from "../../../support/releases/note-schema.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { canMount, mountDisk } from "../../../support/machine/small-disk.ts";
import { execFileSync } from "node:child_process";

const IMAGE = "01K9TEST00000000000000IMG1.dcm";
const identity = { program: "agent", schema: 3, database: "app.db" } as const;
/** Rows that end in .dcm are images. */
const IMAGES = { folder: "images", query: "SELECT text FROM row WHERE text LIKE '%.dcm'" };
const nothing = () => undefined;

function folders() {
  const root = temporaryFolder();
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  const data = path.join(root, "data");
  fs.mkdirSync(data, { mode: 0o700 });
  return { root, data, file: path.join(root, "one.backup"), fresh: path.join(root, "fresh") };
}

/** Writes rows. */
function addRows(data: string, ...rows: readonly string[]): void {
  const db = new Database(path.join(data, "app.db"));
  db.pragma("journal_mode = WAL");
  db.exec("CREATE TABLE IF NOT EXISTS row (text TEXT)");
  noteSchema(db, 3);
  for (const row of rows) db.prepare("INSERT INTO row VALUES (?)").run(row);
  db.close();
}

function rowsOf(data: string): unknown[] {
  const db = new Database(path.join(data, "app.db"), { readonly: true });
  try {
    return db.prepare("SELECT text FROM row").pluck().all();
  } finally {
    db.close();
  }
}

function sourceOf(data: string, values: Partial<BackupSource> = {}): BackupSource {
  fs.writeFileSync(path.join(data, "pepper"), "secret");
  return {
    program: "agent",
    version: "1.2.3",
    schema: identity.schema,
    folder: data,
    database: "app.db",
    files: [{ name: "pepper", path: path.join(data, "pepper") }],
    images: null,
    ...values,
  };
}

function targetOf(folder: string): RestoreTarget {
  return { ...identity, folder, files: ["pepper"], images: IMAGES };
}

const restore = (file: string, folder: string, force = false) =>
  restoreBackup(file, checkBackup(file, identity, nothing), targetOf(folder), force);

/** Makes a backup of the rows one and two. */
async function backedUp() {
  const all = folders();
  addRows(all.data, "one", "two");
  await makeBackup(sourceOf(all.data), all.file);
  return all;
}

test("a backup is one private file that restores database and files into an empty folder", async () => {
  const { data, file, fresh, root } = folders();
  addRows(data, "one", IMAGE);
  fs.mkdirSync(path.join(data, "images"));
  fs.writeFileSync(path.join(data, "images", IMAGE), "pixels");
  const images = { folder: "images", query: `SELECT '${IMAGE}' UNION SELECT '01K9TEST0000000000000GONE1.dcm'` };
  const config = { name: "config/agent.yaml", path: path.join(root, "agent.yaml") };
  fs.writeFileSync(config.path, "devices: []");
  const source = sourceOf(data, { images });
  const key = { name: "config/agent.key", path: path.join(data, "pepper") };
  const { bytes, manifest } = await makeBackup({ ...source, files: [...source.files, config, key] }, file);
  expect(fs.statSync(file)).toMatchObject({ size: bytes });
  expect((fs.statSync(file).mode & 0o777).toString(8)).toBe("600");
  expect(fs.readdirSync(root).toSorted()).toEqual(["agent.yaml", "data", "one.backup"]);
  expect(manifest).toMatchObject({ program: "agent", version: "1.2.3", schema: 3, missing: 1 });

  const other = path.join(root, "etc");
  expect(restoreConfig(file, readManifest(file), other)).toEqual(
    ["agent.key", "agent.yaml"].map((name) => path.join(other, name)),
  );
  expect(restoreConfig(file, readManifest(file), other)).toEqual([]);
  expect(restore(file, fresh)).toEqual({ aside: null, images: 1, later: 0 });
  expect(rowsOf(fresh)).toEqual(["one", IMAGE]);
  expect(fs.readFileSync(path.join(fresh, "pepper"), "utf8")).toBe("secret");
  expect(fs.readFileSync(path.join(fresh, "images", IMAGE), "utf8")).toBe("pixels");
  expect(fs.readdirSync(fresh).toSorted()).toEqual(["app.db", "images", "lock.db", "pepper"]);
});

test("the database of a backup is one state, although the program commits while it is copied", async () => {
  const { data, file, fresh } = folders();
  addRows(data, "first");
  const db = new Database(path.join(data, "app.db"));
  const fill = db.prepare("INSERT INTO row VALUES (hex(randomblob(20000)))");
  db.transaction(() => {
    for (let row = 0; row < 300; row++) fill.run();
  })();
  let late = 0;
  await makeBackup(sourceOf(data), file, () => {
    db.prepare("INSERT INTO row VALUES ('late')").run();
    late += 1;
  });
  db.close();
  expect(late).toBeGreaterThan(3);
  restore(file, fresh);
  expect(rowsOf(fresh).length).toBe(301);
  expect(rowsOf(data).length).toBe(301 + late);
});

test("a cut, changed or foreign file is refused before anything is restored", async () => {
  const { file, fresh, root } = await backedUp();
  const bytes = fs.readFileSync(file);
  const changed = path.join(root, "changed");
  const problemOf = (content: Uint8Array) => {
    fs.writeFileSync(changed, content);
    try {
      restore(changed, fresh);
      return "restored";
    } catch (error) {
      return (error as Error).message.replace(changed, "FILE");
    }
  };
  const cut = "FILE is not a complete backup: it is cut, or another program wrote it. Use another backup";
  for (const length of [0, 20, 4096, bytes.length - 49, bytes.length - 1]) {
    expect(problemOf(bytes.subarray(0, length))).toBe(cut);
  }
  const flipped = (at: number) => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 4 : byte)));
  expect(problemOf(flipped(5000))).toBe("FILE is damaged, app.db in it has changed: use another backup");
  const [, pepper] = readManifest(file).members;
  expect(problemOf(flipped(pepper!.offset))).toBe("FILE is damaged, pepper in it has changed: use another backup");
  const list = "FILE is damaged, its list of contents has changed: use another backup";
  expect(problemOf(flipped(bytes.length - 100))).toBe(list);
  expect(problemOf(flipped(bytes.length - 34))).toBe(list);
  expect(fs.existsSync(fresh)).toBe(false);
  expect(() => checkBackup(file, { ...identity, program: "server" }, nothing)).toThrow("use agent restore");
  expect(() => checkBackup(file, { ...identity, schema: 2 }, nothing)).toThrow(
    "has schema 3 of version 1.2.3, this program knows schemas up to 2: use that version or a newer one",
  );
});

test("existing data is replaced only by force", async () => {
  const { data, file } = await backedUp();
  addRows(data, "three");
  expect(() => restore(file, data)).toThrow(/has data already, and the backup ends at .*: restore into an empty/);
  expect(rowsOf(data)).toEqual(["one", "two", "three"]);
});

test("a forced restore keeps the old files", async () => {
  const { data, file } = await backedUp();
  addRows(data, "three");
  const { aside } = restore(file, data, true);
  expect(rowsOf(data)).toEqual(["one", "two"]);
  expect(rowsOf(aside!)).toEqual(["one", "two", "three"]);
});

test("a folder in use is not restored", async () => {
  const { data, file } = await backedUp();
  const release = lockFolder(data, "held", "shared");
  expect(() => restore(file, data)).toThrow(`the agent is running with ${data}: stop it, then restore`);
  release();
  restore(file, data, true);
});

test("a restore that was interrupted after its decision is finished from every step, with the old files aside", async () => {
  // Method: each rename is undone in turn, as if the process had been killed before it.
  const steps = ["nothing", "pepper aside", "pepper", "log aside", "database aside", "database"] as const;
  for (const done of steps) {
    const { data } = folders();
    addRows(data, "old");
    fs.writeFileSync(path.join(data, "pepper"), "old");
    fs.writeFileSync(path.join(data, "app.db-wal"), "");
    const staging = path.join(data, "restoring");
    fs.mkdirSync(staging);
    addRows(staging, "new");
    fs.writeFileSync(path.join(staging, "pepper"), "new");
    commitPlan(data, { backup: "b", database: "app.db", files: ["pepper"], later: [], aside: "before-restore-1" });
    const aside = path.join(data, "before-restore-1");
    fs.mkdirSync(aside);
    const count = steps.indexOf(done);
    if (count > 0) fs.renameSync(path.join(data, "pepper"), path.join(aside, "pepper"));
    if (count > 1) fs.renameSync(path.join(staging, "pepper"), path.join(data, "pepper"));
    if (count > 2) fs.renameSync(path.join(data, "app.db-wal"), path.join(aside, "app.db-wal"));
    if (count > 3) fs.renameSync(path.join(data, "app.db"), path.join(aside, "app.db"));
    if (count > 4) fs.renameSync(path.join(staging, "app.db"), path.join(data, "app.db"));
    settleRestore(data);
    const state = [rowsOf(data), fs.readFileSync(path.join(data, "pepper"), "utf8")];
    expect([done, ...state]).toEqual([done, ["new"], "new"]);
    expect([done, rowsOf(aside), fs.readFileSync(path.join(aside, "pepper"), "utf8")]).toEqual([done, ["old"], "old"]);
    expect(finishRestore(data)).toBe(null);
  }
});

test("images that arrived after the backup are kept aside, and the restore counts them", async () => {
  const { data, file } = folders();
  const [late, renamed] = ["01K9TEST00000000000000IMG2", "01K9TEST00000000000000IMG3"];
  addRows(data, IMAGE);
  const images = path.join(data, "images");
  fs.mkdirSync(images);
  fs.writeFileSync(path.join(images, IMAGE), "old");
  await makeBackup(sourceOf(data), file);
  // Each was acknowledged with its row. A power failure undid the rename of the second.
  addRows(data, `${late}.dcm`, `${renamed}.dcm`);
  fs.writeFileSync(path.join(images, `${late}.dcm`), "late");
  fs.writeFileSync(path.join(images, `${renamed}.part`), "renamed");
  fs.writeFileSync(path.join(images, "01K9TEST00000000000000IMG4.part"), "never acknowledged");
  const { aside, later } = restore(file, data, true);
  expect(later).toBe(2);
  const kept = path.join(aside ?? "", "images");
  expect(fs.readdirSync(kept).map((name) => [name, fs.readFileSync(path.join(kept, name), "utf8")])).toEqual([
    [`${late}.dcm`, "late"],
    [`${renamed}.dcm`, "renamed"],
  ]);
  expect(fs.readdirSync(images)).toEqual([IMAGE, "01K9TEST00000000000000IMG4.part"]);
});

test("a restore that was interrupted before its decision leaves the old state", async () => {
  const { data, file } = await backedUp();
  fs.mkdirSync(path.join(data, "restoring"));
  fs.writeFileSync(path.join(data, "restoring", "app.db"), "half");
  settleRestore(data);
  expect(fs.existsSync(path.join(data, "restoring"))).toBe(false);
  expect(rowsOf(data)).toEqual(["one", "two"]);
  restore(file, data, true);
});

test("a backup replaces no file, and a missing folder is reported with the remedy", async () => {
  const { data, file, root } = await backedUp();
  await expect(makeBackup(sourceOf(data), file)).rejects.toThrow("exists already: choose another name");
  await expect(makeBackup(sourceOf(root), `${file}.2`)).rejects.toThrow(
    `there is no ${path.join(root, "app.db")}: expected the data folder that the agent has used`,
  );
  const missing = path.join(root, "stick");
  await expect(makeBackup(sourceOf(data), path.join(missing, "b"))).rejects.toThrow(
    `${missing} cannot be used (ENOENT), the folder is missing: plug in its disk or create the folder`,
  );
});

test.skipIf(!canMount())("a full disk is reported before and during a backup, and leaves no file", async () => {
  const { data, root } = folders();
  addRows(data, "one");
  const db = new Database(path.join(data, "app.db"));
  db.exec("INSERT INTO row VALUES (hex(randomblob(2000000)))");
  db.close();
  const disk = path.join(root, "disk");
  fs.mkdirSync(disk);
  mountDisk(disk, 3);
  onTestFinished(() => void execFileSync("umount", [disk]));
  const file = path.join(disk, "b.backup");
  await expect(makeBackup(sourceOf(data), file)).rejects.toThrow(
    /has 4 MB free and the backup needs 6 MB: make room there, or use another disk/,
  );
  execFileSync("mount", ["-o", "remount,size=6m", disk]);
  const fill = () => {
    if (!fs.existsSync(path.join(disk, "filler"))) fs.writeFileSync(path.join(disk, "filler"), Buffer.alloc(3_000_000));
  };
  await expect(makeBackup(sourceOf(data), file, fill)).rejects.toThrow(
    /the disk is full: make room there, or use another disk/,
  );
  expect(fs.readdirSync(disk)).toEqual(["filler"]);
});
