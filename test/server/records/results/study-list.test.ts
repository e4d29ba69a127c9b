import { expect, onTestFinished, test } from "vitest";
import { askConnection, closeConnection } from "../../../../server/records/patients/patient-connections.ts";
import { openStore } from "../../../../server/database/open.ts";
import { readVersions } from "../../../../server/database/cache-versions.ts";
import type { Store } from "../../../../server/database/store.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { fileStudies } from "../../../../server/records/filing/filing.ts";
import { VersionedCache } from "../../../../server/records/patients/versioned-cache.ts";
import { listStudies, type PageStart } from "../../../../server/records/results/study-list.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { diceOf } from "../../../support/runner/dice.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  keyPermissions,
  needNoConfirmation,
  noon,
  onPostgres,
  patient,
  startServer,
  study,
} from "../../harness.ts";
import { addUser } from "../../webhooks.ts";
import { assignStudy, moveStudy, reopenStudy } from "../../study-commands.ts";

const own = newFp("clinic");
const other = newFp("clinic");
const shared = patient({ name: "Shared" });
const single = patient({ name: "Single" });

async function world() {
  const server = await startServer(
    [clinic(own), clinic(other), shared, single],
    [connection(shared.fp, own), connection(shared.fp, other), connection(single.fp, own)],
  );
  return { ...server, key: await server.makeKey(own, keyPermissions), reader: new Reader(server.store, own) };
}

/** A client that follows the document: it requests with the `updated_at` of the first study, and again if the total falls. */
class Reader {
  readonly #store: Store;
  readonly #clinicFp: string;
  /** What the client knows: the last content of each study that it saw. */
  readonly seen = new Map<string, string>();
  readonly #starts = new VersionedCache<PageStart>(10);
  #since: number | null = null;

  constructor(store: Store, clinicFp: string) {
    this.#store = store;
    this.#clinicFp = clinicFp;
  }

  /** @returns the fps that it read, the last changed first */
  async sync(pageSize = 3, between = async () => {}): Promise<string[]> {
    const clinicId = (await findClinic(this.#store, this.#clinicFp))?.id ?? 0;
    let next = this.#since;
    for (;;) {
      const fps: string[] = [];
      let total = 0;
      for (let page = 1; ; page += 1) {
        const { answers: version } = await readVersions(this.#store, clinicId);
        const filter = { clinicId, patientFp: null, updatedSince: this.#since, page, pageSize, version };
        const found = await listStudies(this.#store, this.#starts, filter);
        if (found.total < total) break;
        total = found.total;
        for (const { updated_at, ...content } of found.items) {
          if (page === 1 && fps.length === 0) next = Date.parse(updated_at);
          fps.push(content.fp);
          this.seen.set(content.fp, JSON.stringify(content));
        }
        if (page * pageSize >= total) {
          this.#since = next;
          return fps;
        }
        await between();
      }
    }
  }
}

test("a study that a person places later is in the next run, and is no longer listed when taken back", async () => {
  const { push, key, reader, store, clock } = await world();
  const [early, late] = [study({ patient_fp: single.fp }), study()];
  await push(key, late, early);
  expect(await reader.sync()).toEqual([early.fp]);
  clock.now += 3_600_000;
  const actor = { fp: late.fp, by: "test", now: clock.now };
  await store.transaction((session) => assignStudy(session, { ...actor, patientFp: single.fp }));
  expect(await reader.sync()).toEqual([late.fp, early.fp]);
  await store.transaction((session) => reopenStudy(session, actor));
  expect(await reader.sync()).toEqual([]);
});

test("the studies of a patient that is connected later are in the next run of that clinic alone", async () => {
  const { push, key, reader, store, clock } = await world();
  const [a, b] = [study({ patient_fp: single.fp }), study({ patient_fp: shared.fp })];
  await push(key, a, b);
  const theirs = new Reader(store, other);
  expect(await theirs.sync()).toEqual([b.fp]);
  expect(await reader.sync()).toEqual([b.fp, a.fp]);
  clock.now += 60_000;
  const clinicId = (await findClinic(store, other))?.id ?? 0;
  const actor = { clinicId, userId: await addUser(store), by: "test", now: clock.now };
  await needNoConfirmation(store);
  await store.transaction((session) => askConnection(session, single.fp, actor));
  expect(await theirs.sync()).toEqual([a.fp, b.fp]);
  expect(await reader.sync()).toEqual([b.fp, a.fp]);
  await store.transaction((session) => closeConnection(session, single.fp, actor));
  await importEntities(store, { ...single, deleted_at: "2026-11-21T00:00:00.000Z" });
  expect(await new Reader(store, other).sync()).toEqual([b.fp]);
  expect(await new Reader(store, own).sync()).toEqual([b.fp]);
});

test("a server whose clock is late or ahead hides no study from a client", async () => {
  const { reader, store } = await world();
  const clinicId = (await findClinic(store, own))?.id ?? 0;
  const file = async (now: number) => {
    const pushed = study({ patient_fp: single.fp });
    await store.transaction((session) => fileStudies(session, clinicId, [pushed], now));
    return pushed.fp;
  };
  const ahead = await file(noon + 3_600_000);
  expect(await reader.sync()).toEqual([ahead]);
  const behind = await file(noon - 3_600_000);
  expect(await reader.sync()).toContain(behind);
  const between = await file(noon);
  expect(await reader.sync()).toContain(between);
  const later = await file(noon + 7_200_000);
  expect(await reader.sync()).toContain(later);
  expect(await reader.sync()).toEqual([later]);
});

test.each([1, 2, 3])(
  "a client that syncs while others write has every study in its last revision (%i)",
  async (seed) => {
    const served = await world();
    // Two servers on PostgreSQL, and one on SQLite. They wait long for each other, on a slow machine too.
    const [store, second] = onPostgres() ? await twoServers(served.database) : [served.store, served.store];
    const reader = new Reader(store, own);
    const clinicId = (await findClinic(store, own))?.id ?? 0;
    const dice = diceOf(seed);
    const latest = new Map<string, PushedStudy>();
    let isWriting = true;
    async function write(server: Store, skewMs: number): Promise<void> {
      const mine: PushedStudy[] = [];
      for (let count = 0; count < 25; count += 1) {
        const known = mine[dice(mine.length + 1)];
        const pushed =
          known === undefined
            ? study({ patient_fp: dice(2) === 0 ? single.fp : shared.fp })
            : { ...known, revision: known.revision + 1, device_name: `Device ${count}` };
        const now = noon + count + skewMs - dice(100);
        // A long transaction commits after others with a later start.
        await server.transaction(async (session) => {
          await fileStudies(session, clinicId, [pushed], now);
          await new Promise((resolve) => void setTimeout(resolve, dice(5)));
        });
        if (known === undefined) mine.push(pushed);
        else mine[mine.indexOf(known)] = pushed;
        latest.set(pushed.fp, pushed);
      }
    }
    async function read(): Promise<void> {
      const pause = async () => new Promise<void>((resolve) => void setImmediate(resolve));
      for (; isWriting; await pause()) await reader.sync(2, pause);
    }
    const reading = read();
    await Promise.all([write(store, 0), write(second, 5000), write(store, -60_000), write(second, 40)]);
    isWriting = false;
    await reading;
    await reader.sync();
    const names = new Map([...reader.seen].map(([fp, text]) => [fp, (JSON.parse(text) as PushedStudy).device_name]));
    expect(names).toEqual(new Map([...latest].map(([fp, { device_name }]) => [fp, device_name])));
  },
);

async function twoServers(database: string): Promise<[Store, Store]> {
  const stores: [Store, Store] = [await openStore(database, 30_000), await openStore(database, 30_000)];
  onTestFinished(async () => void (await Promise.all(stores.map(async (store) => store.close()))));
  return stores;
}

test("a study that leaves the list between two pages makes the client start again, and it misses none", async () => {
  const { push, key, reader, store, clock } = await world();
  const all = Array.from({ length: 6 }, () => study({ patient_fp: single.fp }));
  await push(key, ...all);
  let isFirst = true;
  const fps = await reader.sync(2, async () => {
    if (!isFirst) return;
    isFirst = false;
    const fp = all[5]?.fp ?? "";
    const placed = { fp, by: "test", now: clock.now };
    const move = { ...placed, patientFp: shared.fp, reason: "another animal" };
    await store.transaction((session) => moveStudy(session, move));
    await store.transaction((session) => reopenStudy(session, placed));
  });
  expect(fps).toEqual(
    all
      .slice(0, 5)
      .map(({ fp }) => fp)
      .toReversed(),
  );
});

test("a page starts after the last study of the page before it, until the clinic's data change", async () => {
  const { push, key, store, database } = await world();
  const all = Array.from({ length: 6 }, () => study({ patient_fp: single.fp }));
  await push(key, ...all);
  const newest = all.map(({ fp }) => fp).toReversed();
  const clinicId = (await findClinic(store, own))?.id ?? 0;
  const starts = new VersionedCache<PageStart>(10);
  const read = async (page: number, version: number) => {
    const filter = { clinicId, patientFp: null, updatedSince: null, page, pageSize: 2, version };
    const { items, total } = await listStudies(store, starts, filter);
    return { total, fps: items.map(({ fp }) => fp) };
  };
  expect(await read(1, 1)).toEqual({ total: 6, fps: newest.slice(0, 2) });
  // A change without a new version shows which pages start at an offset.
  const beside = await connectTo(database);
  onTestFinished(() => beside.close());
  await beside.run(`delete from clinic_study where study_id = (select id from study where fp = '${newest[0]}')`);
  expect(await read(2, 1)).toEqual({ total: 6, fps: newest.slice(2, 4) });
  expect(await read(3, 1)).toEqual({ total: 6, fps: newest.slice(4, 6) });
  expect(await read(4, 1)).toEqual({ total: 6, fps: [] });
  expect(await read(2, 2)).toEqual({ total: 5, fps: newest.slice(3, 5) });
  expect(await read(3, 2)).toEqual({ total: 5, fps: newest.slice(5, 6) });
});

test("a page that leaves out a damaged study does not record where the next one starts", async () => {
  const { push, key, store, database } = await world();
  const all = Array.from({ length: 6 }, () => study({ patient_fp: single.fp }));
  await push(key, ...all);
  const newest = all.map(({ fp }) => fp).toReversed();
  const beside = await connectTo(database);
  onTestFinished(() => beside.close());
  await beside.run(`update study set device_name = 'X' where fp = '${newest[1]}'`);
  expect(await new Reader(store, own).sync(2)).toEqual(newest.filter((_, at) => at !== 1));
});

test("a push of many studies gives up the turn in between", async () => {
  const { store } = await world();
  const clinicId = (await findClinic(store, own))?.id ?? 0;
  const many = Array.from({ length: 40 }, () => study({ patient_fp: single.fp }));
  let [turns, isOver] = [0, false];
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await store.transaction((session) => fileStudies(session, clinicId, many, noon));
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(4);
});
