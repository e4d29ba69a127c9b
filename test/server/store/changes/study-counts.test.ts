import { expect, onTestFinished, test } from "vitest";
import { countStudies } from "../../../../server/store/changes/study-counts.ts";
import { changeConnection } from "../../../../server/store/dashboard/patient-connections.ts";
import { openStore } from "../../../../server/store/database/open.ts";
import { query } from "../../../../server/store/database/query.ts";
import type { Store } from "../../../../server/store/database/store.ts";
import { findClinic } from "../../../../server/store/keys.ts";
import { fileStudies } from "../../../../server/store/studies/filing.ts";
import { assignStudy, reopenStudy } from "../../../../server/store/studies/placement.ts";
import { VersionedCache } from "../../../../server/store/patients/versioned-cache.ts";
import { listStudies } from "../../../../server/store/studies/study-list.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { diceOf, pick } from "../../../support/dice.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  noon,
  onPostgres,
  patient,
  startServer,
  study,
  temporaryDatabase,
} from "../../harness.ts";
import { addUser } from "../../webhooks.ts";

// Goal: the total of a list of studies is the number of its rows after any change, wherever the changes wait. Method: random
// commands, and a count of the rows beside each total.

const [own, other] = [newFp("clinic"), newFp("clinic")];
const shared = patient({ name: "Shared" });
const single = patient({ name: "Single" });

const rowCounts = query((db) =>
  db
    .selectFrom("clinic")
    .leftJoin("clinic_study", "clinic_study.clinic_id", "clinic.id")
    .select((select) => ["clinic.id as clinicId", select.fn.count<number>("clinic_study.study_id").as("rows")])
    .groupBy("clinic.id")
    .orderBy("clinic.id"),
);
const counters = query((db) =>
  db.selectFrom("clinic_study_count").select(["clinic_id as clinicId", "studies as rows"]).orderBy("clinic_id"),
);
const changes = query((db) =>
  db.selectFrom("clinic_study_change").select((select) => select.fn.countAll<number>().as("waiting")),
);

async function totals(store: Store, updatedSince: number | null = null) {
  const found: { clinicId: number; rows: number }[] = [];
  for (const { clinicId } of await store.all(rowCounts, {})) {
    const filter = { clinicId, patientFp: null, updatedSince, page: 1, pageSize: 100, version: 1 };
    const { items, total } = await listStudies(store, new VersionedCache(1), filter);
    expect(items).toHaveLength(Math.min(total, 100));
    found.push({ clinicId, rows: total });
  }
  return found;
}

async function world() {
  const { store, database } = await startServer(
    [clinic(own), clinic(other), shared, single],
    [connection(shared.fp, own), connection(shared.fp, other), connection(single.fp, own)],
  );
  const idOf = async (fp: string) => (await findClinic(store, fp))?.id ?? 0;
  return { store, database, clinics: [await idOf(own), await idOf(other)] as const };
}

test.each([1, 2, 3])("each total is the number of the rows after any command (%i)", async (seed) => {
  const { store, clinics } = await world();
  const dice = diceOf(seed);
  const userId = await addUser(store);
  const pushed: { clinicId: number; study: PushedStudy }[] = [];
  const commands: readonly ((now: number) => Promise<unknown>)[] = [
    async (now) => {
      const clinicId = pick(dice, clinics);
      const next = [shared.fp, single.fp, null].map((patient_fp) => study({ patient_fp }));
      pushed.push(...next.map((each) => ({ clinicId, study: each })));
      await store.transaction((session) => fileStudies(session, clinicId, next, now));
    },
    async (now) => {
      const index = dice(pushed.length + 1);
      const known = pushed[index];
      if (known === undefined) return;
      const patient_fp = pick(dice, [shared.fp, single.fp]);
      const revised = { ...known.study, patient_fp, revision: known.study.revision + 1, device_name: `Device ${now}` };
      pushed[index] = { ...known, study: revised };
      await store.transaction((session) => fileStudies(session, known.clinicId, [revised], now));
    },
    async (now) => {
      const known = pushed[dice(pushed.length + 1)];
      if (known === undefined) return;
      const actor = { fp: known.study.fp, by: "test", now };
      const patientFp = pick(dice, [shared.fp, single.fp]);
      await store.transaction((session) => assignStudy(session, { ...actor, patientFp }));
      if (dice(2) === 0) await store.transaction((session) => reopenStudy(session, actor));
    },
    async (now) => {
      const actor = { clinicId: pick(dice, clinics), userId, by: "test", now };
      const fp = pick(dice, [shared.fp, single.fp]);
      await store.transaction((session) => changeConnection(session, fp, dice(3) > 0, actor));
    },
    async () => importEntities(store, { ...shared, deleted_at: dice(3) === 0 ? "2026-11-21T00:00:00.000Z" : null }),
    async () => countStudies(store, { waitingMax: pick(dice, [0, 3, 100]) }),
  ];
  let most = 0;
  for (let step = 1; step <= 60; step += 1) {
    await pick(dice, commands)(noon + step);
    const rows = await store.all(rowCounts, {});
    expect(await totals(store)).toEqual(rows);
    most = Math.max(most, ...rows.map((row) => row.rows));
  }
  expect(most).toBeGreaterThan(5);
  await countStudies(store, { waitingMax: 0 });
  expect(await store.all(counters, {})).toEqual(await store.all(rowCounts, {}));
  expect(await store.all(changes, {})).toEqual([{ waiting: 0 }]);
});

test("no change is lost or counted twice while servers push and count at once", async () => {
  const served = await world();
  const { clinics } = served;
  // Two servers on PostgreSQL, and one on SQLite. They wait long for each other, on a slow machine too.
  const [store, second] = onPostgres() ? await twoServers(served.database) : [served.store, served.store];
  let isPushing = true;
  const push = async (server: Store, clinicId: number) => {
    for (let count = 0; count < 15; count += 1) {
      const next = study({ patient_fp: shared.fp });
      await server.transaction((session) => fileStudies(session, clinicId, [next], noon + count));
    }
  };
  const count = async (server: Store) => {
    while (isPushing) {
      await countStudies(server, { waitingMax: 0 });
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  };
  const counting = [count(store), count(second)];
  await Promise.all([push(store, clinics[0]), push(second, clinics[0]), push(second, clinics[1])]);
  isPushing = false;
  await Promise.all(counting);
  const rows = clinics.map((clinicId) => ({ clinicId, rows: 45 }));
  expect(await totals(store)).toEqual(rows);
  await countStudies(store, { waitingMax: 0 });
  expect(await store.all(counters, {})).toEqual(rows);
});

test("a pass counts no further clinic once the server stops", async () => {
  const { store } = await world();
  await countStudies(store, { signal: AbortSignal.abort() });
  expect(await store.all(counters, {})).toEqual([]);
  await countStudies(store);
  expect(await store.all(counters, {})).toHaveLength(2);
});

async function twoServers(database: string): Promise<[Store, Store]> {
  const stores: [Store, Store] = [await openStore(database, 30_000), await openStore(database, 30_000)];
  onTestFinished(async () => void (await Promise.all(stores.map(async (store) => store.close()))));
  return stores;
}

/** One study a millisecond, as a server that does not know the counts would write them. */
const STUDIES = 2500;
const FILL = `
  insert into clinic (id, fp, name) values (1, 'clinic_1', '');
  insert into customer (id, fp) values (1, 'customer_1');
  insert into patient (id, fp, name, species, owner_customer_id, created_at, updated_at)
    values (1, 'patient_1', '', 'dog', 1, 0, 0);
  insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
    values (1, 1, 1, 1, 'patient_1', 'dog', 0);
  insert into study (id, fp, clinic_id, patient_id, modality, device_name, status, acquired_at, results, revision, content_hash,
    received_at)
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${STUDIES})
  select n, 'cds_' || n, 1, 1, 'CHEMISTRY', 'Device', 'COMPLETED', n, '[]', 1, '', n from numbers;
  insert into clinic_study (clinic_id, study_id, changed_at) select 1, id, acquired_at from study;`;

async function filled(): Promise<{ store: Store; run: (sql: string) => Promise<void> }> {
  const database = await temporaryDatabase();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await countStudies(store);
  const connected = await connectTo(database);
  onTestFinished(() => connected.close());
  await connected.run(FILL);
  return { store, run: (sql) => connected.run(sql) };
}

test("the total of the changes since a time is exact, whether few or many studies are older", async () => {
  const { store } = await filled();
  await countStudies(store, { waitingMax: 0 });
  for (const since of [0, 1, 2, 999, 1000, 1001, 1002, 2000, STUDIES, STUDIES + 1]) {
    expect([since, await totals(store, since)]).toEqual([
      since,
      [{ clinicId: 1, rows: Math.min(STUDIES, STUDIES + 1 - since) }],
    ]);
  }
});

test("a list takes its total from the counter, and no count of the rows", async () => {
  const { store, run } = await filled();
  await countStudies(store);
  await run("update clinic_study_count set studies = 7000");
  const filter = { clinicId: 1, patientFp: null, page: 1, pageSize: 1, version: 1 };
  expect((await listStudies(store, new VersionedCache(1), { ...filter, updatedSince: null })).total).toBe(7000);
  expect((await listStudies(store, new VersionedCache(1), { ...filter, updatedSince: 11 })).total).toBe(6990);
  expect((await listStudies(store, new VersionedCache(1), { ...filter, updatedSince: 1501 })).total).toBe(1000);
});
