import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { writeText } from "../../../agent/config/config-file.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { trustedDatabase } from "../../../shared/files/folder-owner.ts";
import { lockFolder } from "../../../shared/files/folder-lock.ts";
import { writePrivateFile } from "../../../shared/files/private-folder.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Goal: whoever owns the folder of a service gains nothing by an administrator's command there, and the service can read the files
// that the command wrote. Method: root in the folder of another user, below a folder that only root reaches.

const SERVICE = 64_999;

let data: string;
let outside: string;

beforeEach(() => {
  const root = temporaryFolder();
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  [data, outside] = [path.join(root, "data"), path.join(root, "outside")];
  for (const folder of [data, outside]) fs.mkdirSync(folder, { mode: 0o700 });
});

const give = (file: string) => fs.lchownSync(file, SERVICE, SERVICE);

/** Makes a database of the service in WAL mode. */
function makeDatabase(): string {
  const file = path.join(data, "vetwire.db");
  const db = new Database(file);
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE row (text TEXT)");
  db.close();
  give(file);
  give(data);
  return file;
}

describe.skipIf(process.geteuid?.() !== 0)("root in the folder of a service", () => {
  test("opens a database that the service made", () => {
    const file = makeDatabase();
    expect(trustedDatabase(file)).toBe(file);
    const db = new Database(file);
    db.exec("INSERT INTO row VALUES ('1')");
    expect(trustedDatabase(file)).toBe(file);
    db.close();
  });

  test.each(["vetwire.db", "vetwire.db-wal", "vetwire.db-shm"])("opens no link named %s", (name) => {
    const file = makeDatabase();
    const target = path.join(outside, "shadow");
    fs.writeFileSync(target, "");
    fs.rmSync(path.join(data, name), { force: true });
    fs.symlinkSync(target, path.join(data, name));
    expect(() => trustedDatabase(file)).toThrow(`${path.join(data, name)} is not of the service`);
    fs.rmSync(path.join(data, name));
    fs.linkSync(target, path.join(data, name));
    expect(() => trustedDatabase(file)).toThrow("root does not open it");
  });

  test("reads no rollback journal that names a file to remove", () => {
    const file = makeDatabase();
    fs.writeFileSync(`${file}-journal`, Buffer.from(`${"0".repeat(600)}d9d505f920a163d7`, "hex"));
    give(`${file}-journal`);
    expect(() => trustedDatabase(file)).toThrow(`${file}-journal is not of the service`);
  });

  test("tests a lock that the service holds", () => {
    const release = lockFolder(data, "held");
    for (const name of ["lock.db", "lock.db-journal"]) give(path.join(data, name));
    give(data);
    expect(() => lockFolder(data, "held")).toThrow(/^held$/);
    release();
  });

  test("locks through no planted link", () => {
    give(data);
    fs.symlinkSync(path.join(outside, "made"), path.join(data, "lock.db"));
    expect(() => lockFolder(data, "held")).toThrow("EEXIST");
    expect(fs.readdirSync(outside)).toEqual([]);
  });

  test("leaves files that the service can read", () => {
    give(data);
    loadPepper(data, false);
    writePrivateFile(path.join(data, "agent.key"), "key");
    writeText(path.join(data, "agent.yaml"), "new", "old");
    const owners = fs.readdirSync(data).map((name) => [name, fs.statSync(path.join(data, name)).uid]);
    expect(owners).toEqual(["agent.key", "agent.yaml", "agent.yaml.previous", "pepper"].map((name) => [name, SERVICE]));
  });

  test("writes a configuration through no planted link", () => {
    const secret = path.join(outside, "shadow");
    fs.writeFileSync(secret, "kept");
    give(data);
    fs.symlinkSync(secret, path.join(data, "agent.yaml.next"));
    writeText(path.join(data, "agent.yaml"), "new", null);
    expect([fs.readFileSync(secret, "utf8"), fs.readFileSync(path.join(data, "agent.yaml"), "utf8")]).toEqual([
      "kept",
      "new",
    ]);
  });
});

test("a database in the folder of its own user is opened as it is", () => {
  const file = path.join(data, "vetwire.db");
  fs.writeFileSync(`${file}-journal`, "");
  expect(trustedDatabase(file)).toBe(file);
});
