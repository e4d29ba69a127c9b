import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { openPostgres } from "../../../server/database/postgres.ts";
import { query, type Session, uncachedWrite } from "../../../server/database/query.ts";
import type { Store } from "../../../server/database/store.ts";
import { createKey } from "../../../server/http/auth/api-keys.ts";
import { Lease } from "../../../server/operations/lease.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { createDatabase, Postgres, withClient } from "../../support/machine/postgres.ts";
import { postgresVersions } from "../../support/machine/postgres-versions.ts";
import { Pgbouncer, pgbouncerProblem } from "../../support/machine/pgbouncer.ts";
import { patiently } from "../../support/runner/patience.ts";
import { until } from "../../support/machine/processes.ts";
import { clinic, connection, importEntities, keyPermissions, noon, patient, study } from "../harness.ts";
import { addWebhook } from "../webhooks.ts";
import { dispatcherOn, startReceiver } from "../operations/webhooks/world.ts";

// Method: two servers reach PostgreSQL through pgbouncer alone, which gives each transaction any of three connections. What a server
// left on a connection (a prepared statement, a setting) another server finds there.

const problem = pgbouncerProblem();
if (problem !== null) process.stderr.write(`the tests of the pooler do not run: ${problem}\n`);

const CONNECTIONS = 3;
const ROUNDS = 40;
/** A wait for a lock in vain. */
const LOCK_WAIT_MS = 300;

async function startPooled(bin: string | undefined) {
  const postgres = await Postgres.start([], bin);
  const database = (await createDatabase(postgres.url())).replace(/.*\//, "");
  const pooler = await Pgbouncer.start(postgres.url(), CONNECTIONS);
  onTestFinished(async () => {
    await pooler.end();
    await postgres.end();
  });
  const stores: Store[] = [];
  const open = async (writeWaitMs?: number) => {
    const store = await openPostgres(pooler.url(database), writeWaitMs);
    stores.push(store);
    return store;
  };
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
  return { postgres, pooler, database, open };
}

describe.skipIf(problem !== null).each(postgresVersions())("pgbouncer by transactions in front of $name", ({ bin }) => {
  test.skipIf(bin === undefined)(
    "two servers migrate, import, file, read and send webhooks, and none hinders the other",
    async () => {
      const { pooler, database, open } = await startPooled(bin);
      // Both migrate the empty database.
      const stores = await Promise.all([open(), open()]);
      const [store] = stores;
      const pepper = Buffer.alloc(32, 7);
      const apps = stores.map((each) => buildApp(each, { pepper, now: () => noon }));
      onTestFinished(async () => void (await Promise.all(apps.map((app) => app.close()))));
      const own = newFp("clinic");
      const dogs = Array.from({ length: 50 }, () => patient());
      await importEntities(store, clinic(own), ...dogs.flatMap((dog) => [dog, connection(dog.fp, own)]));
      const clinicId = (await findClinic(store, own))?.id ?? 0;
      const wanted = { clinicId, name: "test", type: "device" as const, now: noon, expiresAt: null };
      const key = await createKey(store, pepper, { ...wanted, permissions: keyPermissions });
      const receiver = await startReceiver();
      await addWebhook(store, own, { url: receiver.url, types: ["study.filed"] });

      const statuses = new Map<string, number>();
      const ask = async (app: FastifyInstance, asked: { method?: "GET" | "POST"; url: string; payload?: object }) => {
        const response = await app.inject({ ...asked, headers: { "x-api-key": key, authorization: `Bearer ${key}` } });
        const name = `${asked.method ?? "GET"} ${response.statusCode}`;
        statuses.set(name, (statuses.get(name) ?? 0) + 1);
        return response;
      };
      const fps: string[] = [];
      const rounds = Array.from({ length: ROUNDS }, async (_, round) => {
        const app = apps[round % 2]!;
        const pushed = study({ patient_fp: dogs[round % dogs.length]!.fp });
        const filed = await ask(app, { method: "POST", url: "/agent/v1/studies", payload: { studies: [pushed] } });
        if (filed.statusCode === 200) fps.push(pushed.fp);
        const read = await ask(apps[(round + 1) % 2]!, { url: `/api/v1/lab/diagnostics/${pushed.fp}` });
        expect(read.json()).toMatchObject({ data: { fp: pushed.fp } });
        await ask(app, { url: "/api/v1/patients?page_size=50" });
      });
      await Promise.all(rounds);
      expect(Object.fromEntries(statuses)).toEqual({ "POST 200": ROUNDS, "GET 200": 2 * ROUNDS });

      const dispatchers = stores.map((each) => dispatcherOn(each, { now: () => noon }));
      await expect
        .poll(async () => {
          await Promise.all(dispatchers.map((dispatcher) => dispatcher.check()));
          return new Set(receiver.got.map(({ fp }) => fp)).size;
        })
        .toBe(ROUNDS);
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
      expect(receiver.got.map(({ fp }) => fp).toSorted()).toEqual(fps.toSorted());

      const leases = stores.map((each) => new Lease(each, { logger: pino({ enabled: false }) }));
      for (const lease of leases) await lease.look();
      expect(leases.map(({ isHeld }) => isHeld)).toEqual([true, false]);
      await leases[0]?.stop();
      await leases[1]?.look();
      expect(leases.map(({ isHeld }) => isHeld)).toEqual([false, true]);
      // Only the connection itself lists its statements. As many simultaneous transactions reach each connection of the pooler.
      const left = await Promise.all(
        Array.from({ length: CONNECTIONS }, () =>
          withClient(pooler.url(database), async (client) => {
            const { rows } = await client.query<{ pid: number; count: number }>(
              "select pg_backend_pid() as pid, (select count(*)::int from pg_prepared_statements) as count, pg_sleep(1)",
            );
            return rows[0];
          }),
        ),
      );
      expect(new Set(left.map((row) => row?.pid)).size).toBe(CONNECTIONS);
      expect(left.map((row) => row?.count)).toEqual(left.map(() => 0));
    },
    patiently(120_000),
  );

  test.skipIf(bin === undefined)(
    "a commit waits for the disk and its lock for a bounded time, whatever the connection had before",
    async () => {
      const { postgres, database, open } = await startPooled(bin);
      await postgres.run(
        `alter role vetwire set synchronous_commit = off; alter role vetwire set statement_timeout = '9s';
        alter role vetwire set idle_in_transaction_session_timeout = '9s';
        do $$ begin
          if current_setting('server_version_num')::int >= 170000 then
            alter role vetwire set transaction_timeout = '9s';
          end if;
        end $$`,
      );
      const store = await open();
      const settings = async (session: Session) => session.all(current, {});
      const seen = await Promise.all(Array.from({ length: 12 }, () => store.transaction(settings)));
      expect(seen.flat()).toEqual(seen.map(() => ({ ...wanted, isolation: "serializable" })));
      // Outside of its transactions a server leaves nothing on the connections of others.
      expect(await postgres.run("select current_setting('lock_timeout') as lock", database)).toEqual([{ lock: "0" }]);
    },
  );

  test.skipIf(bin === undefined)(
    "a statement of its own waits for the disk and its lock as a transaction does, and leaves nothing on the connection",
    async () => {
      const { postgres, database, open } = await startPooled(bin);
      await postgres.run("alter role vetwire set synchronous_commit = off");
      await postgres.run("alter role vetwire set default_transaction_isolation = 'serializable'");
      const store = await open();
      const alone = [{ ...wanted, isolation: "read committed" }];
      expect(await Promise.all(Array.from({ length: 12 }, () => store.all(current, {})))).toEqual(
        Array.from({ length: 12 }, () => alone),
      );
      expect(await store.snapshot((session) => session.all(current, {}))).toEqual([
        { ...wanted, isolation: "repeatable read" },
      ]);
      const fp = newFp("customer");
      await store.all(addCustomer, { fp });
      await expect(store.all(addCustomer, { fp })).rejects.toThrow("duplicate key");
      expect(await store.all(customers, {})).toEqual([{ fp }]);
      expect(await postgres.run("select current_setting('lock_timeout') as lock", database)).toEqual([{ lock: "0" }]);

      const impatient = await open(LOCK_WAIT_MS);
      await withClient(postgres.url(database), async (holder) => {
        await holder.query("begin; lock table customer in access exclusive mode");
        await expect(impatient.all(customers, {})).rejects.toThrow("lock timeout");
        await expect(impatient.all(addCustomer, { fp: newFp("customer") })).rejects.toThrow("lock timeout");
        expect(await postgres.run("select pid from pg_locks where not granted")).toEqual([]);
      });
      expect(await impatient.all(customers, {})).toEqual([{ fp }]);
    },
  );

  test.skipIf(bin === undefined)(
    "after a restart of PostgreSQL the servers work on without a restart",
    async () => {
      const { postgres, pooler, open } = await startPooled(bin);
      const store = await open();
      await store.ping();
      await postgres.stop();
      await expect(store.ping()).rejects.toThrow("the database cannot be used now");
      await postgres.start();
      await until("the server works again", () =>
        store.ping().then(
          () => true,
          () => false,
        ),
      );
      await store.transaction((session) => session.all(current, {}));
      expect(pooler.log).not.toContain("prepared statement");
    },
    patiently(60_000),
  );
});

const customers = query((db) => db.selectFrom("customer").select("fp"));
const addCustomer = uncachedWrite((db, p: { fp: string }) => db.insertInto("customer").values({ fp: p.fp }));

/** The settings of each transaction, whatever the user has. */
const wanted = { commit: "on", messages: "notice", statement: "0", idle: "0", transaction: "0", lock: "5s" };

const current = query((db) =>
  db.selectNoFrom((say) => {
    const setting = (name: string) => say.fn<string>("current_setting", [say.val(name)]);
    return [
      setting("synchronous_commit").as("commit"),
      setting("client_min_messages").as("messages"),
      setting("statement_timeout").as("statement"),
      setting("idle_in_transaction_session_timeout").as("idle"),
      // PostgreSQL 17 and later have it.
      say.fn
        .coalesce(
          say.fn<string | null>("current_setting", [say.val("transaction_timeout"), say.val(true)]),
          say.val("0"),
        )
        .as("transaction"),
      setting("lock_timeout").as("lock"),
      setting("transaction_isolation").as("isolation"),
    ];
  }),
);
