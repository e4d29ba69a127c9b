import type { ServiceRequest } from "fhir/r4.js";
import { expect, test } from "vitest";
import { fpOf, idOf } from "../../../server/fhir/resources/ids.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connectTo, connection, importEntities, study } from "../harness.ts";
import { ask, dog, named, next, ours, startPractice } from "./practice.ts";

// Orders as a mirror reads them: none is missing, whatever the clock of the server does.

/** A practice whose software knows the cat `1`, and `place` with which it orders. */
async function orderingPractice() {
  const practice = await startPractice();
  const { server, search } = practice;
  const sync = await server.makeKey(ours, ["clinic.sync.write"]);
  const post = async (path: string, item: object) => {
    const { statusCode } = await server.app.inject({
      ...{ method: "POST", url: `/sync/v1/${path}`, headers: { "x-api-key": sync } },
      payload: { source: "pims", mode: "partial", items: [item] },
    });
    expect([path, statusCode]).toEqual([path, 200]);
  };
  const addAnimal = (externalId: string) =>
    post("patients", {
      ...{ external_id: externalId, name: "Pamuk", species: "cat" },
      owner: { external_id: "1", name: "Ada Örnek" },
    });
  await addAnimal("1");
  const place = async (number: string, more: object = {}) => {
    await post("orders", {
      ...{ external_id: number, patient: "1", tests: ["GLU"], ordered_at: "2026-11-21T09:50:00+03:00" },
      ...more,
    });
    const { body } = await search(`ServiceRequest?identifier=${encodeURIComponent(`${base}/order/pims|${number}`)}`);
    return named(body)[0] ?? "";
  };
  const walk = async (from: string | null) => {
    const seen: string[] = [];
    for (let path = from; path !== null; ) {
      const { body } = await search(path);
      seen.push(...named(body));
      path = next(body);
    }
    return seen;
  };
  return { ...practice, addAnimal, place, walk };
}

const base = "http://localhost/id";

test("no order is missing in a walk or a mirror, though the clock of the server is set back", async () => {
  const { server, search, place, walk } = await orderingPractice();
  const orders = [await place("1"), await place("2"), await place("3")];
  const { body: start } = await search("ServiceRequest?_count=1");
  expect(named(start)).toEqual(orders.slice(0, 1));
  server.clock.now -= 3_600_000;
  const late = await place("4");
  expect(await place("2", { cancelled: true })).toBe(orders[1]);
  const rest = await walk(next(start));
  expect([...new Set(rest)].toSorted()).toEqual([...orders.slice(1), late].toSorted());
  const since = `ServiceRequest?_lastUpdated=ge${start.meta?.lastUpdated}`;
  expect(await walk(since)).toEqual(expect.arrayContaining([late, orders[1]]));
});

test("a mirror learns that an order has its results, which the clock of the server dates back", async () => {
  const { server, agent, search, place, read } = await orderingPractice();
  const order = await place("1");
  const { body } = await read<ServiceRequest>(order);
  expect(body.status).toBe("active");
  const { body: start } = await search("ServiceRequest");
  server.clock.now -= 3_600_000;
  const answer = study({
    patient_fp: fpOf("patient", (body.subject.reference ?? "").replace("Patient/", "")),
    order_fp: fpOf("order", body.id ?? "") ?? "",
    results: [{ analyte: "GLU", value: 5, unit: "mmol/L", reference_range: null, flag: null }],
  });
  expect(await server.push(agent, answer)).toMatchObject([{ outcome: "filed" }]);
  const { body: later } = await search(`ServiceRequest?_lastUpdated=ge${start.meta?.lastUpdated}`);
  expect(later.entry?.map(({ resource }) => [resource?.id, (resource as ServiceRequest).status])).toEqual([
    [body.id, "completed"],
  ]);
  // A study that the disk damaged keeps no order from the list.
  const beside = await connectTo(server.database);
  await beside.run(`update study set results = '[{' where fp = '${answer.fp}'`);
  await beside.close();
  expect((await read<ServiceRequest>(order)).body.status).toBe("active");
});

test("the orders of an animal leave with it, and come back with it", async () => {
  const { server, search, place, addAnimal, refusal } = await orderingPractice();
  const order = await place("1");
  server.clock.now += 60_000;
  await addAnimal("2");
  const { body: cats } = await search("Patient?identifier=1");
  const cat = fpOf("patient", cats.entry?.[0]?.resource?.id ?? "") ?? "";
  await importEntities(server.store, connection(cat, ours, false));
  expect((await refusal(order)).status).toBe(404);
  const { body: without } = await search("ServiceRequest");
  expect(named(without)).toEqual([]);
  await importEntities(server.store, connection(cat, ours));
  const { body: again } = await search(`ServiceRequest?_lastUpdated=ge${without.meta?.lastUpdated}`);
  expect(named(again)).toEqual([order]);
});

test("an escaped comma or bar belongs to the number, and names no other animal", async () => {
  const { search, addAnimal } = await orderingPractice();
  for (const number of ["A", "A,1", "A|1", "A\\1"]) await addAnimal(number);
  const find = async (value: string) => named((await search(`Patient?identifier=${encodeURIComponent(value)}`)).body);
  const one = await find("1");
  const found: [value: string, others: string[]][] = [
    ["A\\,1", []],
    ["A\\|1", []],
    ["A\\\\1", []],
    [`${base}/animal/pims|A\\,1`, []],
    [`${base}/animal/pims|A|1`, []],
    ["A\\,1,1", one],
  ];
  for (const [value, others] of found) {
    const animals = await find(value);
    expect([value, animals.length]).toEqual([value, 1 + others.length]);
    expect([value, animals.filter((each) => one.includes(each))]).toEqual([value, others]);
  }
});

test("a second clinic of an animal reads its studies, and neither the orders nor the numbers of the first", async () => {
  const { server, agent, place, read } = await orderingPractice();
  const order = await place("77");
  const { body } = await read<ServiceRequest>(order);
  const cat = fpOf("patient", (body.subject.reference ?? "").replace("Patient/", "")) ?? "";
  const sent = study({
    ...{ patient_fp: cat, order_fp: fpOf("order", body.id ?? "") ?? "" },
    source: { device_id: "chem-secret", message_id: "msg-secret", sample_ids: ["sample-secret"] },
  });
  await server.push(agent, sent);
  const theirs = newFp("clinic");
  await importEntities(server.store, clinic(theirs), connection(cat, theirs), connection(dog.fp, theirs));
  const key = await server.makeKey(theirs, ["clinic.patient.view"]);
  const responses = await Promise.all(
    [
      `Patient/${idOf(cat)}`,
      `DiagnosticReport?_id=${idOf(sent.fp)}&_include=DiagnosticReport:based-on&_include=DiagnosticReport:result`,
      `Specimen/${idOf(sent.fp)}`,
      "Observation",
      "ServiceRequest",
      "Device",
    ].map((path) => ask(server, key, path)),
  );
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  const text = JSON.stringify(responses.map(({ body: each }) => each));
  expect(text).toContain(idOf(sent.fp));
  const accession = body.identifier?.find(({ system }) => system === `${base}/accession`)?.value;
  for (const secret of ["-secret", "pims", "ServiceRequest/", String(accession)])
    expect([secret, text.includes(secret)]).toEqual([secret, false]);
  expect((await ask(server, key, order)).status).toBe(404);
});
