import Fastify from "fastify";
import { pino } from "pino";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { Query, Session } from "../../../server/database/query.ts";
import { openStore } from "../../../server/database/open.ts";
import type { Store } from "../../../server/database/store.ts";
import { countCalls } from "../../../server/operator/api-calls.ts";
import { readAllMeters, readMeters } from "../../../server/records/hosting/meters.ts";
import { connectTo, noon, temporaryDatabase } from "../harness.ts";

// The counts of requests with keys, on servers that share a database.

const CLINICS = 1200;

afterEach(() => {
  vi.useRealTimers();
});

async function openClinics(): Promise<Store> {
  const database = await temporaryDatabase();
  const store = await openStore(database);
  const other = await connectTo(database);
  await other.run(`insert into clinic (fp, name)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${CLINICS})
    select 'clinic_' || n, 'A clinic' from numbers`);
  await other.close();
  onTestFinished(() => store.close());
  return store;
}

/** A server whose requests name the clinic of their key. */
function startCounting(store: Store) {
  const app = Fastify();
  app.decorateRequest("context");
  countCalls(app, { store, now: () => noon, logger: pino({ enabled: false }) });
  app.get("/:clinic", async (request) => {
    const { clinic } = request.params as { clinic: string };
    Object.assign(request, { context: { key: { clinic_id: Number(clinic) } } });
    return {};
  });
  const call = async (clinicId: number) => expect((await app.inject(`/${clinicId}`)).statusCode).toBe(200);
  return { app, call };
}

async function callsOf(store: Store, clinicId: number): Promise<number | undefined> {
  return (await readMeters(store, { now: noon, clinicId }))?.api_calls_this_month;
}

test("two servers add their counts, each in the order of the clinics and some at a time", {
  timeout: 60_000,
}, async () => {
  const store = await openClinics();
  const stored: number[][] = [];
  const watched = (session: Session, took: (ids: number[]) => void): Session => ({
    ...session,
    each: async <P>(asked: Query<P, unknown>, list: readonly P[]) => {
      took((list as readonly { clinicId: number }[]).map(({ clinicId }) => clinicId));
      return session.each(asked, list);
    },
  });
  // A transaction that meets the one of the other server runs again: its last run is the one that stores.
  const noting: Store = {
    ...store,
    transaction: async (work, options) => {
      let last: number[] = [];
      const outcome = await store.transaction((session) => work(watched(session, (ids) => (last = ids))), options);
      stored.push(last);
      return outcome;
    },
  };
  const [one, other] = [startCounting(noting), startCounting(store)];
  for (let clinicId = CLINICS; clinicId > 0; clinicId -= 1) await one.call(clinicId);
  for (let clinicId = 1; clinicId <= CLINICS; clinicId += 1) await other.call(clinicId);
  await one.call(7);
  await Promise.all([one.app.close(), other.app.close()]);
  expect(stored.flat()).toEqual(stored.flat().toSorted((a, b) => a - b));
  expect(stored.map((ids) => ids.length)).toEqual([500, 500, 200]);
  expect([await callsOf(store, 7), await callsOf(store, 8), await callsOf(store, CLINICS)]).toEqual([3, 2, 2]);
  const calls: number[] = [];
  for await (const clinic of readAllMeters(store, noon)) calls.push(clinic.api_calls_this_month);
  expect(calls).toEqual(Array.from({ length: CLINICS }, (_, index) => (index === 6 ? 3 : 2)));
});

test("counts that the database does not take wait, and no request fails meanwhile", async () => {
  const store = await openClinics();
  let tries = 0;
  const locked: Store = {
    ...store,
    transaction: async (work, options) => {
      tries += 1;
      if (tries === 1) throw new Error("database is locked");
      return store.transaction(work, options);
    },
  };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const { app, call } = startCounting(locked);
  await call(7);
  vi.advanceTimersByTime(10_000);
  await expect.poll(() => tries).toBe(1);
  await call(7);
  await app.close();
  expect(tries).toBe(2);
  expect(await callsOf(store, 7)).toBe(2);
});
