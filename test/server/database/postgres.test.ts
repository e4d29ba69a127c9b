import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ACTIVE_KEYS_MAX, createKey } from "../../../server/http/auth/api-keys.ts";
import { importFile } from "../../../server/import/importer.ts";
import { MemoryCounters } from "../../../server/http/rate-limit/memory-counters.ts";
import { type Cost, storeCounters } from "../../../server/records/clinics/rate-limit-counters.ts";
import { auditCommand } from "../../../server/records/audit/audit.ts";
import { listKeys } from "../../../server/records/clinics/keys.ts";
import { searchAudit } from "../../../server/records/users/audit-search.ts";
import { query, type Session, StoreUnavailable, uncachedWrite } from "../../../server/database/query.ts";
import { isConnectionLost, openPool, withPoolClient } from "../../../server/database/postgres-client.ts";
import { migrate } from "../../../server/database/postgres-schema.ts";
import { openStore } from "../../../server/database/open.ts";
import type { Store } from "../../../server/database/store.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { VERSION } from "../../../shared/files/program-files.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  importText,
  noon,
  patient,
  startServer,
  temporaryDatabase,
  temporaryFolder,
} from "../harness.ts";
import { dump } from "../../support/machine/postgres.ts";
import { item } from "../records.ts";

// Tests of several servers on one PostgreSQL database. The other tests of the store run on PostgreSQL too.

const clinics = query((db) => db.selectFrom("clinic").select("fp").orderBy("id"));
const customers = query((db) => db.selectFrom("customer").select("fp").orderBy("id"));
const addClinic = uncachedWrite((db, p: { fp: string }) => db.insertInto("clinic").values({ fp: p.fp, name: "" }));
const addCustomer = uncachedWrite((db, p: { fp: string }) => db.insertInto("customer").values({ fp: p.fp }));
const counted = query((db) => db.selectFrom("request_count").select("name").orderBy("name"));

/** Opens the stores of two servers on one database. */
async function twoStores(writeWaitMs?: number) {
  const database = await temporaryDatabase();
  const [one, other] = [await openStore(database, writeWaitMs), await openStore(database, writeWaitMs)];
  return { database, one, other, close: () => Promise.all([one.close(), other.close()]) };
}

test("a pool whose connections are all in use has lost none of them, so that the server does not try again", async () => {
  const connectionString = await temporaryDatabase();
  const pool = openPool({ connectionString, max: 1, connectionTimeoutMillis: 2_000 });
  const taken = await pool.connect();
  const busy = await withPoolClient(pool, () => Promise.resolve()).catch((error: unknown) => error);
  expect([busy, isConnectionLost(busy)]).toEqual([expect.any(StoreUnavailable), false]);
  taken.release();
  await pool.end();
});

describe("transactions of several servers", () => {
  test("concurrent key creations of two servers respect the limit of keys of a clinic", async () => {
    const ours = newFp("clinic");
    const { store, pepper, database } = await startServer(clinic(ours));
    const other = await openStore(database);
    const wanted = {
      clinicId: 1,
      name: "x",
      type: "integration" as const,
      permissions: [],
      now: noon,
      expiresAt: null,
    };
    for (let made = 0; made < ACTIVE_KEYS_MAX - 3; made += 1) await createKey(store, pepper, wanted);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => createKey(index % 2 === 0 ? store : other, pepper, wanted)),
    );
    expect(await listKeys(store, 1)).toHaveLength(ACTIVE_KEYS_MAX);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    await other.close();
  });

  test("a transaction runs again after a serialization failure, the last time exclusively", async () => {
    const { one, other, close } = await twoStores(50);
    const outcomes: string[] = [];
    // Each transaction reads rows that the other writes, so that no serial order exists. The other's commit stays.
    const contradict = (session: Session) =>
      session.all(customers, {}).then(() => session.all(addClinic, { fp: newFp("clinic") }));
    await one.transaction(async (session) => {
      await session.all(clinics, {});
      const outcome = await other.transaction(contradict).catch((error: unknown) => error);
      outcomes.push(outcome instanceof StoreUnavailable ? "waited in vain" : "committed");
      await session.all(addCustomer, { fp: newFp("customer") });
    });
    expect(outcomes).toEqual(["committed", "committed", "committed", "waited in vain"]);
    expect([await one.all(clinics, {}), await one.all(customers, {})].map(({ length }) => length)).toEqual([3, 1]);
    await close();
  });
});

describe("an import with a serialization failure", () => {
  test("an import that runs again reports the counts and problems of the last run", async () => {
    const { one, other, close } = await twoStores();
    const [ours, first, second] = [newFp("clinic"), patient(), patient()];
    const theirs = [first, second].values();
    let attempts = 0;
    // Fixes the snapshot of the import before the other server stores a patient of the same file.
    const contested: Store = {
      ...one,
      transaction: (work) =>
        one.transaction(async (session) => {
          attempts += 1;
          await session.all(clinics, {});
          if (attempts % 2 === 1) await importEntities(other, theirs.next().value);
          return work(session);
        }),
    };
    const stranger = { type: "user", fp: newFp("user"), name: "Elif", clinic_fp: newFp("clinic") };
    const [refused] = await Promise.allSettled([importEntities(contested, stranger, first)]);
    expect(refused).toMatchObject({ status: "rejected", reason: { total: 1, problems: [{ line: 1 }] } });
    expect(attempts).toBe(2);

    const lines = [clinic(ours), second, connection(second.fp, ours)];
    expect(await importEntities(contested, ...lines)).toEqual({ new: 2, changed: 0, unchanged: 1 });
    expect(attempts).toBe(4);
    await close();
  });
});

describe("an import and a client that synchronises", () => {
  const [ours, one, two] = [newFp("clinic"), patient(), patient()];
  const entities = [clinic(ours), one, two, connection(one.fp, ours), connection(two.fp, ours)];

  /** Wraps a store: the first attempt of a transaction runs another action at its start or end. */
  function disturbed(
    store: Store,
    when: "begins" | "ends",
    disturb: () => Promise<unknown>,
  ): Store & { attempts: number } {
    const counting = {
      ...store,
      attempts: 0,
      transaction: <T>(work: (session: Session) => Promise<T>) =>
        store.transaction(async (session) => {
          counting.attempts += 1;
          // Fixes the snapshot of this transaction.
          await session.all(clinics, {});
          if (counting.attempts === 1 && when === "begins") await disturb();
          const result = await work(session);
          if (counting.attempts === 1 && when === "ends") await disturb();
          return result;
        }),
    };
    return counting;
  }

  test("the first use of a key during an import makes the import run again, as for a synchronised clinic", async () => {
    const server = await startServer(...entities);
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    const store = disturbed(server.store, "begins", () => server.get(key, "/api/v1/patients"));
    await importEntities(store, { ...one, species: "cat" });
    const { body } = await server.get(key, `/api/v1/patients/${one.fp}`);
    expect([store.attempts, body.data.updated_at]).toEqual([2, "2026-11-21T12:00:00.000Z"]);
  });

  test("the import that commits last has the latest time, whichever started first", async () => {
    const server = await startServer(...entities);
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    await server.get(key, "/api/v1/patients");
    let now = noon;
    const put = async (store: Store, line: object) => importText(store, JSON.stringify(line), (now += 1000));
    const store = disturbed(server.store, "ends", () => put(server.store, { ...two, species: "cat" }));
    const file = join(temporaryFolder(), "import.ndjson");
    writeFileSync(file, JSON.stringify({ ...one, species: "cat" }));
    await importFile(
      store,
      file,
      () => undefined,
      () => (now += 1000),
    );
    const { items } = (await server.get(key, "/api/v1/patients?species=cat")).body.data;
    expect([store.attempts, items.map(({ fp }) => fp)]).toEqual([2, [one.fp, two.fp]]);
  });
});

describe("a transaction with concurrent queries", () => {
  test("a transaction with concurrent queries fails with the first error", async () => {
    const store = await openStore(await temporaryDatabase());
    const twice = newFp("clinic");
    let outcomes: PromiseSettledResult<unknown>[] = [];
    const failing = store.transaction(async (session) => {
      const fps = [twice, twice, newFp("clinic")];
      outcomes = await Promise.allSettled(fps.map((fp) => session.all(addClinic, { fp })));
      await session.all(clinics, {});
    });
    await expect(failing).rejects.toThrow("duplicate key");
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await store.all(clinics, {})).toEqual([]);
    await store.close();
  });
});

test("a transaction whose key a concurrent one took runs again", async () => {
  const store = await openStore(await temporaryDatabase());
  const fp = newFp("clinic");
  let attempts = 0;
  await store.transaction(async (session) => {
    attempts += 1;
    if (attempts > 1) return;
    await store.transaction((other) => other.all(addClinic, { fp }));
    await session.all(addClinic, { fp });
  });
  expect(attempts).toBe(2);
  await store.close();
});

describe("counters in the database", () => {
  const windows = [
    { name: "minute", ms: 60_000, limit: 4 },
    { name: "hour", ms: 3_600_000, limit: 9 },
  ];

  test("counters in the database return the same results as counters in memory, for any clock", async () => {
    const store = await openStore(await temporaryDatabase());
    const wait = fc.constantFrom(0, 0, 1, 20_000, 59_999, 60_000, 3_540_000, 3_600_000, -1, -90_000);
    const cost = fc.constantFrom<Cost>(1, 1, 1, 0, -1);
    const steps = fc.array(fc.tuple(wait, cost), { minLength: 20, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(windows, windows.slice(0, 1)), async (requests, some) => {
        const [inMemory, inDatabase] = [new MemoryCounters(10), storeCounters(store).keys];
        const name = newFp("user");
        let now = noon;
        for (const [waitMs, each] of requests) {
          now += waitMs;
          expect(await inDatabase.take(name, some, now, each)).toEqual(await inMemory.take(name, some, now, each));
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
    await store.close();
  });

  test("two servers together count no more requests than the limit", async () => {
    const { one, other, close } = await twoStores();
    const nodes = [storeCounters(one).keys, storeCounters(other).keys];
    const taken = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => (await nodes[index % 2]?.take("a", windows, noon))?.taken),
    );
    expect(taken.filter(Boolean)).toHaveLength(4);
    await close();
  });

  test("a request that waited, or another server's late clock, starts no new window", async () => {
    const { one, other, close } = await twoStores();
    const nodes = [storeCounters(one).keys, storeCounters(other).keys];
    const taken: (boolean | undefined)[] = [];
    for (let index = 0; index < 20; index += 1) {
      taken.push((await nodes[index % 2]?.take("a", windows, noon - index * 500))?.taken);
    }
    expect(taken.filter(Boolean)).toHaveLength(4);
    await close();
  });

  test("counters separate keys from addresses, and ended windows are deleted", async () => {
    const store = await openStore(await temporaryDatabase());
    const { keys, addresses } = storeCounters(store);
    await keys.take("1", windows, noon);
    await addresses.take("1", windows.slice(0, 1), noon);
    expect(await store.all(counted, {})).toEqual([{ name: "address 1" }, { name: "key 1" }]);
    await keys.take("2", windows, noon + 60_000);
    expect(await store.all(counted, {})).toEqual([{ name: "key 1" }, { name: "key 2" }]);
    await store.close();
  });
});

describe("the store on PostgreSQL", () => {
  test("lists are sorted by bytes, whatever the collation of the database", async () => {
    const ours = newFp("clinic");
    const names = ["ğ", "b", "A", "a", "B", "Z"];
    const server = await startServer(
      clinic(ours),
      names.map((name) => item(ours, { name })),
    );
    const key = await server.makeKey(ours, ["clinic.inventory.view"]);
    const { body } = await server.get(key, "/api/v1/inventory");
    expect(body.data.items.map(({ name }) => name)).toEqual(["A", "B", "Z", "a", "b", "ğ"]);
  });

  test("requests succeed after a cut of all connections and after a newer program altered a table", async () => {
    const ours = newFp("clinic");
    const server = await startServer(clinic(ours));
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    const status = async () => (await server.get(key, "/api/v1/patients")).status;
    expect(await status()).toBe(200);
    const operator = await connectTo(server.database);
    await operator.run(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    expect(await status()).toBe(200);

    // A prepared `select *` fails after ALTER TABLE. The next request gets a new connection.
    await operator.run("alter table patient add column newer text");
    await operator.run("alter table clinic_patient add column newer text");
    await operator.close();
    await expect.poll(status).toBe(200);
    const fp = newFp("patient");
    await expect.poll(async () => (await server.get(key, `/api/v1/patients/${fp}`)).status).toBe(404);
  });

  test("errors contain neither the password nor values of a row", async () => {
    const database = await temporaryDatabase();
    const { password } = new URL(database);
    for (const [url, sentence] of [
      [database.replace(password, `${password}x`), /cannot be used now: .*password authentication failed/],
      [database.replace(/:\d+\//, ":1/"), /cannot be used now: nothing listens there \(ECONNREFUSED\)/],
      [database.replace(/[^/]+$/, "nothing"), /cannot be used now: 3D000/],
      [database.replace("@", "@["), /^invalid DATABASE_URL, expected a URL such as postgres:/],
    ] as const) {
      const error = await openStore(url).catch((thrown: unknown) => thrown as Error);
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).message).toMatch(sentence);
      expect(everythingIn(error)).not.toContain(password);
    }

    const store = await openStore(database);
    const fp = newFp("clinic");
    await store.transaction((session) => session.all(addClinic, { fp }));
    const again = store.transaction((session) => session.all(addClinic, { fp }));
    const error = await again.catch((thrown: unknown) => thrown);
    expect(everythingIn(error)).toContain("duplicate key");
    expect(everythingIn(error)).not.toContain(fp);
    await store.close();
  });
});

test("equal writes in two histories of a clinic give it different versions", async () => {
  const fp = newFp("clinic");
  const histories = await Promise.all(
    [1, 2].map(async () => {
      const store = await openStore(await temporaryDatabase());
      await importEntities(store, clinic(fp), item(fp, {}));
      const versions = await store.versions(1);
      await store.close();
      return versions.answers;
    }),
  );
  expect(new Set(histories).size).toBe(2);
});

test("the name of each session has the version of its server", async () => {
  const database = await temporaryDatabase();
  const store = await openStore(database);
  await store.ping();
  const operator = await connectTo(database);
  const looked = operator.run(`do $$ begin
    assert (select count(*) > 0 from pg_stat_activity
      where datname = current_database() and application_name = 'vetwire ${VERSION}'), 'no session has the version';
  end $$`);
  await expect(looked).resolves.toBeUndefined();
  await operator.close();
  await store.close();
});

describe("a migration on PostgreSQL", () => {
  const FIRST = "create table owner (id bigint primary key, name text not null); insert into owner values (1, 'Ada')";
  const SECOND = "alter table owner add column phone text; update owner set name = 'Eve'";

  async function filledDatabase(): Promise<string> {
    const database = await temporaryDatabase();
    await migrate({ connectionString: database }, [FIRST]);
    return database;
  }

  // The key of \restrict differs in each dump.
  const dumped = (database: string) => dump(database).replaceAll(/^\\(un)?restrict .*$/gm, "");

  test("a migration that breaks a constraint leaves the database as it was", async () => {
    const database = await filledDatabase();
    const before = dumped(database);
    const failing = migrate({ connectionString: database }, [FIRST, SECOND, "update owner set name = null"]);
    await expect(failing).rejects.toThrow(/^the database of DATABASE_URL could not be updated and stays as it was \(/);
    expect(dumped(database)).toBe(before);
  });

  test("a connection that is cut within a migration leaves the database as it was", async () => {
    const database = await filledDatabase();
    const before = dumped(database);
    const cut = "select pg_terminate_backend(pg_backend_pid())";
    await expect(migrate({ connectionString: database }, [FIRST, SECOND, cut])).rejects.toThrow(/stays as it was/);
    expect(dumped(database)).toBe(before);
  });

  test.each(["read committed", "serializable"])(
    "servers that start together migrate the database once, also where the database is %s by default",
    async (isolation) => {
      const database = await filledDatabase();
      await setDefault(database, `default_transaction_isolation = '${isolation}'`);
      await Promise.all([1, 2, 3].map(() => migrate({ connectionString: database }, [FIRST, SECOND])));
      expect(dumped(database)).toContain("phone text");
    },
  );

  test("a migration may take longer than the time limit of a statement", async () => {
    const database = await filledDatabase();
    await setDefault(database, "statement_timeout = '1s'");
    await setDefault(database, "synchronous_commit = off");
    const slow = "select pg_sleep(1.5); create table waited as select current_setting('synchronous_commit') as commit";
    await migrate({ connectionString: database }, [FIRST, slow]);
    expect(dumped(database)).toMatch(/COPY public.waited .*\non\n/);
  });

  test("a user who is not the owner gets the remedy, for an empty database and for an upgrade", async () => {
    const [empty, filled] = [await temporaryDatabase(), await filledDatabase()];
    const user = `guest_${randomBytes(6).toString("hex")}`;
    const operator = await connectTo(filled);
    await operator.run(
      `create role ${user} login password 'guest'; grant create on schema public to ${user}; grant select on all tables in schema public to ${user}`,
    );
    const refusal = async (database: string) => {
      const url = new URL(database);
      [url.username, url.password] = [user, "guest"];
      return migrate({ connectionString: url.href }, [FIRST, SECOND]).then(
        () => "none",
        (error: unknown) => (error as Error).message,
      );
    };
    const refuses = (reason: string) =>
      `the database of DATABASE_URL refuses its user (${reason}): make the user the owner of the database, and of the tables that it has`;
    const refusals = [await refusal(empty), await refusal(filled)];
    await operator.run(`revoke all on migration from ${user}`);
    refusals.push(await refusal(filled));
    await operator.run(`drop owned by ${user}; drop role ${user}`);
    await operator.close();
    expect(refusals).toEqual([
      refuses("permission denied for schema public"),
      refuses("must be owner of table owner"),
      refuses("permission denied for table migration"),
    ]);
  });

  test("a database whose encoding lacks characters is refused with the remedy, and gets no table", async () => {
    const database = await temporaryDatabase();
    const name = database.replace(/.*\//, "");
    const operator = await connectTo(database.replace(/[^/]*$/, "postgres"));
    await operator.run(`drop database ${name}`);
    await operator.run(`create database ${name} template template0 encoding 'WIN1254' locale 'C' locale_provider libc`);
    await operator.close();
    await expect(openStore(database)).rejects.toThrow(
      "the database of DATABASE_URL has the encoding WIN1254, expected UTF8: create another one with: create database",
    );
    expect(dumped(database)).not.toContain("CREATE TABLE");
  });
});

describe("a database with other defaults", () => {
  test.each(["serializable", "repeatable read"])(
    "simultaneous requests of a key are counted where transactions are %s by default",
    async (isolation) => {
      const database = await temporaryDatabase();
      await (await openStore(database)).close();
      await setDefault(database, `default_transaction_isolation = '${isolation}'`);
      const store = await openStore(database);
      const { keys } = storeCounters(store);
      const windows = [{ name: "minute", ms: 60_000, limit: 100 }];
      const taken = await Promise.all(Array.from({ length: 40 }, () => keys.take("1 api", windows, noon)));
      expect(Math.max(...taken.map(({ counts }) => counts[0]?.used ?? 0))).toBe(40);
      await store.close();
    },
  );

  test("a transaction that waits for its reader goes on", async () => {
    const database = await temporaryDatabase();
    await (await openStore(database)).close();
    await setDefault(database, "idle_in_transaction_session_timeout = '50ms'");
    const store = await openStore(database);
    const read = store.snapshot(async (session) => {
      await session.all(clinics, {});
      await sleep(300);
      return session.all(clinics, {});
    });
    expect(await read).toEqual([]);
    await store.close();
  });

  test("the audit is searched where a backslash escapes characters of literals", async () => {
    const database = await temporaryDatabase();
    await (await openStore(database)).close();
    await setDefault(database, "standard_conforming_strings = off");
    const store = await openStore(database);
    const fp = newFp("clinic");
    for (const command of ["take a!b", "take a%b"])
      await store.transaction((session) =>
        auditCommand(session, command, [fp], { by: "test", now: noon, clinicId: 1 }),
      );
    const search = { clinicId: 1, since: 0, until: noon + 1, user: "", key: "", fp: "" };
    const found = async (text: string) =>
      (await searchAudit(store, { ...search, text })).rows.map(({ route }) => route);
    expect([await found("a!b"), await found("a%"), await found("a_b")]).toEqual([["take a!b"], ["take a%b"], []]);
    await store.close();
  });
});

/** Changes a setting of all further connections to a database, as its owner may. */
async function setDefault(database: string, setting: string): Promise<void> {
  const operator = await connectTo(database);
  await operator.run(`alter database ${database.replace(/.*\//, "")} set ${setting}`);
  await operator.close();
}

/** @returns all text that a log could contain of an error */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return [error.message, error.stack, JSON.stringify(error), everythingIn(error.cause)].join("\n");
}
