import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { SCHEMA_VERSION as SPOOL_SCHEMA } from "../agent/spool/thread/schema.ts";
import { Spool } from "../agent/spool/spool.ts";
import { SCHEMA_VERSION as SERVER_SCHEMA } from "../server/database/migrations.ts";
import { openStore } from "../server/database/open.ts";
import { storedSchema } from "../shared/platform/care/sqlite-schema.ts";
import { createDatabase, Postgres, postgresProblem } from "./support/machine/postgres.ts";
import { ROOT, temporaryFolder } from "./support/machine/processes.ts";
import { type Access, readReleaseServer } from "./support/releases/release-server.ts";
import { readReleaseSpool } from "./support/releases/release-spool.ts";

// Goal: the databases of every released version open, migrate and read back. Method: make-release-fixtures.ts of each release wrote
// its databases and what it read from them; today's code reads the same. Fields that later versions add are not compared.

const RELEASES = path.join(import.meta.dirname, "releases");
const releases = fs.existsSync(RELEASES) ? fs.readdirSync(RELEASES) : [];

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

/** Opens the spool of a release. @returns what today's code reads from it, and its state */
async function openedSpool(release: string): Promise<object> {
  const folder = newFolder();
  const file = path.join(folder, "spool.db");
  load(file, textOf(release, "spool.sql"));
  await (await Spool.open(folder)).close();
  return { read: readReleaseSpool(folder), ...stateOf(file) };
}

async function openedSqlite(release: string): Promise<object> {
  const folder = newFolder();
  const file = path.join(folder, "vetwire.db");
  load(file, textOf(release, "server.sqlite.sql"));
  return { read: await readReleaseServer(folder, accessOf(release)), ...stateOf(file) };
}

async function openedPostgres(postgres: Postgres, release: string): Promise<object> {
  const database = await createDatabase(postgres.url());
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query(textOf(release, "server.postgres.sql"));
  await client.end();
  await (await openStore(database)).close();
  return { read: await readReleaseServer(database, accessOf(release)) };
}

function stateOf(file: string): object {
  const db = new Database(file, { readonly: true });
  const faults = [...(db.pragma("foreign_key_check") as unknown[]), db.pragma("integrity_check", { simple: true })];
  const { version } = storedSchema(db);
  db.close();
  return { version, faults };
}

const wantedSpool = (release: string) => ({
  read: jsonOf(release, "spool.json"),
  ...{ version: SPOOL_SCHEMA, faults: ["ok"] },
});
const wantedServer = (release: string) => ({ read: jsonOf(release, "server.json") });
const wantedSqlite = (release: string) => ({ ...wantedServer(release), version: SERVER_SCHEMA, faults: ["ok"] });

const textOf = (release: string, name: string) => fs.readFileSync(path.join(release, name), "utf8");
const jsonOf = (release: string, name: string) => JSON.parse(textOf(release, name)) as object;
const accessOf = (release: string) => jsonOf(release, "server.access.json") as Access;

test("each tagged release has its databases here", (context) => {
  const tags = execFileSync("git", ["tag", "--list", "v*"], { cwd: ROOT, encoding: "utf8" }).split("\n");
  const versions = tags.filter((tag) => tag !== "").map((tag) => tag.slice(1));
  expect(releases.toSorted()).toEqual(expect.arrayContaining(versions));
  if (releases.length === 0) context.skip("no release is tagged: the databases of none are opened");
});

describe.each(releases)("version %s", (version) => {
  const release = path.join(RELEASES, version);

  test("its spool is migrated and reads back as before", async () => {
    expect(await openedSpool(release)).toMatchObject(wantedSpool(release));
  });

  test("its database of the server is migrated on SQLite and reads back as before", async () => {
    expect(await openedSqlite(release)).toMatchObject(wantedSqlite(release));
  });

  test("its database is migrated on PostgreSQL and reads back as before", async (context) => {
    if (cluster === undefined) return context.skip(problem ?? "");
    expect(await openedPostgres(cluster, release)).toMatchObject(wantedServer(release));
  });
});

test("the databases that the generator writes of this version open and read back", async (context) => {
  const release = newFolder();
  const script = path.join(import.meta.dirname, "make-release-fixtures.ts");
  const parts = ["spool", "sqlite", ...(cluster === undefined ? [] : ["postgres"])];
  for (const part of parts) execFileSync(process.execPath, [script, part, release]);
  expect(await openedSpool(release)).toMatchObject(wantedSpool(release));
  expect(await openedSqlite(release)).toMatchObject(wantedSqlite(release));
  if (cluster === undefined) return context.skip(problem ?? "");
  expect(await openedPostgres(cluster, release)).toMatchObject(wantedServer(release));
});
