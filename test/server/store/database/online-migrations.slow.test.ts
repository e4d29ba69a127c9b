import { readFileSync } from "node:fs";
import path from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { onlineMigrationsFor, TABLE_LOCKS, type TableLock } from "../../../../server/store/database/migrations.ts";
import { openPostgres } from "../../../../server/store/database/postgres.ts";
import { migrate, postgres as engine } from "../../../../server/store/database/postgres-schema.ts";
import { noInvalidation, query, StoreUnavailable } from "../../../../server/store/database/query.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { serverMigrations } from "../../../support/planted-migrations.ts";
import { createDatabase, Postgres, postgresProblem } from "../../../support/postgres.ts";
import { ROOT, until } from "../../../support/processes.ts";

// Goal: a database is migrated while servers use it. Method: the filled database of version 0.1.0 on a real PostgreSQL, whose
// catalogue shows each lock, scan and rewrite.

const problem = postgresProblem();
if (problem !== null) process.stderr.write(`the tests of online migrations do not run: ${problem}\n`);

let node: Postgres;

const clinics = query((db) => db.selectFrom("clinic").select("fp"));
const addClinic = query(
  (db, p: { fp: string }) => db.insertInto("clinic").values({ fp: p.fp, name: "" }),
  noInvalidation,
);

/** Loads the filled database of 0.1.0. @returns its URL */
async function releasedDatabase(): Promise<string> {
  const url = await createDatabase(node.url());
  const client = await connect(url);
  await client.query(readFileSync(path.join(ROOT, "test/releases/0.1.0/server.postgres.sql"), "utf8"));
  await client.end();
  return url;
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

describe.skipIf(problem !== null)("a database that servers use", () => {
  beforeAll(async () => {
    node = await Postgres.start();
  });
  afterAll(async () => node?.end());

  test("each migration takes the locks that it states, and neither reads, writes nor rewrites rows of a table", async () => {
    const url = await releasedDatabase();
    const migrations = serverMigrations(url);
    const online = onlineMigrationsFor(engine);
    const before = migrations.length - online.length;
    for (const [index, { sql, locks, indexes = [] }] of online.entries()) {
      const client = await connect(url);
      const existing = new Map<string, unknown>();
      for (const row of (await client.query(TABLES)).rows as { name: string; file: unknown }[])
        existing.set(row.name, row.file);
      expect(existing.size).toBeGreaterThan(20);
      // On another connection, since a session counts its own scans.
      const builder = await connect(url);
      for (const { name, on } of indexes) await builder.query(`create index concurrently ${name} on ${on}`);
      await builder.end();
      await client.query("begin");
      await client.query(sql);
      const held: Record<string, TableLock> = {};
      for (const { name, mode } of (await client.query(LOCKS)).rows as { name: string; mode: string }[]) {
        const lock = TABLE_LOCKS.find((known) => known === mode);
        // Weaker locks than those stop nobody.
        if (!existing.has(name) || lock === undefined) continue;
        const stronger = Math.max(TABLE_LOCKS.indexOf(lock), TABLE_LOCKS.indexOf(held[name] ?? lock));
        held[name] = TABLE_LOCKS[stronger] ?? lock;
      }
      expect([sql, held]).toEqual([sql, locks]);
      const rewritten = ((await client.query(TABLES)).rows as { name: string; file: unknown }[]).filter(
        ({ name, file }) => existing.has(name) && existing.get(name) !== file,
      );
      const touched = ((await client.query(TOUCHED)).rows as { name: string }[]).filter(({ name }) =>
        existing.has(name),
      );
      expect([sql, rewritten, touched]).toEqual([sql, [], []]);
      await client.query("rollback");
      await client.end();
      await migrate({ connectionString: url }, { migrations: migrations.slice(0, before + index + 1) });
    }
  });

  test("a migration that waits for a long query lets other readers pass, and follows when the query ends", async () => {
    const url = await releasedDatabase();
    const [dump, reader] = [await connect(url), await connect(url)];
    await dump.query("begin; lock table study in access share mode");
    const migrating = migrate({ connectionString: url });
    migrating.catch(() => undefined);
    const waits = "select 1 from pg_locks where not granted and relation = 'study'::regclass";
    await until("the migration waits", async () => (await reader.query(waits)).rowCount !== 0);
    const begun = performance.now();
    await reader.query("select count(*) from study");
    expect(performance.now() - begun).toBeLessThan(1500);
    await dump.query("commit");
    await migrating;
    await reader.query("select checksum from study limit 1");
    await dump.end();
    await reader.end();
  });

  test("an index of a table with rows is built while servers write, also after a build that was interrupted", async () => {
    const url = await releasedDatabase();
    const [writer, reader] = [await connect(url), await connect(url)];
    await reader.query("create index study_critical on study (received_at)");
    await reader.query("update pg_index set indisvalid = false where indexrelid = 'study_critical'::regclass");
    // The build waits for the end of this transaction, and other writers pass meanwhile.
    await writer.query("begin; update study set device_name = device_name");
    const migrating = migrate({ connectionString: url });
    migrating.catch(() => undefined);
    const builds =
      "select 1 from pg_stat_activity where query like '% index concurrently%' and wait_event_type = 'Lock'";
    await until("the build waits", async () => (await reader.query(builds)).rowCount !== 0);
    await reader.query(
      "update clinic set name = name; insert into study_revision select * from study_revision where false",
    );
    await writer.query("commit");
    await migrating;
    const valid =
      "select indisvalid as valid, pg_get_expr(indpred, indrelid) as of from pg_index where indexrelid = 'study_critical'::regclass";
    expect((await reader.query(valid)).rows).toEqual([{ valid: true, of: "(severity = 2)" }]);
    await writer.end();
    await reader.end();
  });

  test("a migration that waits in vain is a temporary failure", async () => {
    const url = await releasedDatabase();
    const dump = await connect(url);
    await dump.query("begin; lock table study in access share mode");
    const failing = openPostgres(url);
    await expect(failing).rejects.toThrow(StoreUnavailable);
    await expect(failing).rejects.toMatchObject({ reason: "the update of the database waits for other sessions" });
    await dump.end();
    await (await openPostgres(url)).close();
  });

  test("a server goes on and starts again beside a newer one, unless a migration says no", async () => {
    const url = await createDatabase(node.url());
    const running = await openPostgres(url);
    onTestFinished(() => running.close());
    const newer = {
      beside: true,
      sql: "alter table clinic add column nickname text; create table shift (id bigint not null primary key)",
      undo: "drop table shift; alter table clinic drop column nickname;",
    };
    const migrations = [...serverMigrations(url), newer];
    await migrate({ connectionString: url }, { migrations });
    await running.transaction((session) => session.all(addClinic, { fp: newFp("clinic") }));
    const restarted = await openPostgres(url);
    await restarted.transaction((session) => session.all(addClinic, { fp: newFp("clinic") }));
    expect(await restarted.all(clinics, {})).toHaveLength(2);
    await restarted.close();
    // A roll-back beside a newer server that runs takes nothing back.
    const later = await connect(`${url}?application_name=${encodeURIComponent("vetwire 9.8.7")}`);
    await (await openPostgres(url, { undoNewer: true })).close();
    await later.query("select * from shift");
    await later.end();

    const unsafe = { beside: false, sql: "drop table shift", undo: "create table shift (id bigint)" };
    await migrate({ connectionString: url }, { migrations: [...migrations, unsafe] });
    await expect(openPostgres(url)).rejects.toThrow(/has schema \d+ of version \S+, this version .*: install version/);
  });

  test("a user without the right to create tables runs a server on a database that another one migrated", async () => {
    const url = await createDatabase(node.url());
    await (await openPostgres(url)).close();
    const owner = await connect(url);
    const name = `app_${Date.now()}`;
    await owner.query(`
      create role ${name} login password 'app'; revoke create on schema public from public;
      grant select, insert, update, delete on all tables in schema public to ${name};
      grant usage on all sequences in schema public to ${name};
    `);
    await owner.end();
    const store = await openPostgres(url.replace(/\/\/[^@]*@/, `//${name}:app@`));
    await store.transaction((session) => session.all(addClinic, { fp: newFp("clinic") }));
    expect(await store.all(clinics, {})).toHaveLength(1);
    await store.close();
  });
});

const TABLES = `select relname as name, pg_relation_filenode(oid) as file from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace`;

const LOCKS = `select relname as name, lower(regexp_replace(replace(mode, 'Lock', ''), '([a-z])([A-Z])', '\\1 \\2', 'g')) as mode
  from pg_locks join pg_class on pg_class.oid = relation
  where pid = pg_backend_pid() and relkind = 'r' and relnamespace = 'public'::regnamespace`;

const TOUCHED = `select relname as name from pg_stat_xact_user_tables
  where coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del > 0`;
