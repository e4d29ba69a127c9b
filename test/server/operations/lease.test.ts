import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../server/database/open.ts";
import { query } from "../../../server/database/query.ts";
import type { Store } from "../../../server/database/store.ts";
import { AlertWatch } from "../../../server/operations/alert-watch.ts";
import { Lease } from "../../../server/operations/lease.ts";
import { diceOf } from "../../support/runner/dice.ts";
import { temporaryDatabase } from "../harness.ts";

// Several servers on one database, each with a running time of its own that starts anywhere.

const logger = pino({ enabled: false });
const holders = query((db) => db.selectFrom("lease").select("holder"));

async function servers(count: number) {
  const database = await temporaryDatabase();
  const time = { now: 0 };
  const all = [];
  for (let index = 0; index < count; index += 1) {
    const opened = await openStore(database);
    onTestFinished(() => opened.close());
    const store: Store = { ...opened, shared: true };
    all.push({ store, lease: new Lease(store, { logger, running: () => time.now + index * 1e6 }) });
  }
  return { time, all };
}

test("one server holds the lease, and another one takes it back at its next look after the holder stopped", async () => {
  const { all } = await servers(2);
  const [first, second] = all.map(({ lease }) => lease);
  await first?.look();
  await second?.look();
  expect(all.map(({ lease }) => lease.isHeld)).toEqual([true, false]);
  await first?.stop();
  await second?.look();
  expect(all.map(({ lease }) => lease.isHeld)).toEqual([false, true]);
});

test("a killed holder is replaced 25 s after its last renewal, and a holder that renews is not", async () => {
  const { time, all } = await servers(2);
  const [first, second] = all.map(({ lease }) => lease);
  await first?.look();
  for (let look = 0; look < 20; look += 1) {
    time.now += 5_000;
    await second?.look();
    await first?.look();
  }
  expect(all.map(({ lease }) => lease.isHeld)).toEqual([true, false]);
  // The first one is gone from here on.
  for (let look = 0; look < 5; look += 1) {
    time.now += 5_000;
    await second?.look();
  }
  expect(all.map(({ lease }) => lease.isHeld)).toEqual([false, true]);
});

test("two servers never hold the lease, however long they hang, wait for the database and stop", async () => {
  const dice = diceOf(1);
  const { time, all } = await servers(3);
  const leases = all.map(({ store }) => {
    const transaction: Store["transaction"] = async (work, options) => {
      time.now += dice(1_500);
      const result = await store.transaction(work, options);
      time.now += dice(1_500);
      return result;
    };
    return { lease: new Lease({ ...store, transaction }, { logger, running: () => time.now }), hangsUntil: 0 };
  });
  const holdersInTurn: number[] = [];
  for (let round = 0; round < 600; round += 1) {
    time.now += dice(3_000);
    const server = leases[dice(3)];
    if (server === undefined || time.now < server.hangsUntil) continue;
    if (dice(40) === 0) await server.lease.stop();
    else await server.lease.look();
    if (dice(15) === 0) server.hangsUntil = time.now + dice(60_000);
    const held = leases.flatMap(({ lease }, at) => (lease.isHeld ? [at] : []));
    expect(held.length).toBeLessThan(2);
    if (held[0] !== undefined && held[0] !== holdersInTurn.at(-1)) holdersInTurn.push(held[0]);
  }
  expect(holdersInTurn.length).toBeGreaterThan(5);
});

test("a server that cannot renew stops the work after 15 s, and a database of its own needs no lease", async () => {
  const { time, all } = await servers(1);
  const [{ store }] = all as [(typeof all)[0]];
  let isDown = false;
  const transaction: Store["transaction"] = async (work, options) => {
    if (isDown) throw new Error("the database is away");
    return store.transaction(work, options);
  };
  const lease = new Lease({ ...store, transaction }, { logger, running: () => time.now });
  await lease.look();
  isDown = true;
  time.now = 14_999;
  await lease.look();
  expect(lease.isHeld).toBe(true);
  time.now = 15_000;
  await lease.look();
  expect(lease.isHeld).toBe(false);
  expect(await store.all(holders, {})).toMatchObject([{ holder: expect.stringMatching(/./) as string }]);
  expect(new Lease({ ...store, shared: false }, { logger }).isHeld).toBe(true);
});

test("only the holder watches the alerts, and its metric has the age of its last pass", async () => {
  const { all } = await servers(2);
  const watches = all.map(({ store, lease }) => new AlertWatch({ store, lease, logger, now: Date.now }));
  await all[1]?.lease.look();
  for (const watch of watches) await watch.check();
  expect(watches.map(({ passAgeSeconds }) => passAgeSeconds)).toEqual([null, expect.any(Number)]);
  await all[1]?.lease.stop();
  await all[0]?.lease.look();
  for (const watch of watches) await watch.check();
  expect(watches.map(({ passAgeSeconds }) => passAgeSeconds)).toEqual([expect.any(Number), null]);
});
