import net from "node:net";
import { gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../../server/app.ts";
import { createKey } from "../../../../server/http/auth/api-keys.ts";
import { openServedStore } from "../../../../server/cli/served-store.ts";
import { noInvalidation, query, StoreUnavailable } from "../../../../server/store/database/query.ts";
import { openPostgres, type PostgresOptions } from "../../../../server/store/database/postgres.ts";
import type { Store } from "../../../../server/store/database/store.ts";
import { findClinic } from "../../../../server/store/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Outcome } from "../../../../shared/api/study.ts";
import { createDatabase, Postgres, postgresProblem, urlOf } from "../../../support/postgres.ts";
import { until } from "../../../support/processes.ts";
import { clinic, connection, importEntities, keyPermissions, noon, patient, study } from "../../harness.ts";

// Goal: a server continues on the next primary without losing what it acknowledged, and without an answer of the past. Method: a
// primary with synchronous standbys on loopback, which the test kills, freezes, cuts off and promotes.

const problem = postgresProblem();
if (problem !== null) process.stderr.write(`the tests of failover do not run: ${problem}\n`);

/** Time in ms for which a commit proves the primary. The tests promote sooner than Patroni. */
const LEASE_MS = 300;

/** Ends the node after the test, and after the servers that use it. */
function endLater(node: Postgres): Postgres {
  onTestFinished(async () => {
    node.thaw();
    await node.kill();
    await node.end();
  });
  return node;
}

/** Starts a primary and standbys, of which each commit waits for one. */
async function startCluster(standbys = 1) {
  const primary = endLater(await Postgres.start(["wal_keep_size=64MB"]));
  const others: Postgres[] = [];
  for (let index = 1; index <= standbys; index += 1) {
    others.push(endLater(await primary.standby(`standby${index}`)));
  }
  await primary.run("alter system set synchronous_standby_names = 'ANY 1 (*)'");
  await primary.run("select pg_reload_conf()");
  await until("a synchronous standby", async () => {
    const rows = await primary.run("select 1 from pg_stat_replication where sync_state in ('quorum', 'sync')");
    return rows.length === standbys;
  });
  const database = (await createDatabase(primary.url())).replace(/.*\//, "");
  return { primary, standbys: others, database };
}

/** A server in this process. */
async function startServer(url: string, options: Partial<PostgresOptions> = {}, pepper = Buffer.alloc(32, 7)) {
  const store = await openPostgres(url, { leaseMs: LEASE_MS, ...options });
  const app = buildApp(store, { pepper, now: () => noon, limits });
  onTestFinished(async () => {
    await app.close();
    await store.close();
  });
  return { store, app, pepper };
}

const plenty = { minute: 1_000_000, hour: 1_000_000 };
const limits = { integration: plenty, device: plenty, partner: plenty, ingest: plenty, addressMinute: 1_000_000 };

const ours = newFp("clinic");
const dog = patient();

/** Imports a clinic with a patient. @returns a key of the clinic */
async function fill({ store, pepper }: { store: Store; pepper: Buffer }): Promise<string> {
  await importEntities(store, clinic(ours), dog, connection(dog.fp, ours));
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const wanted = { clinicId, name: "test", type: "integration" as const, now: noon, expiresAt: null };
  return createKey(store, pepper, { ...wanted, permissions: keyPermissions });
}

/** @returns the fps of the patient's studies; null for a 503 */
async function listStudies(app: FastifyInstance, key: string): Promise<string[] | null> {
  const url = `/api/v1/lab/diagnostics?patient_fp=${dog.fp}&page_size=100`;
  const response = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
  if (response.statusCode === 503) return null;
  expect([response.statusCode, response.body]).toEqual([200, response.body]);
  return response.json<{ data: { items: { fp: string }[] } }>().data.items.map(({ fp }) => fp);
}

/** Pushes a study of the patient. @returns its fp */
async function pushOne(app: FastifyInstance, key: string): Promise<string> {
  const pushed = study({ patient_fp: dog.fp });
  expect(await push(app, key, pushed)).toMatchObject([{ outcome: "filed" }]);
  return pushed.fp;
}

/** @returns the last statement of each session of a server that reads on the node */
async function lastReads(node: Postgres): Promise<unknown[]> {
  const rows = await node.run(
    "select query from pg_stat_activity where application_name like 'vetwire%' and state = 'idle'",
  );
  return rows.map((row) => row["query"]);
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
      const isCut = marked !== -1 && sent.includes("; commit", marked);
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
const addCustomer = query((db, p: { fp: string }) => db.insertInto("customer").values({ fp: p.fp }), noInvalidation);

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

describe.skipIf(problem !== null)("a server on a primary with standbys", () => {
  test("pushes continue on the promoted standby, and each acknowledged study is there once", async () => {
    const { primary, standbys, database } = await startCluster();
    const [standby] = standbys as [Postgres];
    const server = await startServer(urlOf([primary, standby], database));
    const key = await fill(server);
    const acknowledged: string[] = [];
    let isOver = false;
    const agents = Array.from({ length: 4 }, async () => {
      for (let next = study({ patient_fp: dog.fp }); !isOver; ) {
        const outcomes = await push(server.app, key, next);
        // An agent sends again what was not acknowledged.
        if (outcomes === null) continue;
        expect(outcomes[0]?.outcome).toMatch(/^(filed|unchanged)$/);
        acknowledged.push(next.fp);
        next = study({ patient_fp: dog.fp });
      }
    });
    const more = (count: number) => {
      const wanted = acknowledged.length + count;
      return until(`${count} more studies`, () => acknowledged.length >= wanted);
    };
    await more(40);
    await primary.kill();
    await standby.promote();
    await more(40);
    isOver = true;
    await Promise.all(agents);
    const rows = await standby.run("select fp from study", database);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    const stored = rows.map(({ fp }) => fp);
    expect(acknowledged.filter((fp) => !stored.includes(fp))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
  });

  test("a primary that hung while another took over serves no read of the past", async () => {
    const { primary, standbys, database } = await startCluster();
    const [standby] = standbys as [Postgres];
    const url = urlOf([primary, standby], database);
    const server = await startServer(url);
    const key = await fill(server);
    const first = await pushOne(server.app, key);
    expect(await listStudies(server.app, key)).toEqual([first]);

    primary.freeze();
    await standby.promote();
    const other = await startServer(url);
    const second = await pushOne(other.app, key);
    primary.thaw();
    const seen = new Set<string>();
    await until("the server reads from the next primary", async () => {
      const found = await listStudies(server.app, key);
      if (found !== null) seen.add(found.toSorted().join());
      return found !== null;
    });
    expect([...seen]).toEqual([[first, second].toSorted().join()]);
    expect(await push(server.app, key, study({ patient_fp: dog.fp }))).toMatchObject([{ outcome: "filed" }]);
    // Its commits would wait for a standby that never comes.
    await primary.kill();
  });

  test("reads go to a standby that has the clinic's version, and past one that lags", async () => {
    const { primary, standbys, database } = await startCluster();
    const [standby] = standbys as [Postgres];
    const readUrl = urlOf([standby], database);
    const server = await startServer(urlOf([primary, standby], database), { readUrl });
    const key = await fill(server);
    const fps = [await pushOne(server.app, key)];
    await until("a read on the standby", async () => {
      // Each push makes the cached response invalid.
      fps.push(await pushOne(server.app, key));
      expect((await listStudies(server.app, key))?.toSorted()).toEqual(fps.toSorted());
      return (await lastReads(standby)).includes("commit");
    });

    await standby.run("select pg_wal_replay_pause()");
    for (let pushes = 1; pushes <= 3; pushes += 1) {
      fps.push(await pushOne(server.app, key));
      expect((await listStudies(server.app, key))?.toSorted()).toEqual(fps.toSorted());
    }
    expect(await lastReads(standby)).toContain("rollback");

    // A standby that hangs or ends delays no read for long.
    await standby.run("select pg_wal_replay_resume()");
    await primary.run("alter system set synchronous_standby_names = ''");
    await primary.run("select pg_reload_conf()");
    await standby.kill();
    const begun = performance.now();
    fps.push(await pushOne(server.app, key));
    expect((await listStudies(server.app, key))?.toSorted()).toEqual(fps.toSorted());
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  test("a server that starts with a standby alone responds 503, changes nothing, and goes on after the promotion", async () => {
    const { primary, standbys, database } = await startCluster();
    const [standby] = standbys as [Postgres];
    await until("the database on the standby", () => standby.run("select 1", database).catch(() => null));
    await primary.kill();
    const lines: string[] = [];
    const logger = pino({ level: "info" }, { write: (line) => lines.push(line) });
    let stop: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    onTestFinished(() => stop());
    const listening = { port: 0, host: "127.0.0.1", certificate: undefined, logger };
    const opening = openServedStore(
      { ...listening, location: urlOf([primary, standby], database), readUrl: null },
      stopped,
    );
    opening.catch(() => undefined);
    const address = await until("a port", () => /responding 503 on (http:[^ ]+) /.exec(lines.join("\n"))?.[1]);
    const ready = await fetch(`${address}/readyz`);
    expect([ready.status, ready.headers.get("retry-after"), await ready.json()]).toEqual([
      503,
      "5",
      expect.objectContaining({
        error: expect.objectContaining({
          code: "SERVER.UNAVAILABLE",
          details: { request_id: expect.any(String), reason: "no node of the database takes writes" },
        }),
      }),
    ]);
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

  test("a push whose commit was cut off is filed once and acknowledged; other work is not run again", async () => {
    const primary = endLater(await Postgres.start());
    const database = (await createDatabase(primary.url())).replace(/.*\//, "");
    const proxy = await startProxy(primary);
    const direct = primary.url(database);
    const url = `${direct.replace(primary.host, proxy.host)}?target_session_attrs=read-write`;
    const server = await startServer(url, { leaseMs: 60_000 });
    const key = await fill(server);
    await pushOne(server.app, key);
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

  test("a push whose wait for the standby was cancelled is not acknowledged before a standby has it", async () => {
    const { primary, standbys, database } = await startCluster();
    const [standby] = standbys as [Postgres];
    const server = await startServer(urlOf([primary, standby], database), { leaseMs: 60_000 });
    const key = await fill(server);
    await pushOne(server.app, key);
    await standby.stop();
    let isAcknowledged = false;
    const pushed = study({ patient_fp: dog.fp });
    const pushing = push(server.app, key, pushed).then((outcomes) => {
      isAcknowledged = outcomes !== null;
      return outcomes;
    });
    const waiting = async () =>
      (await primary.run("select pid from pg_stat_activity where wait_event = 'SyncRep'")).map(({ pid }) =>
        Number(pid),
      );
    // A commit that wrote nothing proves the primary too.
    const reading = server.store.transaction((session) => session.all(customers, {}));
    const outcome = reading.then(
      () => "committed",
      (error: Error) => error.message,
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

  test("a server whose node becomes read-only responds 503 with the reason, and goes on when it takes writes", async () => {
    const primary = endLater(await Postgres.start());
    const database = (await createDatabase(primary.url())).replace(/.*\//, "");
    const server = await startServer(`${primary.url(database)}?target_session_attrs=read-write`);
    const key = await fill(server);
    await pushOne(server.app, key);
    const setting = async (statement: string) => {
      await primary.run(statement);
      await primary.run("select pg_reload_conf()");
    };
    await setting("alter system set default_transaction_read_only = on");
    const ready = async () => server.app.inject({ url: "/readyz" });
    const refused = study({ patient_fp: dog.fp });
    await until("a refused push", async () => (await push(server.app, key, refused)) === null);
    const response = await ready();
    expect([response.statusCode, response.headers["retry-after"], response.json()]).toEqual([
      503,
      "5",
      expect.objectContaining({
        error: expect.objectContaining({
          details: { request_id: expect.any(String), reason: "no node of the database takes writes" },
        }),
      }),
    ]);
    await setting("alter system reset default_transaction_read_only");
    await until("the server is ready", async () => (await ready()).statusCode === 200);
    expect(await push(server.app, key, refused)).toMatchObject([{ fp: refused.fp }]);
  });
});
