import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../../server/store/database/open.ts";
import { findStudy } from "../../../../server/store/studies/studies.ts";
import { findClinic } from "../../../../server/store/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { dumpServer, migrateServer, newerServerMigrations } from "../../../support/planted-migrations.ts";
import { ROOT, until } from "../../../support/processes.ts";
import { canMount, mountDisk, unmountDisk } from "../../../support/small-disk.ts";
import {
  clinic,
  connection,
  importEntities,
  onPostgres,
  patient,
  study,
  temporaryDatabase,
  temporaryFolder,
} from "../../harness.ts";

// Goal: a migration that does not end leaves the database of the version before. Method: migrations that no version has fail
// after the first of them has changed tables and rows; the dumps before and after are compared.

const ours = newFp("clinic");
const dog = patient();
const filed = study({ patient_fp: dog.fp });

/** Fills a database. @returns its dump, and a check that today's server reads it */
async function filledDatabase(database: string) {
  const { source: _source, dedupe_key: _key, revision: _revision, patient_hint: _hint, ...line } = filed;
  const store = await openStore(database);
  await importEntities(store, clinic(ours), dog, connection(dog.fp, ours), { type: "study", ...line });
  await store.close();
  const before = dumpServer(database);
  const expectSame = async () => {
    expect(dumpServer(database)).toBe(before);
    const reopened = await openStore(database);
    const clinicId = (await findClinic(reopened, ours))?.id ?? 0;
    expect((await findStudy(reopened, clinicId, filed.fp))?.study).toMatchObject({ fp: filed.fp });
    await reopened.close();
  };
  return expectSame;
}

function migrateWith(database: string, sql: string): Promise<void> {
  return migrateServer(database, {
    migrations: [...newerServerMigrations(database), { sql, undo: "select 1" }],
  });
}

test("a migration that breaks a constraint leaves the database as it was", async () => {
  const database = await temporaryDatabase();
  const expectSame = await filledDatabase(database);
  await expect(migrateWith(database, "update study set clinic_id = null, fp = null")).rejects.toThrow(
    /could not be updated and stays as it was \(.*(study\.fp|"fp").*\): install the version before again, and report this error$/,
  );
  await expectSame();
});

test("a migration that a full disk stops leaves the database as it was", async (context) => {
  if (!canMount()) context.skip("this machine cannot mount a tmpfs");
  const folder = temporaryFolder();
  mountDisk(folder, 6);
  const { database, filler, reason } = onPostgres() ? await databaseWithSmallTablespace(folder) : onSmallDisk(folder);
  const expectSame = await filledDatabase(database);
  await expect(migrateWith(database, filler)).rejects.toThrow(reason);
  await expectSame();
});

function onSmallDisk(folder: string) {
  onTestFinished(() => unmountDisk(folder));
  const reason =
    /vetwire\.db could not be updated and stays as it was: .* the disk is full: make room there, or use another disk$/;
  return { database: folder, filler: "create table filler as select randomblob(9000000)", reason };
}

/** Returns a database whose migration fills a tablespace on that disk. */
async function databaseWithSmallTablespace(folder: string) {
  const database = await temporaryDatabase();
  const place = `full_${database.replace(/.*_/, "")}`;
  const [, , uid, gid] = /^nobody:.*$/m.exec(readFileSync("/etc/passwd", "utf8"))?.[0].split(":") ?? [];
  if (process.getuid?.() === 0) chownSync(folder, Number(uid), Number(gid));
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query(`create tablespace ${place} location '${folder}'`);
  onTestFinished(async () => {
    await client.query(`drop tablespace ${place}`);
    await client.end();
    unmountDisk(folder);
  });
  const rows = "select repeat(md5(x::text), 30) as text from generate_series(1, 20000) as x";
  const reason = /stays as it was \(.*53100.*\): start again when PostgreSQL answers and its disk has room$/;
  return { database, filler: `create table filler tablespace ${place} as ${rows}`, reason };
}

test("a kill within a migration leaves the database as it was", async () => {
  const database = await temporaryDatabase();
  const expectSame = await filledDatabase(database);
  const script = join(ROOT, "test/support/planted-migration.ts");
  const place = onPostgres() ? ["postgres", database] : ["server", join(database, "vetwire.db")];
  const child = spawn(process.execPath, [script, ...place], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (onPostgres()) await sleepOf(database);
  else await once(child.stdout, "data");
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
  await expectSame();
});

/** Waits until a connection to the database is within pg_sleep. */
async function sleepOf(database: string): Promise<void> {
  const client = new Client({ connectionString: database });
  await client.connect();
  const asleep = "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
  await until("the migration sleeps", async () => (await client.query(asleep)).rowCount !== 0);
  await client.end();
}
