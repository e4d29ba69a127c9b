import type { FastifyInstance } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../../server/app.ts";
import { defaultLimits } from "../../../../server/http/rate-limit/rate-limiter.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { askConnection, closeConnection } from "../../../../server/records/patients/patient-connections.ts";
import { deleteEvent } from "../../../../server/records/calendar/calendar.ts";
import { removeItem } from "../../../../server/records/inventory/stock.ts";
import { query } from "../../../../server/database/query.ts";
import { runningClock } from "../../../../server/database/running-clock.ts";
import { joinOldCommits } from "../../../../server/database/stamps.ts";
import { openStore } from "../../../../server/database/open.ts";
import type { Store } from "../../../../server/database/store.ts";
import { fileStudies } from "../../../../server/records/filing/filing.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { diceOf } from "../../../support/runner/dice.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  importText,
  keyPermissions,
  needNoConfirmation,
  noon,
  onPostgres,
  patient,
  startServer,
  study,
  type TestServer,
} from "../../harness.ts";
import { event, item, soap } from "../../records.ts";
import { addUser } from "../../webhooks.ts";
import { assignStudy, moveStudy, reopenStudy } from "../../study-commands.ts";

// Goal: a client that requests changes has a copy that equals the lists. Its cursor is the time of its request, the newest stamp
// that it got, or the Sync-Cursor.

const own = newFp("clinic");
const other = newFp("clinic");

const MINUTE_MS = 60_000;

interface Row {
  fp: string;
  updated_at: string;
}

interface Answer {
  items: Row[];
  next: string | null;
  cursor: string;
}

const LISTS = [
  "/api/v1/patients",
  "/api/v1/lab/diagnostics",
  "/api/v1/soap",
  "/api/v1/calendar/events?updated_since=1970-01-01",
  "/api/v1/inventory?updated_since=1970-01-01",
] as const;

async function ask(app: FastifyInstance, key: string, url: string): Promise<Answer> {
  const response = await app.inject({ url, headers: { "x-api-key": key, authorization: `Bearer ${key}` } });
  if (response.statusCode !== 200) throw new Error(`${url} got ${response.statusCode}: ${response.body}`);
  const next = /<([^>]+)>; rel="next"/.exec(String(response.headers["link"] ?? ""))?.[1] ?? null;
  const body = response.json<{ data: { items: Row[] } } | Row[]>();
  return { items: Array.isArray(body) ? body : body.data.items, next, cursor: String(response.headers["sync-cursor"]) };
}

/** Reads a list by its Link headers. @returns its rows, and the cursor of the first page and of the last one */
async function walk(app: FastifyInstance, key: string, url: string, between = async () => {}) {
  const rows: Row[] = [];
  const cursors: string[] = [];
  for (let next: string | null = url; next !== null; ) {
    const answer = await ask(app, key, next);
    rows.push(...answer.items);
    cursors.push(answer.cursor);
    next = answer.next;
    if (next !== null) await between();
  }
  return { rows, first: cursors[0] ?? "", last: cursors.at(-1) ?? "" };
}

type CursorKind = "poll time" | "newest stamp" | "Sync-Cursor";

/** A copy of the lists that a client keeps. */
class Copy {
  readonly rows = new Map<string, string>();
  readonly #app: FastifyInstance;
  readonly #key: string;
  readonly #kind: CursorKind;
  readonly #cursors = new Map<string, string>();

  constructor(app: FastifyInstance, key: string, kind: CursorKind) {
    this.#app = app;
    this.#key = key;
    this.#kind = kind;
  }

  async sync(pageSize = 7): Promise<void> {
    for (const list of LISTS) {
      const { rows } = await this.#read(list, "updated_since", pageSize);
      for (const row of rows) this.rows.set(row.fp, JSON.stringify(row));
    }
    const { rows } = await this.#read("/api/v1/changes", "after", pageSize);
    for (const { fp } of rows) this.rows.delete(fp);
  }

  async #read(list: string, sinceName: string, pageSize: number) {
    const asked = new Date().toISOString();
    const since = this.#cursors.get(list);
    const url = new URL(list, "http://localhost");
    url.searchParams.set("page_size", String(pageSize));
    if (since !== undefined) url.searchParams.set(sinceName, since);
    const found = await walk(this.#app, this.#key, url.pathname + url.search);
    const newest = found.rows
      .map(({ updated_at }) => updated_at)
      .toSorted()
      .at(-1);
    // What left, an event and an item have no stamp of the lists: the Sync-Cursor serves.
    const stamp = found.rows.some((row) => row.updated_at === undefined) ? found.last : (newest ?? since);
    const cursor = { "poll time": asked, "newest stamp": stamp, "Sync-Cursor": found.last }[this.#kind];
    if (cursor !== undefined) this.#cursors.set(list, cursor);
    return found;
  }
}

/** Two servers on one database, by the clock of this machine, and a key of the clinic that has been used. */
async function twoServers(...entities: object[]) {
  const { database, pepper, makeKey } = await startServer();
  const stores: [Store, Store] = [await openStore(database, 30_000), await openStore(database, 30_000)];
  const apps = stores.map((store) => buildApp(store, { pepper, limits: plenty, concealUnconnected: false }));
  onTestFinished(async () => {
    await Promise.all(apps.map(async (app) => app.close()));
    await Promise.all(stores.map(async (store) => store.close()));
  });
  await importLines(stores[0], clinic(own), clinic(other), ...entities);
  const key = await makeKey(own, [...keyPermissions, "clinic.calendar.view", "clinic.inventory.view"]);
  const [first, second] = apps as [FastifyInstance, FastifyInstance];
  return { stores, first, second, key };
}

const many = { minute: 1_000_000, hour: 1_000_000 };
const plenty = { ...defaultLimits, integration: many, device: many, partner: many, ingest: many };

async function importLines(store: Store, ...entities: object[]) {
  return importText(store, entities.map((entity) => JSON.stringify(entity)).join("\n"), Date.now());
}

/** The SOAP records that the key reads one by one. */
async function readable(app: FastifyInstance, key: string, fps: readonly string[]): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}` };
  const answers = await Promise.all(fps.map(async (fp) => app.inject({ url: `/api/v1/soap/${fp}`, headers })));
  return fps.filter((_, index) => answers[index]?.statusCode === 200).toSorted();
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => void setTimeout(resolve, ms));
}

test.each([1, 2])(
  "the copies of clients equal the lists while servers write simultaneously, with clocks that differ (%i)",
  async (seed) => {
    const dice = diceOf(seed);
    const animals = Array.from({ length: 30 }, () => patient());
    const shared = animals.flatMap(({ fp }) => [connection(fp, own), connection(fp, other)]);
    const { stores, first, second, key } = await twoServers(...animals, ...shared);
    const clinicId = (await findClinic(stores[0], own))?.id ?? 0;
    const notes = animals.map(({ fp }) => soap(fp, own, { status: "DRAFT", signed_at: null }));
    const events = animals.map(() => event(own));
    const items = animals.map(() => item(own));
    const userId = await addUser(stores[0]);
    await needNoConfirmation(stores[0]);
    const copies = [
      new Copy(first, key, "poll time"),
      new Copy(second, key, "newest stamp"),
      new Copy(second, key, "Sync-Cursor"),
    ];
    for (const copy of copies) await copy.sync();
    const any = () => animals[dice(animals.length)] ?? patient();

    /** Long transactions commit after others with a later start. */
    async function push(store: Store, skewMs: number): Promise<void> {
      const mine: PushedStudy[] = [];
      for (let count = 0; count < 10; count += 1) {
        const known = mine[dice(mine.length * 2 + 1)];
        const pushed = known
          ? { ...known, revision: known.revision + 1, device_name: `Device ${count}`, patient_fp: any().fp }
          : study({ patient_fp: any().fp, results: [] });
        await store.transaction(async (session) => {
          await fileStudies(session, clinicId, [pushed], Date.now() + skewMs);
          await pause(dice(8));
        });
        if (known) mine[mine.indexOf(known)] = pushed;
        else mine.push(pushed);
      }
    }
    async function importSome(store: Store): Promise<void> {
      for (let count = 0; count < 4; count += 1) {
        const changed = animals.filter(() => dice(3) === 0).map((each) => ({ ...each, name: `Name ${count}` }));
        const gone = changed.slice(0, 2).map((each) => ({ ...each, deleted_at: each.updated_at }));
        await importLines(store, ...changed.slice(2), ...gone);
        await pause(dice(8));
      }
    }
    async function connect(store: Store): Promise<void> {
      for (let count = 0; count < 10; count += 1) {
        const { fp } = any();
        const actor = { clinicId, userId, by: "test", now: Date.now() - MINUTE_MS };
        const change = dice(2) === 0 ? askConnection : closeConnection;
        await store.transaction<unknown>((session) => change(session, fp, actor));
        await pause(dice(8));
      }
    }
    async function keepRecords(store: Store, skewMs: number): Promise<void> {
      for (let count = 0; count < 5; count += 1) {
        const some = <T>(all: readonly T[]) => all.filter(() => dice(4) === 0);
        const drafts = some(notes).map((each) => ({ ...each, plan: `Plan ${count}`, patient_fp: any().fp }));
        const moved = some(events).map((each) => ({ ...each, title: `Title ${count}` }));
        const counted = some(items).map((each) => ({ ...each, quantity_on_hand: count }));
        const lines = [...drafts, ...moved, ...counted].map((line) => JSON.stringify(line)).join("\n");
        await importText(store, lines, Date.now() + skewMs);
        const [gone, used] = [some(events)[0], some(items)[0]];
        await store.transaction(async (session) => {
          if (gone) await deleteEvent(session, { fp: gone.fp, clinic_id: clinicId }, Date.now() + skewMs);
          if (used) await removeItem(session, used.fp, Date.now() + skewMs);
          await pause(dice(8));
        });
      }
    }
    let isWriting = true;
    const reading = copies.map(async (copy) => {
      while (isWriting) {
        await copy.sync();
        // Readers that never rest leave the writers no processor.
        await pause(dice(40));
      }
    });
    const [one, two] = stores;
    await Promise.all([
      push(one, 0),
      push(two, -MINUTE_MS),
      push(two, 3000),
      importSome(one),
      importSome(two),
      connect(two),
      keepRecords(one, 0),
      keepRecords(two, -MINUTE_MS),
    ]);
    isWriting = false;
    await Promise.all(reading);

    const truth = new Map<string, string>();
    const range = "start_date=2026-10-15&end_date=2027-01-10";
    const published = [`/api/v1/calendar/events?${range}`, "/api/v1/inventory?page_size=100"];
    for (const list of [...LISTS.slice(0, 3).map((each) => `${each}?page_size=100`), ...published]) {
      const { rows } = await walk(first, key, list);
      for (const row of rows) truth.set(row.fp, JSON.stringify(row));
    }
    expect([...truth.keys()].filter((fp) => fp.startsWith("soap_")).toSorted()).toEqual(
      await readable(
        first,
        key,
        notes.map(({ fp }) => fp),
      ),
    );
    for (const copy of copies) {
      await copy.sync();
      expect(copy.rows).toEqual(truth);
    }
  },
);

/** A server with a fake clock, whose clients have synchronised. */
async function synchronised(...entities: Parameters<typeof startServer>) {
  const server = await startServer(clinic(own), clinic(other), ...entities);
  const key = await server.makeKey(own, keyPermissions);
  await server.get(key, "/api/v1/patients");
  const clinicId = (await findClinic(server.store, own))?.id ?? 0;
  const since = async (list: string, time: number | string) => {
    const text = typeof time === "string" ? time : new Date(time).toISOString();
    return (await walk(server.app, key, `${list}?updated_since=${text}`)).rows.map(({ fp }) => fp);
  };
  const left = async (time: number | string) => {
    const text = typeof time === "string" ? time : new Date(time).toISOString();
    return (await walk(server.app, key, `/api/v1/changes?after=${text}`)).rows.map(({ fp }) => fp);
  };
  return { ...server, key, clinicId, since, left };
}

describe("updated_since", () => {
  const one = patient();

  /** Files a study whose stamp is of noon, and which others see ten seconds later. */
  async function commitLate({ store, clock, clinicId }: Pick<TestServer, "store" | "clock"> & { clinicId: number }) {
    const pushed = study({ patient_fp: one.fp });
    await store.transaction(async (session) => {
      await fileStudies(session, clinicId, [pushed], clock.now);
      clock.now += 10_000;
    });
    return pushed.fp;
  }

  test("a change whose commit took ten seconds is news at all times up to its end, and not later", async () => {
    const server = await synchronised(one, connection(one.fp, own));
    const start = (server.clock.now += MINUTE_MS);
    const fp = await commitLate(server);
    const times = [0, 5000, 10_000, 10_001].map((ms) => start + ms);
    const found = await Promise.all(times.map(async (time) => server.since("/api/v1/lab/diagnostics", time)));
    expect(found).toEqual([[fp], [fp], [fp], []]);
    const { items } = await ask(server.app, server.key, "/api/v1/lab/diagnostics");
    expect(items.map(({ updated_at }) => updated_at)).toEqual([new Date(start).toISOString()]);
  });

  test("a large import gives all of its patients one stamp", async () => {
    // More than the patients whose clinics are looked up, and on SQLite more than the rows of one statement.
    const all = Array.from({ length: onPostgres() ? 1100 : 5100 }, () => patient());
    const connected = all.map(({ fp }) => connection(fp, own));
    const server = await synchronised(all, connected);
    const time = (server.clock.now += MINUTE_MS);
    const renamed = all.map((each) => JSON.stringify({ ...each, name: "Renamed" }));
    await importText(server.store, renamed.join("\n"), time);
    const { rows } = await walk(
      server.app,
      server.key,
      `/api/v1/patients?page_size=100&updated_since=${new Date(time).toISOString()}`,
    );
    expect(rows).toHaveLength(all.length);
    expect(new Set(rows.map(({ updated_at }) => updated_at))).toEqual(new Set([new Date(time).toISOString()]));
  });

  test("a clock that is set back hides no patient and no study", async () => {
    const server = await synchronised(one, connection(one.fp, own));
    const { cursor } = await ask(server.app, server.key, "/api/v1/patients");
    const { updated_at: newest } = (await ask(server.app, server.key, "/api/v1/patients")).items[0] ?? {
      updated_at: "",
    };
    server.clock.now -= 60 * MINUTE_MS;
    await importText(server.store, JSON.stringify({ ...one, name: "Renamed" }), server.clock.now);
    const fp = await commitLate(server);
    expect(await server.since("/api/v1/patients", cursor)).toEqual([one.fp]);
    expect(await server.since("/api/v1/patients", newest)).toEqual([one.fp]);
    expect(await server.since("/api/v1/lab/diagnostics", cursor)).toEqual([fp]);
  });

  test("a commit whose server ended before it noted the time is news once more, and then noted", async () => {
    const server = await synchronised(one, connection(one.fp, own));
    const fp = await commitLate(server);
    const beside = await connectTo(server.database);
    await beside.run(
      "update clinic_commit set visible_at = 8640000000000000 where version = (select max(version) from clinic_commit)",
    );
    await beside.close();
    // A new request, since a response is kept until the clinic's data change.
    const since = async (ms: number) => server.since("/api/v1/lab/diagnostics", server.clock.now + ms);
    expect(await since(MINUTE_MS)).toEqual([fp]);
    server.clock.now += MINUTE_MS;
    await expect.poll(async () => since(MINUTE_MS + Math.random() * 1000)).toEqual([]);
  });

  test("old commits are joined into one, which still names what they made visible", async () => {
    const server = await synchronised(one, connection(one.fp, own));
    const late: { fp: string; during: number }[] = [];
    for (let count = 0; count < 3; count++) {
      server.clock.now += MINUTE_MS;
      late.push({ fp: await commitLate(server), during: server.clock.now - 5000 });
    }
    const [first, second, third] = late;
    const { clinicId } = server;
    await server.store.transaction((session) => joinOldCommits(session, clinicId, third!.during));
    const counted = query((db, p: { clinicId: number; before: number }) =>
      db
        .selectFrom("clinic_commit")
        .select((select) => select.fn.countAll<number>().as("rows"))
        .where("clinic_id", "=", p.clinicId)
        .where("visible_at", "<", p.before),
    );
    expect(await server.store.first(counted, { clinicId, before: third!.during })).toEqual({ rows: 1 });
    const since = async (time: number) => server.since("/api/v1/lab/diagnostics", time);
    for (const { fp, during } of [first!, second!, third!]) expect(await since(during)).toContain(fp);
    expect(await since(third!.during)).toEqual([third!.fp]);
  });

  test("a client whose first request comes during a first import gets all of it next time", async () => {
    const server = await startServer(clinic(own));
    const key = await server.makeKey(own, keyPermissions);
    const early = patient({ updated_at: "2026-01-05T00:00:00.000Z" });
    let asked = "";
    // As another process. The import has read which clinics have clients, and then one sends a request. On SQLite its first use
    // cannot be stored.
    const importer = await openStore(server.database, 5000, () => server.clock.now);
    onTestFinished(async () => importer.close());
    const racing: Store = {
      ...importer,
      transaction: async (work) =>
        importer.transaction(async (session) => {
          const result = await work(session);
          if (asked === "") {
            asked = new Date(server.clock.now).toISOString();
            await ask(server.app, key, "/api/v1/patients");
          }
          return result;
        }),
    };
    await importEntities(racing, early, connection(early.fp, own));
    server.clock.now += 1000;
    expect((await ask(server.app, key, `/api/v1/patients?updated_since=${asked}`)).items.map(({ fp }) => fp)).toEqual([
      early.fp,
    ]);
  });
});

describe("a walk by Link", () => {
  test.each(["/api/v1/patients", "/api/v1/lab/diagnostics"])(
    "%s has each record that stays once while others leave, and changed ones again at the end",
    async (list) => {
      const animals = Array.from({ length: 30 }, () => patient());
      const server = await synchronised(
        animals,
        animals.map(({ fp }) => connection(fp, own)),
      );
      const { key, store, clock, app } = server;
      const studies = animals.map(({ fp }) => study({ patient_fp: fp, results: [] }));
      for (const each of studies) await server.push(key, each);
      const all = list === "/api/v1/patients" ? animals : studies;
      const leaving = animals.filter((_, index) => index % 5 === 0);
      const changed = all.filter((_, index) => index % 7 === 1);
      let round = 0;
      const { rows } = await walk(app, key, `${list}?page_size=4`, async () => {
        round += 1;
        clock.now += 1000;
        const one = leaving.pop();
        if (one) await importText(store, JSON.stringify(connection(one.fp, own, false)), clock.now);
        const again = changed[round - 1];
        if (again === undefined) return;
        if ("species" in again) await importText(store, JSON.stringify({ ...again, name: "Renamed" }), clock.now);
        else await server.push(key, { ...again, revision: 2, device_name: "Renamed" });
      });
      const stayed = all.filter((_, index) => index % 5 !== 0);
      const times = (fp: string) => rows.filter((row) => row.fp === fp).length;
      const unchanged = stayed.filter((each) => !changed.includes(each));
      expect(unchanged.map(({ fp }) => times(fp))).toEqual(unchanged.map(() => 1));
      for (const { fp } of stayed.filter((each) => changed.includes(each)))
        expect(JSON.stringify(rows.filter((row) => row.fp === fp).at(-1))).toContain("Renamed");
    },
  );

  test("the inventory has each item once, whatever moves to another page meanwhile", async () => {
    const items = Array.from({ length: 25 }, (_, index) =>
      item(own, { name: `Item ${String(index).padStart(2, "0")}` }),
    );
    const server = await synchronised(items);
    const key = await server.makeKey(own, ["clinic.inventory.view"]);
    let added = 0;
    const { rows } = await walk(server.app, key, "/api/v1/inventory?page_size=4", async () => {
      // Before the position, so that page numbers would repeat an item.
      await importEntities(server.store, item(own, { name: `A new item ${(added += 1)}` }));
    });
    expect(rows.map(({ fp }) => fp)).toEqual(items.map(({ fp }) => fp));
  });

  test("a page that leaves out damaged studies names the next one", async () => {
    const one = patient();
    const server = await synchronised(one, connection(one.fp, own));
    const studies = Array.from({ length: 6 }, () => study({ patient_fp: one.fp, results: [] }));
    for (const each of studies) await server.push(server.key, each);
    const beside = await connectTo(server.database);
    const damaged = studies.slice(2, 4).map(({ fp }) => `'${fp}'`);
    await beside.run(`update study set device_name = 'x' where fp in (${damaged.join()})`);
    await beside.close();
    const { rows } = await walk(server.app, server.key, "/api/v1/lab/diagnostics?page_size=2");
    expect(rows.map(({ fp }) => fp)).toEqual([5, 4, 1, 0].map((index) => studies[index]?.fp));
  });

  test("an invalid after, and page together with after, are refused", async () => {
    const animals = [patient(), patient()];
    const server = await synchronised(
      animals,
      animals.map(({ fp }) => connection(fp, own)),
    );
    const { next } = await ask(server.app, server.key, "/api/v1/patients?page_size=1");
    const after = new URL(next ?? "", "http://localhost").searchParams.get("after") ?? "";
    const forged = Buffer.from('["patients",1.5,"x",1,0]').toString("base64url");
    const refused = [
      ...["x", "", forged, `${after}&after=${after}`, `${after}&page=2`].map(
        (each) => `/api/v1/patients?after=${each}`,
      ),
      `/api/v1/lab/diagnostics?after=${after}`,
      `/api/v1/changes?after=${after}`,
      "/api/v1/changes?after=yesterday",
    ];
    const codes = await Promise.all(refused.map(async (url) => (await server.get(server.key, url)).body.error.code));
    expect(codes).toEqual(refused.map(() => "REQUEST.INVALID_PARAMETER"));
    expect((await server.get(server.key, `/api/v1/patients?page_size=1&after=${after}`)).body.data).toMatchObject({
      page: 2,
      total: 2,
      has_more: false,
    });
  });
});

describe("GET /api/v1/changes", () => {
  test("what was deleted, disconnected or taken back is named with its time, until it returns", async () => {
    const [deleted, closed, stays] = [patient(), patient(), patient()];
    const known = [deleted, closed, stays];
    const server = await synchronised(
      known,
      known.map(({ fp }) => connection(fp, own)),
    );
    const { key, store, clock } = server;
    const [ofClosed, taken] = [study({ patient_fp: closed.fp }), study({ patient_fp: stays.fp })];
    await server.push(key, ofClosed, { ...taken, patient_fp: null });
    const { cursor } = await ask(server.app, key, "/api/v1/changes");
    expect(await server.left(cursor)).toEqual([]);

    clock.now += MINUTE_MS;
    const left = clock.now;
    await importText(
      store,
      [connection(closed.fp, own, false), { ...deleted, deleted_at: deleted.updated_at }]
        .map((line) => JSON.stringify(line))
        .join("\n"),
      left,
    );
    clock.now += MINUTE_MS;
    const placed = { fp: taken.fp, by: "test", now: clock.now };
    await store.transaction(async (session) => assignStudy(session, { ...placed, patientFp: stays.fp }));
    await store.transaction(async (session) => reopenStudy(session, placed));
    const at = (time: number) => new Date(time).toISOString();
    const gone = [closed.fp, deleted.fp, ofClosed.fp].toSorted().map((fp) => ({ fp, removed_at: at(left) }));
    const { body } = await server.get(key, `/api/v1/changes?after=${cursor}`);
    expect(body.data.items.toSorted((a, b) => (a.fp < b.fp ? -1 : 1))).toEqual(
      [...gone, { fp: taken.fp, removed_at: at(clock.now) }].toSorted((a, b) => (a.fp < b.fp ? -1 : 1)),
    );
    expect((await walk(server.app, key, "/api/v1/changes?page_size=1")).rows).toHaveLength(4);

    await store.transaction(async (session) => assignStudy(session, { ...placed, patientFp: stays.fp }));
    await importText(store, JSON.stringify(connection(closed.fp, own)), clock.now);
    expect(await server.left(cursor)).toEqual([deleted.fp]);
    expect(await server.since("/api/v1/lab/diagnostics", cursor)).toEqual(
      expect.arrayContaining([ofClosed.fp, taken.fp]),
    );
  });

  test("a study that moves to a patient of another clinic left the first one alone", async () => {
    const [ours, theirs, both] = [patient(), patient(), patient()];
    const server = await synchronised(
      [ours, theirs, both],
      [connection(ours.fp, own), connection(theirs.fp, other), connection(both.fp, own), connection(both.fp, other)],
    );
    const foreign = await server.makeKey(other, keyPermissions);
    const moved = study({ patient_fp: ours.fp });
    await server.push(server.key, moved);
    const leftOf = async (key: string) => (await walk(server.app, key, "/api/v1/changes")).rows.map(({ fp }) => fp);
    const actor = {
      fp: moved.fp,
      clinicId: server.clinicId,
      by: "test",
      now: server.clock.now,
      reason: "wrong animal",
    };
    const move = async (patientFp: string) =>
      server.store.transaction(async (session) => moveStudy(session, { ...actor, patientFp }));
    await move(both.fp);
    expect([await leftOf(server.key), await leftOf(foreign)]).toEqual([[], []]);
    await move(ours.fp);
    expect([await leftOf(server.key), await leftOf(foreign)]).toEqual([[], [moved.fp]]);
  });

  test("a patient that a clinic never listed is not named to it", async () => {
    const [closed, foreign] = [patient(), patient()];
    const server = await synchronised(
      [closed, foreign],
      [connection(closed.fp, own, false), connection(foreign.fp, other)],
    );
    await importEntities(
      server.store,
      { ...closed, deleted_at: closed.updated_at },
      connection(foreign.fp, other, false),
    );
    expect(await server.left(0)).toEqual([]);
  });

  test("a key that reads studies alone gets the studies alone, whoever sent the same request before", async () => {
    const one = patient();
    const server = await synchronised(one, connection(one.fp, own));
    const pushed = study({ patient_fp: one.fp });
    await server.push(server.key, pushed);
    await importEntities(server.store, connection(one.fp, own, false));
    const lab = await server.makeKey(own, ["clinic.lab.view"]);
    for (const key of [server.key, lab, server.key]) {
      const { rows } = await walk(server.app, key, "/api/v1/changes");
      const all = key === lab ? [pushed.fp] : [one.fp, pushed.fp];
      expect(rows.map(({ fp }) => fp).toSorted()).toEqual(all.toSorted());
    }
    for (const permission of ["clinic.soap.view", "clinic.calendar.view", "clinic.inventory.view"] as const) {
      const reader = await server.makeKey(own, [permission]);
      expect((await walk(server.app, reader, "/api/v1/changes")).rows).toEqual([]);
    }
    const agent = await server.makeKey(own, ["clinic.lab.ingest"]);
    expect((await server.get(agent, "/api/v1/changes")).status).toBe(403);
  });
});

test("the clock of a server that is set back goes on with the running time", () => {
  let [wall, running] = [noon, 0];
  const clock = runningClock(
    () => wall,
    () => running,
  );
  [wall, running] = [noon + 1000, 1000];
  expect(clock()).toBe(noon + 1000);
  [wall, running] = [noon - 3_600_000, 3000];
  expect(clock()).toBe(noon + 3000);
  [wall, running] = [noon + 9000, 4000];
  expect(clock()).toBe(noon + 9000);
});
