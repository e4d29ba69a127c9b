import net from "node:net";
import { gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { createKey } from "../../../server/http/auth/api-keys.ts";
import { openServedStore } from "../../../server/operations/served-store.ts";
import { query, StoreUnavailable, uncachedWrite } from "../../../server/database/query.ts";
import { openPostgres } from "../../../server/database/postgres.ts";
import type { Store } from "../../../server/database/store.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { Outcome } from "../../../shared/api/study.ts";
import { createDatabase, Postgres, postgresProblem } from "../../support/machine/postgres.ts";
import { postgresVersions } from "../../support/machine/postgres-versions.ts";
import { until } from "../../support/machine/processes.ts";
import { clinic, connection, importEntities, keyPermissions, noon, patient, study } from "../harness.ts";

// Connections that a failover cuts, and nodes that take no writes. `test/faults/cluster` kills the primaries of a cluster.

const problem = postgresProblem();
if (problem !== null) process.stderr.write(`the tests of standbys do not run: ${problem}\n`);

/** Starts PostgreSQL with an empty database. It ends after the test, and after the servers that use it. */
async function startPrimary(
  settings: readonly string[] = [],
  bin?: string,
): Promise<{ primary: Postgres; database: string }> {
  const primary = endLater(await Postgres.start(settings, bin));
  return { primary, database: (await createDatabase(primary.url())).replace(/.*\//, "") };
}

function endLater(node: Postgres): Postgres {
  onTestFinished(async () => {
    await node.kill();
    await node.end();
  });
  return node;
}

/** A server in this process. */
async function startServer(url: string, pepper = Buffer.alloc(32, 7)) {
  const store = await openPostgres(url);
  const app = buildApp(store, { pepper, now: () => noon });
  onTestFinished(async () => {
    await app.close();
    await store.close();
  });
  return { store, app, pepper };
}

const ours = newFp("clinic");
const dog = patient();

/** Imports a clinic with a patient. @returns a key of the clinic */
async function fill({ store, pepper }: { store: Store; pepper: Buffer }): Promise<string> {
  await importEntities(store, clinic(ours), dog, connection(dog.fp, ours));
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const wanted = { clinicId, name: "test", type: "integration" as const, now: noon, expiresAt: null };
  return createKey(store, pepper, { ...wanted, permissions: keyPermissions });
}

/** A proxy in front of a node. It cuts a connection once the node responds to a commit of `proxy.mark`. */
async function startProxy(node: Postgres): Promise<{ host: string; mark: string | null }> {
  const port = Number(node.host.split(":")[1]);
  const proxy: { host: string; mark: string | null } = { host: "", mark: null };
  const server = net.createServer((client) => {
    const upstream = net.connect(port, "127.0.0.1");
    let sent = "";
    client.on("data", (bytes) => {
      sent += bytes.toString("latin1");
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      const marked = proxy.mark === null ? -1 : sent.indexOf(proxy.mark);
      // The statement, not a table with the word in its name.
      const isCut = marked !== -1 && /\bcommit\b/.test(sent.slice(marked));
      if (isCut) {
        proxy.mark = null;
        client.destroy();
      } else client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  proxy.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  return proxy;
}

const customers = query((db) => db.selectFrom("customer").select("fp"));
const addCustomer = uncachedWrite((db, p: { fp: string }) => db.insertInto("customer").values({ fp: p.fp }));

/** @returns the outcomes; null for a 503 */
async function push(app: FastifyInstance, key: string, ...studies: unknown[]): Promise<Outcome[] | null> {
  const response = await app.inject({
    method: "POST",
    url: "/agent/v1/studies",
    headers: { "x-api-key": key },
    payload: { studies },
  });
  if (response.statusCode === 503) return null;
  expect([response.statusCode, response.body]).toEqual([200, response.body]);
  return response.json<{ outcomes: Outcome[] }>().outcomes;
}

const takesNoWrites = expect.objectContaining({
  error: expect.objectContaining({
    code: "SERVER.UNAVAILABLE",
    details: { request_id: expect.any(String), reason: "the database takes no writes" },
  }),
});

describe.skipIf(problem !== null)("a server on a primary with a standby", () => {
  test("a server that starts with a standby responds 503, changes nothing, and goes on after the promotion", async () => {
    const { primary, database } = await startPrimary();
    const standby = endLater(await primary.standby());
    await until("the database on the standby", () => standby.run("select 1", database).catch(() => null));
    const lines: string[] = [];
    const logger = pino({ level: "info" }, { write: (line) => lines.push(line) });
    let stop: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    onTestFinished(() => stop());
    const listening = { port: 0, host: "127.0.0.1", certificate: undefined, logger };
    const opening = openServedStore({ ...listening, location: standby.url(database) }, stopped);
    opening.catch(() => undefined);
    const address = await until("a port", () => /responding 503 on (http:[^ ]+) /.exec(lines.join("\n"))?.[1]);
    const ready = await fetch(`${address}/readyz`);
    expect([ready.status, ready.headers.get("retry-after"), await ready.json()]).toEqual([503, "5", takesNoWrites]);
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const body = gzipSync(JSON.stringify({ studies: [] }));
    expect((await fetch(`${address}/agent/v1/studies`, { method: "POST", headers, body })).status).toBe(503);
    expect(await standby.run("select to_regclass('migration') as found", database)).toEqual([{ found: null }]);

    await standby.promote();
    const store = await opening;
    onTestFinished(async () => store?.close());
    expect(await store?.all(customers, {})).toEqual([]);
    await expect(fetch(`${address}/healthz`)).rejects.toThrow("fetch failed");
    expect(lines.join("\n")).toContain("waiting for the database");
  });

  test("a push whose wait for the standby was cancelled is not acknowledged before a standby has it", async () => {
    const { primary, database } = await startPrimary(["wal_keep_size=64MB"]);
    const standby = endLater(await primary.standby());
    await primary.run("alter system set synchronous_standby_names = '*'");
    await primary.run("select pg_reload_conf()");
    const server = await startServer(primary.url(database));
    const key = await fill(server);
    const pushed = study({ patient_fp: dog.fp });
    await standby.stop();
    let isAcknowledged = false;
    const pushing = push(server.app, key, pushed).then((outcomes) => {
      isAcknowledged = outcomes !== null;
      return outcomes;
    });
    const fp = newFp("customer");
    const other = server.store.transaction((session) => session.all(addCustomer, { fp }));
    const outcome = other.then(
      () => "committed",
      (error: Error) => error.message,
    );
    const waiting = async () =>
      (await primary.run("select pid from pg_stat_activity where wait_event = 'SyncRep'")).map(({ pid }) =>
        Number(pid),
      );
    await until("both commits wait", async () => (await waiting()).length >= 2);
    const cancelled = new Set<number>();
    await until("the study is committed on the primary alone", async () => {
      for (const pid of await waiting()) {
        cancelled.add(pid);
        await primary.run(`select pg_cancel_backend(${pid})`);
      }
      return (await primary.run(`select 1 from study where fp = '${pushed.fp}'`, database)).length > 0;
    });
    const waitsAgain = async () => isAcknowledged || (await waiting()).some((pid) => !cancelled.has(pid));
    await until("the push runs again and waits", waitsAgain);
    expect(isAcknowledged).toBe(false);
    expect(await outcome).toContain("may not be durable");
    await standby.start();
    expect(await pushing).toMatchObject([{ fp: pushed.fp, outcome: "unchanged" }]);
    expect(await primary.run(`select count(*)::int as n from study where fp = '${pushed.fp}'`, database)).toEqual([
      { n: 1 },
    ]);
  });
});

describe.each(postgresVersions())("a server on one node of $name", ({ bin }) => {
  beforeEach((context) => context.skip(bin === undefined));

  test("a push whose commit was cut off is filed once and acknowledged; other work is not run again", async () => {
    const { primary, database } = await startPrimary([], bin);
    const proxy = await startProxy(primary);
    const server = await startServer(primary.url(database).replace(primary.host, proxy.host));
    const key = await fill(server);
    const cut = study({ patient_fp: dog.fp });
    proxy.mark = cut.fp;
    expect(await push(server.app, key, cut)).toMatchObject([{ fp: cut.fp, outcome: "unchanged" }]);
    expect(proxy.mark).toBeNull();
    expect(await primary.run(`select revision from study where fp = '${cut.fp}'`, database)).toEqual([{ revision: 1 }]);

    let runs = 0;
    const fp = newFp("customer");
    proxy.mark = fp;
    const once = server.store.transaction(async (session) => {
      runs += 1;
      await session.all(addCustomer, { fp });
    });
    await expect(once).rejects.toThrow(StoreUnavailable);
    expect([proxy.mark, runs]).toEqual([null, 1]);
    expect(await primary.run(`select fp from customer where fp = '${fp}'`, database)).toEqual([{ fp }]);
  });

  test("reads and transactions that lose their connection run again; a write of its own does not", async () => {
    const { primary, database } = await startPrimary([], bin);
    const { store } = await startServer(primary.url(database));
    const cut = (name: string) =>
      primary.run(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = '${database}' and application_name like '${name}'`);
    const fp = newFp("customer");
    let runs = 0;
    await store.transaction(async (session) => {
      runs += 1;
      if (runs === 1) await cut("vetwire%");
      await session.all(addCustomer, { fp });
    });
    expect(runs).toBe(2);

    const held = primary.run("begin; lock table customer in access exclusive mode; select pg_sleep(60)", database);
    held.catch(() => undefined);
    const locks = async (where: string) => (await primary.run(`select 1 from pg_locks where ${where}`)).length;
    await until("the lock", async () => (await locks("mode = 'AccessExclusiveLock' and granted")) > 0);
    const write = store.all(addCustomer, { fp: newFp("customer") });
    const read = store.all(customers, {});
    await until("both wait for the lock", async () => (await locks("not granted")) === 2);
    await Promise.all([cut("vetwire%"), expect(write).rejects.toThrow(StoreUnavailable)]);
    // The holder of the lock.
    await cut("");
    expect(await read).toEqual([{ fp }]);
  });

  test("a server whose database becomes read-only responds 503 with the reason, and goes on when it takes writes", async () => {
    const { primary, database } = await startPrimary([], bin);
    const server = await startServer(primary.url(database));
    const key = await fill(server);
    const setting = async (statement: string) => {
      await primary.run(statement);
      await primary.run("select pg_reload_conf()");
    };
    await setting("alter system set default_transaction_read_only = on");
    const ready = async () => server.app.inject({ url: "/readyz" });
    const refused = study({ patient_fp: dog.fp });
    await until("a refused push", async () => (await push(server.app, key, refused)) === null);
    const response = await ready();
    expect([response.statusCode, response.headers["retry-after"], response.json()]).toEqual([503, "5", takesNoWrites]);
    await setting("alter system reset default_transaction_read_only");
    await until("the server is ready", async () => (await ready()).statusCode === 200);
    expect(await push(server.app, key, refused)).toMatchObject([{ fp: refused.fp }]);
  });
});
