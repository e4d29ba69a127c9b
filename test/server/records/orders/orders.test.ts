import { describe, expect, onTestFinished, test } from "vitest";
import type { OrderChoices, OrderPlaced, OrdersBody } from "../../../../server/dashboard/types/orders.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import { placeOrder } from "../../../../server/records/orders/orders.ts";
import { findPatient } from "../../../../server/records/patients/patients.ts";
import type { OrderList } from "../../../../shared/api/agent/agent-lists.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy, Study } from "../../../../shared/api/study.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import type { Entity } from "../../../../server/import/lines.ts";
import { exportEntities } from "../../../../server/import/export.ts";
import {
  clinic,
  connectTo,
  connection,
  importEntities,
  keyPermissions,
  noon,
  patient,
  startServer,
  study,
} from "../../harness.ts";

// Orders of tests, from the order at the dashboard to the study that answers it. Method: requests of a page, of an agent and of a
// reader. Runs on both engines.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
const HOUR = 3_600_000;

async function orderingClinic() {
  const [dog, cat, foreign] = [patient(), patient({ name: "Pamuk", species: "cat" }), patient()];
  const connections = [connection(dog.fp, ours), connection(cat.fp, ours), connection(foreign.fp, theirs)];
  const server = await startServer(clinic(ours), clinic(theirs), dog, cat, foreign, connections);
  const staff = await makeUser(server, "staff", ours);
  const key = await server.makeKey(ours, keyPermissions);
  const otherKey = await server.makeKey(theirs, keyPermissions);
  const order = async (changes: object = {}) => {
    const body = { patient_fp: dog.fp, device: null, panel: null, tests: ["ALT"], ...changes };
    const { status, body: placed } = await staff.call<OrderPlaced>("POST", "/orders", body);
    expect(status).toBe(200);
    return placed;
  };
  const list = async () => (await staff.call<OrdersBody>("GET", "/orders")).body;
  const stateOf = async (fp: string) => (await list()).orders.find((each) => each.fp === fp)?.state;
  const pull = async (query = "", by = key) =>
    ((await server.get(by, `/agent/v1/orders${query}`)).body as unknown as { data: OrderList }).data;
  const push = async (changes: Partial<PushedStudy>) => {
    const sent = study({ patient_fp: dog.fp, matched_by: { by: "accession", identifiers: [] }, ...changes });
    const [outcome] = await server.push(key, sent);
    return { ...outcome!, fp: sent.fp, sent };
  };
  const read = async (fp: string) =>
    (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body.data as unknown as Study | undefined;
  const beat = (payload: object, by = key) =>
    server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers: { "x-api-key": by }, payload });
  return { server, dog, cat, foreign, staff, key, otherKey, order, list, stateOf, pull, push, read, beat };
}

test("a damaged study of an order hides no order, and its own waits for results", async () => {
  const { server, order, list, pull, push, stateOf, staff } = await orderingClinic();
  const [first, second] = [await order(), await order()];
  const { fp } = await push({ order_fp: first.fp });
  const database = await connectTo(server.database);
  onTestFinished(() => database.close());
  await database.run(`update study set results = '{' where fp = '${fp}'`);
  const states = new Map((await pull()).items.map((each) => [each.fp, each.state]));
  expect([states.get(first.fp), states.get(second.fp)]).toEqual(["open", "open"]);
  expect((await list()).orders.map((each) => each.fp).toSorted()).toEqual([first.fp, second.fp].toSorted());
  expect(await stateOf(first.fp)).toBe("ordered");
  expect((await staff.call("GET", "/today")).status).toBe(200);
});

describe("an order at the dashboard", () => {
  test("is pulled by the clinic's agents alone, and its study carries it in single reads and lists", async () => {
    const { server, dog, key, otherKey, order, pull, push, read, stateOf } = await orderingClinic();
    const { fp, accession } = await order({ tests: ["ALT", "ALT", "CREA"], device: "chem-1" });
    expect(await pull()).toEqual({
      items: [
        {
          ...{ fp, accession, patient_fp: dog.fp, device: "chem-1", tests: ["ALT", "CREA"] },
          ...{ ordered_at: new Date(noon).toISOString(), state: "open" },
        },
      ],
      changed_at: new Date(noon).toISOString(),
      next: null,
    });
    expect((await pull("", otherKey)).items).toEqual([]);
    const filed = await push({ order_fp: fp });
    expect(filed.outcome).toBe("filed");
    expect((await read(filed.fp))?.order).toEqual({ fp, placer_number: null });
    const listed = (await server.get(key, "/api/v1/lab/diagnostics")).body.data.items as object[];
    expect(listed).toMatchObject([{ fp: filed.fp, order: { fp, placer_number: null } }]);
    expect(await stateOf(fp)).toBe("in progress");
  });

  test("goes from ordered to offered, in progress and resulted by the facts, and the first offer stays", async () => {
    const { server, order, list, stateOf, push, beat, otherKey } = await orderingClinic();
    const { fp } = await order({ tests: ["ALT", "GLU"] });
    const offer = (at: string) => ({ offered_orders: [{ fp, at }] });
    expect((await beat(offer("2026-11-21T12:00:00.000Z"), otherKey)).statusCode).toBe(200);
    expect(await stateOf(fp)).toBe("ordered");
    server.clock.now += 60_000;
    await beat(offer("2026-11-21T12:00:30.000Z"));
    await beat(offer("2026-11-21T12:01:00.000Z"));
    expect((await list()).orders).toMatchObject([{ state: "offered", offered_at: "2026-11-21T12:00:30.000Z" }]);
    const [alt, glu] = ["ALT", "GLU"].map((analyte) => ({ ...study().results[0]!, analyte }));
    const filed = await push({ order_fp: fp, results: [alt!] });
    expect((await list()).orders).toMatchObject([{ state: "in progress", missing: ["GLU"], studies: [filed.fp] }]);
    await push({ ...filed.sent, revision: 2, results: [alt!, glu!] });
    expect((await list()).orders).toMatchObject([{ state: "resulted", missing: [] }]);
  });

  test("counts as not run after two hours, and cancelling closes it for devices", async () => {
    const { server, staff, order, stateOf, pull } = await orderingClinic();
    const { fp } = await order();
    server.clock.now += 2 * HOUR;
    expect(await stateOf(fp)).toBe("not run");
    const { changed_at } = await pull();
    expect((await staff.call("POST", `/orders/${fp}/cancel`)).status).toBe(200);
    expect((await staff.call("POST", `/orders/${fp}/cancel`)).status).toBe(200);
    expect(await stateOf(fp)).toBe("cancelled");
    expect((await pull(`?updated_since=${changed_at}`)).items).toMatchObject([{ fp, state: "cancelled" }]);
  });

  test("keeps the result that comes after its cancellation, and has no cancellation after its result", async () => {
    const { staff, order, stateOf, push, read } = await orderingClinic();
    const [first, second] = [await order({ tests: ["GLU"] }), await order({ tests: ["GLU"] })];
    await staff.call("POST", `/orders/${first.fp}/cancel`);
    const late = await push({ order_fp: first.fp, dedupe_key: "late" });
    expect((await read(late.fp))?.order?.fp).toBe(first.fp);
    expect(await stateOf(first.fp)).toBe("resulted");
    await push({ order_fp: second.fp, dedupe_key: "second" });
    const { status } = await staff.call("POST", `/orders/${second.fp}/cancel`);
    expect([status, await stateOf(second.fp)]).toEqual([409, "resulted"]);
  });

  test("needs an animal of the clinic, tests of the catalogue for any device, and a user who may write", async () => {
    const { server, staff, dog, foreign, list } = await orderingClinic();
    const body = { patient_fp: dog.fp, device: null, panel: null, tests: ["ALT"] };
    const faults: [object, number][] = [
      [{ patient_fp: foreign.fp }, 404],
      [{ tests: [] }, 400],
      [{ tests: ["CBC+DIFF"] }, 400],
      [{ tests: ["ALT|^CREA"], device: "chem-1" }, 400],
      [{ tests: ["A\rO"], device: "chem-1" }, 400],
      [{ device: "chem 1" }, 400],
    ];
    for (const [changes, expected] of faults) {
      const { status } = await staff.call("POST", "/orders", { ...body, ...changes });
      expect([changes, status]).toEqual([changes, expected]);
    }
    const reader = await makeUser(server, "reader", ours);
    expect((await reader.call("POST", "/orders", body)).status).toBe(403);
    expect((await list()).orders).toEqual([]);
    expect((await staff.call("POST", "/orders", { ...body, tests: ["CBC+DIFF"], device: "hema-1" })).status).toBe(200);
    const stranger = await makeUser(server, "staff", theirs);
    const { fp } = (await list()).orders[0]!;
    expect((await stranger.call("POST", `/orders/${fp}/cancel`)).status).toBe(404);
  });

  test("with a name is a panel of the clinic, as it was ordered last", async () => {
    const { server, staff, order } = await orderingClinic();
    await order({ panel: "Liver", tests: ["ALT"] });
    server.clock.now += 1000;
    await order({ panel: " Liver ", tests: ["ALT", "AST"], device: "chem-1" });
    const { body } = await staff.call<OrderChoices>("GET", "/orders/choices");
    expect(body.panels).toEqual([{ name: "Liver", tests: ["ALT", "AST"], device: "chem-1" }]);
    expect(body.analytes.length).toBeGreaterThan(100);
  });
});

describe("the order of a pushed study", () => {
  test("of another animal or of another clinic leaves the study unmatched with a code, and is not shown", async () => {
    const { server, dog, cat, foreign, order, push, read, stateOf } = await orderingClinic();
    const ofCat = await order({ patient_fp: cat.fp });
    const stranger = await makeUser(server, "staff", theirs);
    const body = { patient_fp: foreign.fp, device: null, panel: null, tests: ["ALT"] };
    const { fp: ofOthers } = (await stranger.call<OrderPlaced>("POST", "/orders", body)).body;
    const wrong = await push({ order_fp: ofCat.fp, dedupe_key: "1" });
    expect(wrong).toMatchObject({
      outcome: "unmatched",
      code: "MATCH.ORDER_MOVED",
      reason: `the agent matched ${dog.fp} by ${ofCat.fp}, which is an order for ${cat.fp}`,
    });
    expect(await read(wrong.fp)).toBeUndefined();
    const unknown = await push({ order_fp: ofOthers, dedupe_key: "2" });
    expect(unknown).toMatchObject({
      code: "MATCH.ORDER_MOVED",
      reason: `the agent matched ${dog.fp} by ${ofOthers}, which is not an order of this clinic`,
    });
    expect(await stateOf(ofCat.fp)).toBe("ordered");
  });

  test("stays with a later revision of an agent that names none, and leaves with the study that moves", async () => {
    const { staff, dog, cat, order, push, read, stateOf } = await orderingClinic();
    const { fp } = await order();
    const { fp: studyFp, sent } = await push({ order_fp: fp });
    const { order_fp: _named, ...older } = sent;
    const revised = await push({ ...older, revision: 2, results: [{ ...sent.results[0]!, value: 5.3 }] });
    expect(revised.outcome).toBe("filed");
    expect((await read(studyFp))?.order?.fp).toBe(fp);
    const move = { revision: 2, patient_fp: cat.fp, reason: "other tube", typed_species: "cat" };
    expect((await staff.call("POST", `/results/${studyFp}/move`, move)).body).toEqual({ revision: 3 });
    const moved = await read(studyFp);
    expect([moved?.patient_fp, moved?.order]).toEqual([cat.fp, undefined]);
    expect([dog.fp, await stateOf(fp)]).toEqual([dog.fp, "ordered"]);
  });

  test("waits with an unmatched study, and is there when a person files it to its animal", async () => {
    const { staff, dog, order, push, read } = await orderingClinic();
    const { fp } = await order();
    const waiting = await push({ order_fp: fp, patient_fp: null });
    const assign = { revision: 1, patient_fp: dog.fp };
    expect((await staff.call("POST", `/unmatched/${waiting.fp}/assign`, assign)).status).toBe(200);
    expect((await read(waiting.fp))?.order?.fp).toBe(fp);
  });
});

test("an export has the order of a study, and a file without it takes no order away", async () => {
  const { server, order, push, read } = await orderingClinic();
  const { fp } = await order();
  const filed = await push({ order_fp: fp });
  const lines: Entity[] = [];
  for await (const line of exportEntities(server.store)) lines.push(line);
  const [line] = lines.filter((each) => each.type === "study");
  expect(line).toMatchObject({ fp: filed.fp, order: { fp, placer_number: null } });
  const { order: _order, ...older } = line as Extract<Entity, { type: "study" }>;
  expect(await importEntities(server.store, older)).toEqual({ new: 0, changed: 0, unchanged: 1 });
  await importEntities(server.store, { ...older, device_name: "VS2" });
  expect(await read(filed.fp)).toMatchObject({ device_name: "VS2", order: { fp } });
});

test("a damaged order of a study is found by its checksum, and not shown", async () => {
  const { server, key, order, push } = await orderingClinic();
  const filed = await push({ order_fp: (await order()).fp });
  const other = await connectTo(server.database);
  await other.run(`update study set order_fp = '${newFp("order")}' where fp = '${filed.fp}'`);
  await other.close();
  const response = await server.get(key, `/api/v1/lab/diagnostics/${filed.fp}`);
  expect(response.body).toMatchObject({ error: { code: "RECORD.DAMAGED" } });
});

describe("a result without an order", () => {
  test("is listed once the clinic orders, attached by hand to an order of its animal alone, and detached", async () => {
    const { staff, dog, cat, order, push, list, read, stateOf } = await orderingClinic();
    const run = await push({ matched_by: { by: "fp", identifiers: [] } });
    expect((await list()).without_order).toEqual([]);
    const [ofDog, ofCat] = [await order(), await order({ patient_fp: cat.fp })];
    expect((await list()).without_order).toMatchObject([{ fp: run.fp, patient: { fp: dog.fp } }]);
    expect(await stateOf(ofDog.fp)).toBe("ordered");
    const attach = (fp: string) => staff.call("POST", `/orders/${fp}/attach`, { study_fp: run.fp });
    expect((await attach(ofCat.fp)).status).toBe(409);
    expect((await attach(ofDog.fp)).status).toBe(200);
    expect((await attach(ofDog.fp)).status).toBe(409);
    expect((await read(run.fp))?.order).toEqual({ fp: ofDog.fp, placer_number: null });
    expect((await list()).without_order).toEqual([]);

    const detach = (fp: string) => staff.call("POST", `/orders/${fp}/detach`, { study_fp: run.fp });
    expect((await detach(ofCat.fp)).status).toBe(409);
    expect((await list()).orders.find(({ fp }) => fp === ofDog.fp)?.attached).toBe(run.fp);
    expect((await detach(ofDog.fp)).status).toBe(200);
    expect((await detach(ofDog.fp)).status).toBe(409);
    expect((await read(run.fp))?.order).toBeUndefined();
    expect(await stateOf(ofDog.fp)).toBe("ordered");
  });
});

describe("on the page of today, orders", () => {
  test("count as ordered, running and not run, after the hours that the clinic chose, and results without one", async () => {
    const { server, staff, order, push, list, stateOf } = await orderingClinic();
    const counts = async () => (await staff.call<TodayState>("GET", "/today")).body.orders;
    const nothing = { ordered: 0, running: 0, not_run: 0, without_order: 0, not_run_hours: 2 };
    const run = await push({ matched_by: { by: "fp", identifiers: [] } });
    expect(await counts()).toEqual(nothing);
    const [first, second, cancelled] = [await order(), await order({ tests: ["ALT", "CREA"] }), await order()];
    await staff.call("POST", `/orders/${cancelled.fp}/cancel`);
    expect(await counts()).toEqual({ ...nothing, ordered: 2, without_order: 1 });
    await push({ order_fp: second.fp });
    expect(await stateOf(second.fp)).toBe("in progress");
    expect(await counts()).toEqual({ ...nothing, ordered: 1, running: 1, without_order: 1 });
    server.clock.now += 2 * HOUR;
    expect(await counts()).toEqual({ ...nothing, not_run: 1, without_order: 1 });
    expect((await staff.call("GET", "/menu")).body).toMatchObject({ not_run: 1 });

    const admin = await makeUser(server, "admin", ours);
    const choose = async (not_run_hours: number) => {
      const settings = { language: null, time_zone: null, not_run_hours };
      return (await admin.call("PUT", "/settings/clinic", settings)).status;
    };
    expect([await choose(0), await choose(73), await choose(1.5), await choose(4)]).toEqual([400, 400, 400, 200]);
    const chosen = { ...nothing, not_run_hours: 4 };
    expect(await counts()).toEqual({ ...chosen, ordered: 1, running: 1, without_order: 1 });
    expect([await stateOf(first.fp), (await list()).not_run_hours]).toEqual(["ordered", 4]);
    const { body } = await admin.call<{ clinics: { not_run_hours: number }[] }>("GET", "/clinic/v1/session");
    expect(body.clinics.map(({ not_run_hours }) => not_run_hours)).toEqual([4]);
    await staff.call("POST", `/orders/${first.fp}/attach`, { study_fp: run.fp });
    expect(await counts()).toEqual({ ...chosen, running: 2 });
  });

  test("remind of the charge of a result without one until a user notes it, and the note is taken back", async () => {
    const { server, staff, order, push, list } = await orderingClinic();
    const run = await push({ matched_by: { by: "fp", identifiers: [] } });
    const ordered = await order();
    const answered = await push({ order_fp: ordered.fp });
    const note = async (fp: string, charged: boolean, by = staff) =>
      (await by.call("PUT", `/orders/without-order/${fp}`, { charged })).status;
    const open = async () => (await staff.call<TodayState>("GET", "/today")).body.orders.without_order;
    const charges = async () => (await list()).without_order.map(({ fp, charged }) => [fp, charged?.by ?? null]);
    const [reader, stranger] = [await makeUser(server, "reader", ours), await makeUser(server, "staff", theirs)];
    expect([await note(run.fp, true, reader), await note(run.fp, true, stranger)]).toEqual([403, 404]);
    expect(await note(answered.fp, true)).toBe(409);
    expect([await open(), await charges()]).toEqual([1, [[run.fp, null]]]);
    expect(await note(run.fp, true)).toBe(200);
    // The first user stays.
    expect(await note(run.fp, true, await makeUser(server, "staff", ours))).toBe(200);
    expect([await open(), await charges()]).toEqual([0, [[run.fp, staff.name]]]);
    expect(await note(run.fp, false)).toBe(200);
    expect([await open(), await charges()]).toEqual([1, [[run.fp, null]]]);
    // One of Friday is there on Monday, and ends after a week.
    const acquired_at = new Date(noon - 3 * 24 * HOUR).toISOString();
    const friday = await push({ matched_by: { by: "fp", identifiers: [] }, acquired_at });
    expect(await open()).toBe(2);
    // An older one that is open comes before a newer one that is settled.
    expect(await note(run.fp, true)).toBe(200);
    expect(await charges()).toEqual([
      [friday.fp, null],
      [run.fp, staff.name],
    ]);
    expect(await note(run.fp, false)).toBe(200);
    server.clock.now += 5 * 24 * HOUR;
    expect(await open()).toBe(1);
  });
});

test("the list of an agent has pages, and an order of a removed patient is not on the page of the clinic", async () => {
  const { server, dog, order, pull, list } = await orderingClinic();
  await order();
  await server.store.transaction(async (session) => {
    const own = await findPatient(session, 1, dog.fp);
    const facts = { clinicId: 1, patientId: own?.id ?? 0, device: null, panel: null, tests: ["ALT"], placer: null };
    for (let n = 0; n < 200; n += 1) {
      await placeOrder(session, { ...facts, orderedAt: noon, by: { userId: 1 } }, noon);
    }
  });
  const first = await pull();
  const second = await pull(`?after=${first.next}`);
  expect([first.items.length, second.items.length, second.next]).toEqual([200, 1, null]);
  expect(new Set([...first.items, ...second.items].map(({ accession }) => accession)).size).toBe(201);
  await importEntities(server.store, { ...dog, deleted_at: new Date(noon).toISOString() });
  expect((await list()).orders).toEqual([]);
});
