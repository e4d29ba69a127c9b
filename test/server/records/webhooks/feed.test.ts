import { describe, expect, onTestFinished, test } from "vitest";
import type { ClinicEvent } from "../../../../shared/api/clinic-event.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { query } from "../../../../server/database/query.ts";
import { openStore } from "../../../../server/database/open.ts";
import type { Permission } from "../../../../server/http/auth/api-keys.ts";
import { addEvent, changeEvent, deleteEvent, moveEvent } from "../../../../server/records/calendar/calendar.ts";
import { addItem, consumeStock, receiveStock, removeItem } from "../../../../server/records/inventory/stock.ts";
import { cancelOrder, findOrder, noteOffered, placeOrder } from "../../../../server/records/orders/orders.ts";
import { askConnection, closeConnection } from "../../../../server/records/patients/patient-connections.ts";
import { mergeAnimals } from "../../../../server/records/registry/merge.ts";
import { amendSoap, editSoap, moveSoap, writeSoap } from "../../../../server/records/soap/soap.ts";
import { pruneFeeds } from "../../../../server/records/webhooks/feed-pruning.ts";
import { lastBefore, pageOfFeed } from "../../../../server/records/webhooks/feed.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  needNoConfirmation,
  noon,
  onPostgres,
  patient,
  startServer,
  study,
} from "../../harness.ts";
import { planOf } from "../../query-plan.ts";
import { event, item, soap } from "../../records.ts";
import { moveStudy, reopenStudy } from "../../study-commands.ts";
import { addUser, addWebhook } from "../../webhooks.ts";

const own = newFp("clinic");
const other = newFp("clinic");
const [OWN, OTHER] = [1, 2];
const shared = patient({ name: "Shared" });
const single = patient({ name: "Single" });

const views: Permission[] = [
  "clinic.patient.view",
  "clinic.lab.view",
  "clinic.soap.view",
  "clinic.calendar.view",
  "clinic.inventory.view",
];

async function world() {
  const server = await startServer(
    [clinic(own), clinic(other), shared, single],
    [connection(shared.fp, own), connection(shared.fp, other), connection(single.fp, own)],
  );
  const key = await server.makeKey(own, [...views, "clinic.lab.ingest"]);
  const foreignKey = await server.makeKey(other, views);
  async function read(given: string, search = "") {
    const response = await server.app.inject({ url: `/api/v1/events${search}`, headers: { "x-api-key": given } });
    const next = /<([^>]+)>; rel="next"/.exec(String(response.headers["link"] ?? ""))?.[1] ?? null;
    const body = response.json<{ data: { items: ClinicEvent[]; has_more: boolean }; error: { code: string } }>();
    return { status: response.statusCode, cursor: String(response.headers["sync-cursor"]), next, ...body };
  }
  const cursors = new Map<string, string>();
  /** Returns what a clinic got since the last call, or since the start, as short texts. */
  async function news(given = key) {
    const { data, cursor } = await read(given, `?after=${cursors.get(given) ?? ""}`);
    cursors.set(given, cursor);
    return data.items.map(({ kind, change, fp }) => `${kind} ${change} ${fp}`);
  }
  for (const given of [key, foreignKey]) cursors.set(given, (await read(given, "?after=latest")).cursor);
  return { ...server, key, foreignKey, read, news, userId: await addUser(server.store) };
}

describe("what happens to a record is an event of the clinics that read it", () => {
  test("a study: filed, revised, moved and taken back", async () => {
    const { push, store, key, foreignKey, read, news } = await world();
    const { cursor } = await read(foreignKey, "?after=latest");
    const first = study({ patient_fp: shared.fp });
    await push(key, first);
    expect(await news()).toEqual([`study created ${first.fp}`]);
    await push(key, { ...first, revision: 2, results: [] });
    expect(await news()).toEqual([`study changed ${first.fp}`]);
    const { data } = await read(foreignKey, `?after=${cursor}`);
    expect(data.items).toEqual([
      { kind: "study", change: "created", fp: first.fp, at: new Date(noon).toISOString(), revision: 1 },
      { kind: "study", change: "changed", fp: first.fp, at: new Date(noon).toISOString(), revision: 2 },
    ]);
    await news(foreignKey);
    const actor = { fp: first.fp, by: "test", now: noon };
    await store.transaction((session) => moveStudy(session, { ...actor, patientFp: single.fp, reason: "other" }));
    expect([await news(), await news(foreignKey)]).toEqual([
      [`study changed ${first.fp}`],
      [`study removed ${first.fp}`],
    ]);
    await store.transaction((session) => reopenStudy(session, actor));
    expect([await news(), await news(foreignKey)]).toEqual([[`study removed ${first.fp}`], []]);
  });

  test("a patient: new, changed, removed, restored and merged", async () => {
    const { store, read, news, key, foreignKey, clock } = await world();
    const fresh = patient();
    await importEntities(store, fresh, connection(fresh.fp, own));
    expect([await news(), await news(foreignKey)]).toEqual([[`patient created ${fresh.fp}`], []]);
    const later = "2026-11-21T09:00:00.000Z";
    await importEntities(store, { ...fresh, name: "Renamed", updated_at: later });
    expect(await news()).toEqual([`patient changed ${fresh.fp}`]);
    await importEntities(store, { ...fresh, updated_at: later, deleted_at: later });
    expect(await news()).toEqual([`patient removed ${fresh.fp}`]);
    await importEntities(store, { ...fresh, updated_at: later, deleted_at: null });
    expect(await news()).toEqual([`patient created ${fresh.fp}`]);
    const { cursor } = await read(key, "?after=latest");
    await store.transaction((session) => {
      const context = { now: clock.now, clock: () => clock.now, served: null, batch: null };
      return mergeAnimals(session, { clinicId: OWN, survivor: single.fp, merged: fresh.fp }, context);
    });
    expect((await read(key, `?after=${cursor}`)).data.items).toContainEqual({
      ...{ kind: "patient", change: "merged", fp: fresh.fp },
      ...{ at: new Date(noon).toISOString(), merged_into: single.fp },
    });
  });

  test("a patient that a clinic gets or loses comes and goes with its studies and SOAP records", async () => {
    const { store, push, news, key, foreignKey, userId } = await world();
    const early = study({ patient_fp: single.fp });
    const record = soap(single.fp, own);
    await push(key, early);
    await importEntities(store, record);
    await news();
    await needNoConfirmation(store);
    const actor = { clinicId: OTHER, userId, by: "test", now: noon };
    await store.transaction((session) => askConnection(session, single.fp, actor));
    const all = (change: string) =>
      [`patient ${change} ${single.fp}`, `soap ${change} ${record.fp}`, `study ${change} ${early.fp}`].toSorted();
    expect((await news(foreignKey)).toSorted()).toEqual(all("created"));
    await store.transaction((session) => closeConnection(session, single.fp, actor));
    expect((await news(foreignKey)).toSorted()).toEqual(all("removed"));
    // The patient is another one since the connection was made, its records are not.
    expect(await news()).toEqual([`patient changed ${single.fp}`, `patient changed ${single.fp}`]);
  });

  test("studies that an import moves to animals that it connects have all left the clinic of the animal before", async () => {
    const { store, push, key, foreignKey, news, read } = await world();
    const animals = Array.from({ length: 28 }, () => patient());
    const studies = animals.map(() => study({ patient_fp: single.fp }));
    await push(key, ...studies);
    await importEntities(store, ...animals);
    const { cursor } = await read(foreignKey, "?after=latest");
    await news();
    const moved = studies.map(({ revision: _1, dedupe_key: _2, source: _3, patient_hint: _4, ...sent }, index) => ({
      ...{ type: "study" as const, ...sent, patient_fp: animals[index]?.fp ?? "" },
    }));
    // The import stores up to 64 lines at a time: here a study follows the connection of its animal 1 to 7 lines later.
    const lines = [1, 2, 3, 4, 5, 6, 7].flatMap((distance) => {
      const start = (distance * (distance - 1)) / 2;
      const some = animals.slice(start, start + distance);
      return [...some.map(({ fp }) => connection(fp, other)), ...moved.slice(start, start + distance)];
    });
    await importEntities(store, ...lines);
    const fps = studies.map(({ fp }) => fp).toSorted();
    expect((await news()).toSorted()).toEqual(fps.map((fp) => `study removed ${fp}`));
    const { data } = await read(foreignKey, `?after=${cursor}&page_size=500`);
    const changes = data.items.map(({ kind, change }) => `${kind} ${change}`);
    expect(changes.toSorted()).toEqual([...fps.map(() => "patient created"), ...fps.map(() => "study created")]);
  });

  test("a SOAP record: written, edited, signed, and amended by a signed one", async () => {
    const { store, read, news, key, foreignKey } = await world();
    const content = {
      soap_type: "EXAMINATION",
      subjective: "a",
      objective: null,
      assessment: null,
      plan: null,
    } as const;
    const now = noon;
    const patientId = (await store.first(idOfPatient, { fp: shared.fp }))?.id ?? 0;
    const fp = await store.transaction((session) => writeSoap(session, { clinicId: OWN, patientId, content, now }));
    expect([await news(), await news(foreignKey)]).toEqual([[`soap created ${fp}`], [`soap created ${fp}`]]);
    await store.transaction((session) =>
      editSoap(session, { clinicId: OWN, fp, changes: { plan: "Rest" }, now: noon }),
    );
    const move = async (one: string, to: "IN_PROGRESS" | "SIGNED" | "LOCKED") =>
      store.transaction((session) => moveSoap(session, { clinicId: OWN, fp: one, to, now }));
    await move(fp, "IN_PROGRESS");
    expect(await news()).toEqual([`soap changed ${fp}`, `soap changed ${fp}`]);
    await move(fp, "SIGNED");
    expect(await news()).toEqual([`soap signed ${fp}`]);
    const amended = await store.transaction((session) => amendSoap(session, { clinicId: OWN, fp, now }));
    const by = "fp" in amended ? amended.fp : "";
    await move(by, "IN_PROGRESS");
    expect(await news()).toEqual([`soap created ${by}`, `soap changed ${by}`]);
    const { cursor } = await read(key, "?after=latest");
    await move(by, "SIGNED");
    await move(fp, "LOCKED");
    const at = new Date(noon).toISOString();
    expect((await read(key, `?after=${cursor}`)).data.items).toEqual([
      { kind: "soap", change: "signed", fp: by, at },
      { kind: "soap", change: "amended", fp, at, amended_by: by },
      { kind: "soap", change: "changed", fp, at },
    ]);
  });

  test("an appointment: added, moved on, changed and removed, for its own clinic alone", async () => {
    const { store, news, foreignKey } = await world();
    const fp = await store.transaction((session) => addEvent(session, checkUp, noon));
    expect(await news()).toEqual([`calendar_event created ${fp}`]);
    await store.transaction((session) => moveEvent(session, { clinicId: OWN, fp, to: "CHECKED_IN", now: noon }));
    await store.transaction((session) => changeEvent(session, fp, { title: "Dental" }, noon));
    expect(await news()).toEqual([`calendar_event changed ${fp}`, `calendar_event changed ${fp}`]);
    await store.transaction((session) => deleteEvent(session, { fp, clinic_id: OWN }, noon));
    expect(await news()).toEqual([`calendar_event removed ${fp}`]);
    expect(await news(foreignKey)).toEqual([]);
  });

  test("an item: added, received, low once, changed and removed", async () => {
    const { store, news, userId } = await world();
    const facts = { name: "Gloves", category: "CONSUMABLE", sku: null, unit: "box", low_stock_threshold: 10 };
    const fp =
      (await store.transaction((session) => addItem(session, OWN, { ...facts, is_virtual: false }, noon))) ?? "";
    const delivery = { lot: null, quantity: 12, received_at: noon, expiry_date: null };
    await store.transaction((session) => receiveStock(session, { clinicId: OWN, fp, userId, ...delivery }));
    expect(await news()).toEqual([`inventory_item created ${fp}`, `inventory_item changed ${fp}`]);
    const take = async (quantity: number) =>
      store.transaction((session) => {
        const taking = { clinicId: OWN, fp, quantity, today: "2026-11-21", batch: null };
        return consumeStock(session, taking, { reason: "used", user_id: userId, at: noon });
      });
    for (const quantity of [2, 1, 1]) await take(quantity);
    expect(await news()).toEqual([
      `inventory_item changed ${fp}`,
      `inventory_item low ${fp}`,
      `inventory_item changed ${fp}`,
    ]);
    await store.transaction((session) => removeItem(session, fp, noon));
    expect(await news()).toEqual([`inventory_item removed ${fp}`]);
    const imported = item(own, { quantity_on_hand: 12, low_stock_threshold: 10 });
    await importEntities(store, imported);
    await importEntities(store, { ...imported, low_stock_threshold: 20 });
    expect(await news()).toEqual([`inventory_item created ${imported.fp}`, `inventory_item low ${imported.fp}`]);
  });

  test("an order: placed, offered once, and cancelled", async () => {
    const { store, news, userId } = await world();
    const patientId = (await store.first(idOfPatient, { fp: single.fp }))?.id ?? 0;
    const order = { clinicId: OWN, patientId, device: null, panel: null, tests: ["ALT"], placer: null };
    const { fp } = await store.transaction((session) =>
      placeOrder(session, { ...order, orderedAt: noon, by: { userId } }, noon),
    );
    expect(await news()).toEqual([`order created ${fp}`]);
    const offered = [{ fp, at: new Date(noon).toISOString() }];
    for (let time = 0; time < 2; time++) await store.transaction((session) => noteOffered(session, OWN, offered, noon));
    expect(await news()).toEqual([`order changed ${fp}`]);
    await store.transaction(async (session) => {
      const stored = await findOrder(session, OWN, fp);
      return stored && cancelOrder(session, stored, { userId }, noon);
    });
    expect(await news()).toEqual([`order removed ${fp}`]);
  });
});

const idOfPatient = query((db, p: { fp: string }) => db.selectFrom("patient").select("id").where("fp", "=", p.fp));

const checkUp = {
  ...{ clinic_id: OWN, title: "Check-up", type: "CHECKUP" as const },
  ...{ start_at: noon, end_at: noon + 1_800_000, patient_id: null, assigned_user_id: null },
};

test("the writes of one transaction to a record are one event, and those of a failed one are none", async () => {
  const { store, news } = await world();
  const fp = await store.transaction(async (session) => {
    const added = await addEvent(session, checkUp, noon);
    await moveEvent(session, { clinicId: OWN, fp: added, to: "CHECKED_IN", now: noon });
    return added;
  });
  expect(await news()).toEqual([`calendar_event created ${fp}`]);
  const failing = store.transaction(async (session) => {
    await changeEvent(session, fp, { title: "Dental" }, noon);
    throw new Error("the disk is full");
  });
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await news()).toEqual([]);
});

test("webhooks are sent of the same events, if they have a type for them", async () => {
  const { store, userId } = await world();
  await addWebhook(store, own);
  const signed = soap(single.fp, own, { status: "SIGNED", signed_at: "2026-11-20T09:00:00.000Z" });
  const amendment = soap(single.fp, own, { status: "SIGNED", signed_at: "2026-11-21T09:00:00.000Z" });
  const stock = item(own);
  const draft = soap(single.fp, own);
  await importEntities(store, signed, { ...amendment, amends_fp: signed.fp }, stock, draft, event(own));
  await importEntities(store, { ...stock, quantity_on_hand: 2 });
  const patientId = (await store.first(idOfPatient, { fp: single.fp }))?.id ?? 0;
  const order = { clinicId: OWN, patientId, device: null, panel: null, tests: ["ALT"], placer: null };
  const { fp } = await store.transaction((session) =>
    placeOrder(session, { ...order, orderedAt: noon, by: { userId } }, noon),
  );
  await store.transaction((session) => noteOffered(session, OWN, [{ fp, at: new Date(noon).toISOString() }], noon));
  expect((await store.all(typesSent, {})).map(({ type }) => type)).toEqual([
    ...["appointment.changed", "order.changed", "order.placed"],
    ...["soap.amended", "soap.signed", "stock.low"],
  ]);
});

const typesSent = query((db) => db.selectFrom("webhook_delivery").select("type").orderBy("type"));

test("a key gets the kinds that its permissions open, and its clinic's alone", async () => {
  const { store, push, key, foreignKey, makeKey, read, news, userId } = await world();
  const patientId = (await store.first(idOfPatient, { fp: single.fp }))?.id ?? 0;
  await push(key, study({ patient_fp: single.fp }));
  await importEntities(store, soap(single.fp, own), event(own), item(own));
  const order = { clinicId: OWN, patientId, device: null, panel: null, tests: ["ALT"], placer: null };
  await store.transaction((session) => placeOrder(session, { ...order, orderedAt: noon, by: { userId } }, noon));
  expect(await news(foreignKey)).toEqual([]);
  const kindsOf = async (permission: Permission) => {
    const { data } = await read(await makeKey(own, [permission]));
    return [...new Set(data.items.map(({ kind }) => kind))].toSorted();
  };
  expect(await Promise.all(views.map(kindsOf))).toEqual([
    ["order", "patient", "soap", "study"],
    ["order", "study"],
    ["soap"],
    ["calendar_event"],
    ["inventory_item"],
  ]);
});

describe("the pages of the feed", () => {
  test("lead by their Link headers through all events, each once, and then by the cursor to the next one", async () => {
    const { store, key, read } = await world();
    const events = Array.from({ length: 7 }, () => event(own));
    const { cursor } = await read(key, "?after=latest");
    await importEntities(store, ...events);
    const got: string[] = [];
    let last = cursor;
    for (let next: string | null = `?page_size=3&after=${cursor}`; next !== null; ) {
      const page = await read(key, next.replace(/^[^?]*/, ""));
      got.push(...page.data.items.map(({ fp }) => fp));
      expect(page.data.has_more).toBe(page.next !== null);
      ({ next, cursor: last } = page);
    }
    expect(got).toEqual(events.map(({ fp }) => fp));
    expect((await read(key, `?after=${last}`)).data).toEqual({ items: [], page_size: 100, has_more: false });
  });

  test("have at most 500 events, and a text that is not a cursor is refused", async () => {
    const { key, read } = await world();
    expect((await read(key, "?page_size=500")).status).toBe(200);
    const walk = Buffer.from(JSON.stringify(["items", "a", "b", 1, null])).toString("base64url");
    for (const search of ["?page_size=501", "?after=x", `?after=${walk}`, "?after=2026-11-21"])
      expect([search, (await read(key, search)).status]).toEqual([search, 400]);
  });

  test("skip nothing that two servers write at the same time", async () => {
    const { database, key, read } = await world();
    // On SQLite one server has the file.
    const stores = await Promise.all((onPostgres() ? [1, 2] : [1]).map(async () => openStore(database, 30_000)));
    onTestFinished(async () => void (await Promise.all(stores.map(async (store) => store.close()))));
    const { cursor: start } = await read(key, "?after=latest");
    const got: string[] = [];
    let cursor = start;
    const poll = async () => {
      const page = await read(key, `?page_size=3&after=${cursor}`);
      got.push(...page.data.items.map(({ fp }) => fp));
      ({ cursor } = page);
      return page.next;
    };
    let isDone = false;
    const polling = (async () => {
      while (!isDone) await poll();
      while ((await poll()) !== null);
    })();
    const written = await Promise.all(
      Array.from({ length: 24 }, async (_, number) =>
        stores[number % stores.length]!.transaction(async (session) => {
          const first = await addEvent(session, checkUp, noon);
          return [first, await addEvent(session, checkUp, noon)];
        }),
      ),
    );
    isDone = true;
    await polling;
    expect(got.toSorted()).toEqual(written.flat().toSorted());
  });

  test("have one version for all events of a transaction, however many", async () => {
    const { database, store, key, read } = await world();
    const hand = await connectTo(database);
    await hand.run(
      `insert into clinic_event (clinic_id, version, kind, fp, change, at)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 11000)
       select ${OWN}, 8640000000000000, 'patient', 'patient_' || n, 'created', 0 from numbers`,
    );
    await hand.close();
    expect((await read(key, "?after=latest")).data.items).toEqual([]);
    await store.transaction((session) => addEvent(session, checkUp, noon));
    expect(await store.all(versionsOfMany, {})).toEqual([{ events: 11_001, at: noon }]);
  });
});

const versionsOfMany = query((db) =>
  db
    .selectFrom("clinic_event")
    .select(({ fn }) => [fn.countAll<number>().as("events"), fn.min<number>("at").as("at")])
    .where("clinic_id", "=", OWN)
    .where("at", "=", noon)
    .groupBy("version")
    .having(({ fn }) => fn.countAll(), ">", 100),
);

describe("old events", () => {
  const DAY_MS = 86_400_000;
  const prune = (now: number) => ({ before: now - 30 * DAY_MS, now });

  async function aged() {
    const made = await world();
    const { store, clock, key, read } = made;
    const start = (await read(key, "?after=latest")).cursor;
    const fps: string[] = [];
    for (const day of [0, 10, 20]) {
      clock.now = noon + day * DAY_MS;
      fps.push(await store.transaction((session) => addEvent(session, checkUp, noon)));
    }
    const { data } = await read(key, `?page_size=1&after=${start}`);
    expect(data.items.map(({ fp }) => fp)).toEqual([fps[0]]);
    const first = (await read(key, `?page_size=1&after=${start}`)).cursor;
    const second = (await read(key, `?page_size=1&after=${first}`)).cursor;
    return { ...made, fps, start, first, second };
  }

  test("are removed after 30 days, and a position before them is refused, never read as if nothing were missing", async () => {
    const { store, clock, key, read, fps, start, first, second } = await aged();
    clock.now = noon + 41 * DAY_MS;
    await pruneFeeds(store, prune(clock.now));
    for (const gone of [start, first]) {
      const { status, error } = await read(key, `?after=${gone}`);
      expect([status, error.code]).toEqual([410, "EVENTS.EXPIRED"]);
    }
    // The second event is removed too, and nothing is missing after it.
    const rest = await read(key, `?after=${second}`);
    expect(rest.data.items.map(({ fp }) => fp)).toEqual([fps[2]]);
    expect((await read(key)).data.items).toEqual(rest.data.items);
    expect(await store.all(kept, {})).toEqual([{ fp: fps[2] }]);
    clock.now = noon + 90 * DAY_MS;
    await pruneFeeds(store, prune(clock.now));
    expect(await store.all(kept, {})).toEqual([]);
    // A clinic in which nothing happens needs no new copy.
    expect(await read(key, `?after=${rest.cursor}`)).toMatchObject({ status: 200, data: { items: [] } });
    expect(await read(key, `?after=${(await read(key)).cursor}`)).toMatchObject({ status: 200, data: { items: [] } });
  });

  test("move the position of a key that does not see them", async () => {
    const { store, clock, makeKey, read } = await aged();
    const key = await makeKey(own, ["clinic.inventory.view"]);
    const { cursor } = await read(key, "");
    clock.now = noon + 90 * DAY_MS;
    await pruneFeeds(store, prune(clock.now));
    expect((await read(key, `?after=${cursor}`)).status).toBe(200);
  });

  test("move the position of a key that does not see them and polls with the ETag of its empty page", async () => {
    const { store, clock, makeKey, app } = await aged();
    const key = await makeKey(own, ["clinic.inventory.view"]);
    const poll = async (after: unknown, etag: unknown) => {
      const headers = { "x-api-key": key, "if-none-match": String(etag) };
      return app.inject({ url: `/api/v1/events?after=${String(after)}`, headers });
    };
    const { headers: first } = await poll("latest", "");
    await store.transaction((session) => addEvent(session, checkUp, noon));
    // The second answer comes from the cache.
    for (let time = 0; time < 2; time += 1) {
      const { statusCode, headers } = await poll(first["sync-cursor"], first["etag"]);
      expect(statusCode).toBe(304);
      expect(headers["sync-cursor"]).not.toBe(first["sync-cursor"]);
    }
    const { headers: moved } = await poll(first["sync-cursor"], first["etag"]);
    clock.now = noon + 90 * DAY_MS;
    await pruneFeeds(store, prune(clock.now));
    expect((await poll(moved["sync-cursor"], first["etag"])).statusCode).toBe(304);
  });

  test("end a page that the server kept of them", async () => {
    const { store, key, read } = await aged();
    const page = await read(key, "?page_size=1");
    // The server keeps no page of another day.
    await pruneFeeds(store, prune(noon + 35 * DAY_MS));
    const again = await read(key, "?page_size=1");
    expect(again.data.items).not.toEqual(page.data.items);
    expect((await read(key, `?after=${again.cursor}`)).status).toBe(200);
  });

  test("of a clock that was ahead keep nothing, and are removed with the events before them", async () => {
    const { store, clock, fps } = await aged();
    clock.now = noon + 20 * 365 * DAY_MS;
    await store.transaction((session) => addEvent(session, checkUp, noon));
    clock.now = noon + 21 * DAY_MS;
    const last = await store.transaction((session) => addEvent(session, checkUp, noon));
    await pruneFeeds(store, prune(noon + 45 * DAY_MS));
    expect((await store.all(kept, {})).map(({ fp }) => fp)).toEqual([fps[2], expect.any(String), last]);
    await pruneFeeds(store, prune(noon + 50.5 * DAY_MS));
    expect(await store.all(kept, {})).toEqual([{ fp: last }]);
  });

  test("are removed beyond the greatest number of a kind, the oldest first", async () => {
    const { store, clock, fps } = await aged();
    await pruneFeeds(store, { ...prune(clock.now), most: 2 });
    expect(await store.all(kept, {})).toEqual([{ fp: fps[1] }, { fp: fps[2] }]);
  });

  test("a position of a database that was replaced by an older one is refused", async () => {
    const { key, read, store, clock, second } = await aged();
    const [, version, id, at] = JSON.parse(Buffer.from(second, "base64url").toString()) as [string, ...number[]];
    const position = (...parts: (number | undefined)[]) =>
      Buffer.from(JSON.stringify(["events", ...parts])).toString("base64url");
    clock.now += 1;
    await store.transaction((session) => addEvent(session, checkUp, noon));
    expect((await read(key, `?after=${position(version, id, at)}`)).status).toBe(200);
    for (const lost of [position(version, id, at! + 1), position(version! + 1, id, at), position(version, id! + 9, at)])
      expect((await read(key, `?after=${lost}`)).status).toBe(410);
  });

  const kept = query((db) =>
    db.selectFrom("clinic_event").select("fp").where("kind", "=", "calendar_event").orderBy("version").orderBy("id"),
  );
});

describe("a page is read by an index, which has no row before it", () => {
  const FILL = `
    insert into clinic (id, fp, name) values (1, 'clinic_1', '');
    insert into clinic_event (clinic_id, version, kind, fp, change, at)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000)
    select 1, n, case when n % 3 = 0 then 'study' else 'patient' end, 'x', 'changed', n from numbers;
    analyze;`;
  const plans = {
    page: () => {
      const size = { patient: 101, study: 101, soap: 0, calendar_event: 0, inventory_item: 0, order: 0 };
      return planOf(FILL, pageOfFeed, { clinicId: 1, version: 15_000, id: 15_000, limit: 101, ...size });
    },
    "last event": () => planOf(FILL, lastBefore, { clinicId: 1, version: 15_000, id: 15_000 }),
  };
  test.each(Object.entries(plans))("the %s", async (_name, plan) => {
    const steps = await plan();
    expect(steps).toContain("clinic_event_by_kind");
    expect(steps).not.toMatch(/SCAN clinic_event|Seq Scan on clinic_event|Bitmap/);
  });
});
