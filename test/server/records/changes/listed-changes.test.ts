import { describe, expect, test } from "vitest";
import { deleteEvent } from "../../../../server/records/calendar/calendar.ts";
import { lists as eventLists } from "../../../../server/records/calendar/changed-events.ts";
import { NEWEST } from "../../../../server/records/changes/changed-page.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { lists as itemLists } from "../../../../server/records/inventory/changed-items.ts";
import { removeItem } from "../../../../server/records/inventory/stock.ts";
import { mergeAnimals } from "../../../../server/records/registry/merge.ts";
import { ofEveryPatient } from "../../../../server/records/soap/listed-soap.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, importText, patient, startServer } from "../../harness.ts";
import { planOf } from "../../query-plan.ts";
import { event, item, publishedEvent, publishedItem, publishedSoap, soap } from "../../records.ts";

// The lists of SOAP records, and of the events and items that changed. sync.test.ts holds them to the lists while servers write.

const own = newFp("clinic");
const other = newFp("clinic");
const EVENTS = "/api/v1/calendar/events";
const ITEMS = "/api/v1/inventory";
const MINUTE_MS = 60_000;

async function world(...entities: Parameters<typeof startServer>) {
  const server = await startServer(clinic(own), clinic(other), ...entities);
  const key = await server.makeKey(own, ["clinic.patient.view", "clinic.calendar.view", "clinic.inventory.view"]);
  const clinicId = (await findClinic(server.store, own))?.id ?? 0;
  const fps = async (url: string) => {
    const { body } = await server.get(key, url);
    const items = (Array.isArray(body) ? body : body.data.items) as { fp: string }[];
    return items.map(({ fp }) => fp);
  };
  /** The Sync-Cursor of a list, a minute later. */
  const cursorOf = async (url: string) => {
    const cursor = String((await server.get(key, url)).headers["sync-cursor"]);
    server.clock.now += MINUTE_MS;
    return cursor;
  };
  const keep = async (...lines: object[]) =>
    importText(server.store, lines.map((line) => JSON.stringify(line)).join("\n"), server.clock.now);
  return { ...server, key, clinicId, fps, cursorOf, keep };
}

describe("GET /api/v1/soap", () => {
  test("lists the records of the clinic's patients, whichever clinic wrote them, and not those of others", async () => {
    const [ours, theirs] = [patient(), patient()];
    const [written, shared, foreign] = [soap(ours.fp, own), soap(ours.fp, other), soap(theirs.fp, other)];
    const server = await world(
      [ours, theirs, connection(ours.fp, own), connection(theirs.fp, other)],
      [written, shared, foreign],
    );
    const { body } = await server.get(server.key, "/api/v1/soap");
    const updated_at = new Date(server.clock.now).toISOString();
    const records = [shared, written].map((each) => ({ ...publishedSoap(each), updated_at }));
    expect(body.data).toEqual({ items: records, total: 2, page: 1, page_size: 20, has_more: false });
    expect(await server.fps(`/api/v1/soap?patient_fp=${theirs.fp}`)).toEqual([]);
    expect(await server.fps(`/api/v1/soap?patient_fp=${ours.fp}`)).toEqual([shared.fp, written.fp]);
    const soapAlone = await server.makeKey(own, ["clinic.soap.view"]);
    expect((await server.get(soapAlone, "/api/v1/soap")).body.data.total).toBe(2);
    const labAlone = await server.makeKey(own, ["clinic.lab.view"]);
    expect((await server.get(labAlone, "/api/v1/soap")).status).toBe(403);
  });

  test("a record counts as changed when its clinic is connected, and has left when the connection ends", async () => {
    const dog = patient();
    const record = soap(dog.fp, other);
    const server = await world([dog, connection(dog.fp, other)], record);
    const cursor = await server.cursorOf("/api/v1/soap");
    await server.keep(connection(dog.fp, own));
    expect(await server.fps(`/api/v1/soap?updated_since=${cursor}`)).toEqual([record.fp]);
    const later = await server.cursorOf("/api/v1/soap");
    expect(await server.fps(`/api/v1/soap?updated_since=${later}`)).toEqual([]);
    await server.keep(connection(dog.fp, own, false));
    expect(await server.fps("/api/v1/soap")).toEqual([]);
    expect(await server.fps(`/api/v1/changes?after=${later}`)).toEqual([dog.fp, record.fp].toSorted());
    const soapAlone = await server.makeKey(own, ["clinic.soap.view"]);
    const { items } = (await server.get(soapAlone, `/api/v1/changes?after=${later}`)).body.data;
    expect(items.map(({ fp }: { fp: string }) => fp)).toEqual([record.fp]);
    await server.keep(connection(dog.fp, own));
    expect(await server.fps(`/api/v1/changes?after=${later}`)).toEqual([]);
  });

  test("records of a merged patient are changed ones of the survivor, and none has left", async () => {
    const [stays, goes] = [patient(), patient()];
    const signed = { status: "SIGNED" as const, signed_at: "2026-11-01T10:00:00.000Z" };
    const [kept, moved] = [soap(stays.fp, own), soap(goes.fp, own, signed)];
    const server = await world([stays, goes, connection(stays.fp, own), connection(goes.fp, own)], [kept, moved]);
    const cursor = await server.cursorOf("/api/v1/soap");
    const { clinicId } = server;
    await server.store.transaction(async (session) =>
      mergeAnimals(
        session,
        { clinicId, survivor: stays.fp, merged: goes.fp },
        { batch: null, now: server.clock.now, clock: () => server.clock.now, served: null },
      ),
    );
    const { items } = (await server.get(server.key, `/api/v1/soap?updated_since=${cursor}`)).body.data;
    expect(items).toMatchObject([{ fp: moved.fp, patient_fp: stays.fp }]);
    expect(await server.fps(`/api/v1/changes?after=${cursor}`)).toEqual([goes.fp]);
  });

  test("drafts that move together to an animal of another clinic have all left", async () => {
    const [ours, theirs] = [patient(), patient()];
    const drafts = Array.from({ length: 20 }, () => soap(ours.fp, own));
    const server = await world([ours, theirs, connection(ours.fp, own), connection(theirs.fp, other)], drafts);
    const cursor = await server.cursorOf("/api/v1/soap");
    await server.keep(...drafts.map((each) => ({ ...each, patient_fp: theirs.fp })));
    const left = await server.fps(`/api/v1/changes?after=${cursor}&page_size=100`);
    expect(left).toEqual(drafts.map(({ fp }) => fp).toSorted());
    expect(await server.fps("/api/v1/soap")).toEqual([]);
  });

  test("a page may have 500 records, and a longer one is refused", async () => {
    const server = await world();
    for (const list of ["/api/v1/soap", "/api/v1/lab/diagnostics", "/api/v1/changes"]) {
      const { data } = (await server.get(server.key, `${list}?page_size=500`)).body;
      expect(data).toMatchObject({ page_size: 500 });
    }
    const tooLong = ["/api/v1/soap?page_size=501", "/api/v1/patients?page_size=101", `${ITEMS}?page_size=101`];
    const answers = await Promise.all(tooLong.map(async (url) => server.get(server.key, url)));
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
  });
});

describe("GET /api/v1/calendar/events", () => {
  test("has all events that changed, whenever they start, in pages of a walk", async () => {
    const events = [2024, 2025, 2026, 2027].map((year) =>
      event(own, { start_at: `${year}-06-01T09:00:00.000Z`, end_at: `${year}-06-01T10:00:00.000Z` }),
    );
    const server = await world(events, event(other));
    const found: object[] = [];
    const sizes: number[] = [];
    for (let url: string | undefined = `${EVENTS}?updated_since=1970-01-01&page_size=3`; url !== undefined; ) {
      const { body, headers }: Awaited<ReturnType<typeof server.get>> = await server.get(server.key, url);
      const page = body as unknown as object[];
      found.push(...page);
      sizes.push(page.length);
      url = /<([^>]+)>; rel="next"/.exec(String(headers["link"] ?? ""))?.[1];
    }
    expect(sizes).toEqual([3, 1]);
    expect(found).toEqual(events.toReversed().map(publishedEvent));
    const cursor = await server.cursorOf(`${EVENTS}?updated_since=1970-01-01`);
    const [first] = events;
    await server.keep({ ...first, title: "Another" });
    expect(await server.fps(`${EVENTS}?updated_since=${cursor}`)).toEqual([first?.fp]);
    expect(await server.fps(`${EVENTS}?updated_since=${cursor}&start_date=2025-01-01`)).toEqual([]);
    expect(await server.fps(`${EVENTS}?updated_since=${cursor}&end_date=2025-01-01&type=CHECKUP`)).toEqual([first?.fp]);
    expect(await server.fps(`${EVENTS}?updated_since=${cursor}&status=CANCELLED`)).toEqual([]);
  });

  test("without updated_since answers as published, also with page_size and after, which it ignores", async () => {
    const server = await world(event(own), event(own));
    const range = "start_date=2026-11-01&end_date=2026-12-01";
    const [plain, paged] = [
      await server.get(server.key, `${EVENTS}?${range}`),
      await server.get(server.key, `${EVENTS}?${range}&page_size=1&after=x`),
    ];
    expect(paged.body).toEqual(plain.body);
    expect([plain.headers["link"], plain.headers["sync-cursor"], plain.headers["x-ignored-parameters"]]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(paged.headers["x-ignored-parameters"]).toBe("page_size, after");
  });

  test("a deleted event has left, until it is stored again", async () => {
    const [stays, goes] = [event(own), event(own)];
    const server = await world([stays, goes]);
    const cursor = await server.cursorOf(`${EVENTS}?updated_since=1970-01-01`);
    const deleted = { fp: goes.fp, clinic_id: server.clinicId };
    await server.store.transaction(async (session) => deleteEvent(session, deleted, server.clock.now));
    expect(await server.fps(`/api/v1/changes?after=${cursor}`)).toEqual([goes.fp]);
    const patients = await server.makeKey(own, ["clinic.patient.view"]);
    expect((await server.get(patients, `/api/v1/changes?after=${cursor}`)).body.data.items).toEqual([]);
    await server.keep(goes);
    expect(await server.fps(`/api/v1/changes?after=${cursor}`)).toEqual([]);
    expect(await server.fps(`${EVENTS}?updated_since=${cursor}`)).toEqual([goes.fp]);
  });
});

describe("GET /api/v1/inventory", () => {
  test("has the items that changed, the last one first, and those that fit the filters", async () => {
    const items = ["A", "B", "C"].map((name) => item(own, { name }));
    const [a, b, c] = items;
    const server = await world(items);
    const cursor = await server.cursorOf(`${ITEMS}?updated_since=1970-01-01`);
    await server.keep({ ...b, quantity_on_hand: 3 });
    server.clock.now += MINUTE_MS;
    await server.keep({ ...a, name: "Z" });
    const { body } = await server.get(server.key, `${ITEMS}?updated_since=${cursor}`);
    expect(body.data).toEqual({
      ...{ total: 2, page: 1, page_size: 20, has_more: false },
      items: [publishedItem({ ...a!, name: "Z" }), publishedItem({ ...b!, quantity_on_hand: 3 })],
    });
    expect(await server.fps(`${ITEMS}?updated_since=${cursor}&low_stock_only=true`)).toEqual([b?.fp]);
    expect(await server.fps(`${ITEMS}?updated_since=${cursor}&category=FOOD`)).toEqual([]);
    await server.store.transaction(async (session) => removeItem(session, c!.fp, server.clock.now));
    expect(await server.fps(`/api/v1/changes?after=${cursor}`)).toEqual([c?.fp]);
  });

  test("a walk by name does not go on as one of changes, nor the other way round, and has no page number", async () => {
    const server = await world([item(own), item(own)]);
    const next = async (search: string) => {
      const { headers } = await server.get(server.key, `${ITEMS}?page_size=1&${search}`);
      return /after=([\w-]+)/.exec(String(headers["link"]))?.[1] ?? "";
    };
    const since = "updated_since=1970-01-01";
    const refused = [`after=${await next(since)}`, `${since}&after=${await next("")}`, `${since}&page=2`];
    const codes = await Promise.all(
      refused.map(async (search) => (await server.get(server.key, `${ITEMS}?${search}`)).body.error.code),
    );
    expect(codes).toEqual(refused.map(() => "REQUEST.INVALID_PARAMETER"));
  });
});

const FILL = `
  insert into customer (id, fp) values (1, 'customer_1');
  insert into clinic (id, fp, name)
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20)
  select n, 'clinic_' || n, '' from numbers;
  insert into patient (id, fp, name, species, owner_customer_id, created_at, updated_at)
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2000)
  select n, 'patient_' || n, '', 'dog', 1, 0, 0 from numbers;
  insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
  select 1 + id % 20, id, 1, 1, fp, species, 0 from patient;
  insert into soap (id, fp, patient_id, clinic_id, soap_type, status, created_at)
  select patient_id, 'soap_' || patient_id, patient_id, clinic_id, 'EXAMINATION', 'DRAFT', 0 from clinic_patient;
  insert into clinic_soap (clinic_id, soap_id, changed_at) select clinic_id, id, id from soap;
  insert into calendar_event (fp, clinic_id, title, type, status, start_at, end_at, changed_at)
  select 'calevt_' || patient_id, clinic_id, '', 'CHECKUP', 'SCHEDULED', patient_id, patient_id, patient_id from clinic_patient;
  insert into inventory_item (fp, clinic_id, name, category, unit, quantity_on_hand, low_stock_threshold, unit_price_cents,
    currency, is_virtual, changed_at)
  select 'invitem_' || patient_id, clinic_id, '', 'FOOD', '', 1, 1, 1, 'TRY', 0, patient_id from clinic_patient;
  analyze;`;

describe("a page of changes reads its own rows in the order of the index", () => {
  const page = { clinicId: 1, updatedSince: 0, ...NEWEST, limit: 21 };
  // A plan that sorts reads all rows of the clinic. The outer query sorts one page.
  const ordered = (index: string) => new RegExp(`${index}\\b`);

  test("of SOAP records", async () => {
    const plan = await planOf(FILL, ofEveryPatient.rows, {
      ...{ ...page, soapId: NEWEST.changedAt, patientFp: "" },
    });
    expect(plan).toMatch(ordered("clinic_soap_by_change"));
    expect(plan).toMatch(/soap_pkey on soap |SEARCH soap USING INTEGER PRIMARY KEY/);
    expect(plan).not.toMatch(/SCAN (?!page)|Seq Scan on (?!clinic )/);
  });

  test("of events", async () => {
    const filter = { ...page, start: 0, end: 1e13, type: null, status: null };
    const plan = await planOf(FILL, eventLists.everyType.everyStatus, filter);
    expect(plan).toMatch(ordered("calendar_event_by_change"));
    expect(plan).not.toMatch(/SCAN (?!page)|Seq Scan on calendar_event/);
  });

  test("of items", async () => {
    const { rows } = itemLists.all.everyCategory;
    const plan = await planOf(FILL, rows, { ...page, category: "" });
    expect(plan).toMatch(ordered("inventory_item_by_change"));
    expect(plan).not.toMatch(/Sort|TEMP B-TREE|Seq Scan/);
  });
});
