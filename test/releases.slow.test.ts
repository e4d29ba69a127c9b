import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { SCHEMA_VERSION as SPOOL_SCHEMA, schemaVersion } from "../agent/spool/schema.ts";
import { Spool } from "../agent/spool/spool.ts";
import { SCHEMA_VERSION as SERVER_SCHEMA } from "../server/store/database/migrations.ts";
import { openStore } from "../server/store/database/open.ts";
import { createDatabase, Postgres, postgresProblem } from "./support/postgres.ts";
import { temporaryFolder } from "./support/processes.ts";
import { type Access, readReleaseServer } from "./support/release-server.ts";
import { readReleaseSpool } from "./support/release-spool.ts";

// Goal: every released version's databases open, migrate and read back. Method: make-release-fixtures.ts of each release wrote
// its databases and what it read from them; today's code reads the same. Fields that later versions add are not compared.

const RELEASES = path.join(import.meta.dirname, "releases");
const releases = fs.readdirSync(RELEASES).filter((name) => /^\d/.test(name));

const problem = postgresProblem();
if (problem !== null) process.stderr.write(`releases are not opened on PostgreSQL: ${problem}\n`);
let cluster: Postgres | undefined;

beforeAll(async () => {
  if (problem === null) cluster = await Postgres.start();
});

afterAll(async () => cluster?.end());

function newFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

function load(file: string, sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}

describe.each(releases)("version %s", (release) => {
  const text = (name: string) => fs.readFileSync(path.join(RELEASES, release, name), "utf8");
  const json = (name: string) => JSON.parse(text(name)) as object;
  const access = () => json("server.access.json") as Access;

  test("its spool is migrated and reads back as before", async () => {
    const folder = newFolder();
    const file = path.join(folder, "spool.db");
    load(file, text("spool.sql"));
    await (await Spool.open(folder)).close();
    expect(readReleaseSpool(folder)).toMatchObject(json("spool.json"));
    const db = new Database(file, { readonly: true });
    expect([schemaVersion(db), db.pragma("integrity_check", { simple: true })]).toEqual([SPOOL_SCHEMA, "ok"]);
    db.close();
  });

  test("its database of the server is migrated on SQLite and reads back as before", async () => {
    const folder = newFolder();
    const file = path.join(folder, "vetwire.db");
    load(file, text("server.sqlite.sql"));
    expect(await readReleaseServer(folder, access())).toMatchObject(json("server.json"));
    const db = new Database(file, { readonly: true });
    const version = db.prepare("SELECT MAX(version) FROM migration").pluck().get();
    const faults = [...(db.pragma("foreign_key_check") as unknown[]), db.pragma("integrity_check", { simple: true })];
    expect([version, faults]).toEqual([SERVER_SCHEMA, ["ok"]]);
    db.close();
  });

  test("its database is migrated on PostgreSQL by servers that start together, and reads back as before", async (context) => {
    if (cluster === undefined) return context.skip(problem ?? "");
    const database = await createDatabase(cluster.url());
    const client = new Client({ connectionString: database });
    await client.connect();
    await client.query(text("server.postgres.sql"));
    const stores = await Promise.all([1, 2, 3].map(() => openStore(database)));
    await Promise.all(stores.map((store) => store.close()));
    expect(await readReleaseServer(database, access())).toMatchObject(json("server.json"));
    const { rows } = await client.query("select count(*)::int as count, max(version) as last from migration");
    expect(rows).toEqual([{ count: SERVER_SCHEMA, last: SERVER_SCHEMA }]);
    await client.end();
  });
});

test("the generator writes the same bytes in each run", { timeout: 300_000 }, async () => {
  const script = path.join(import.meta.dirname, "make-release-fixtures.ts");
  const run = promisify(execFile);
  const folders = [newFolder(), newFolder()];
  // The databases of PostgreSQL would take a cluster for each run.
  const runs = folders.flatMap((folder) => ["spool", "sqlite"].map((part) => [part, folder] as const));
  await Promise.all(runs.map((words) => run(process.execPath, [script, ...words])));
  const [one, two] = folders.map((folder) =>
    Object.fromEntries(fs.readdirSync(folder).map((name) => [name, fs.readFileSync(path.join(folder, name), "utf8")])),
  );
  expect(Object.keys(one!)).toHaveLength(5);
  expect(one).toEqual(two);
});
