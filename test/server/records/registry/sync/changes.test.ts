import { describe, expect, test } from "vitest";
import { query, uncachedWrite } from "../../../../../server/database/query.ts";
import { placeOrder } from "../../../../../server/records/orders/orders.ts";
import { undoBatch } from "../../../../../server/records/registry/undo.ts";
import { newFp } from "../../../../../shared/api/fp.ts";
import type { RegistryOutcome } from "../../../../../shared/api/agent/registry.ts";
import { makeUser } from "../../../../dashboard/harness.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  patient as lineOfPatient,
  startServer,
  study,
  type TestServer,
} from "../../../harness.ts";

// An agent brings the changes of practice software. Method: requests to the API of a server. Runs on both engines.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

const pamuk = {
  external_id: "00417",
  name: "Pamuk",
  species: "448169003",
  sex: "F^Y",
  date_of_birth: "2020-02-29",
  weight_kg: 4.2,
  identifiers: [
    { type: "card", value: "00417" },
    { type: "microchip", value: "900085000123456" },
  ],
  replaced: ["microchip"],
  owner: { external_id: "3001", name: "Ada Örnek", phone: "+905550000000" },
};

async function practice() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const key = await server.makeKey(ours, keyPermissions);
  let keys = 0;
  const send = async (...changes: object[]) => {
    const numbered = changes.map((change, id) => ({ id: 7 + id, key: `01JD/${++keys}`, ...change }));
    const payload = { source: "PIMS", changes: numbered };
    const asked = { method: "POST" as const, url: "/agent/v1/registry", headers: { "x-api-key": key }, payload };
    const response = await server.app.inject(asked);
    if (response.statusCode !== 200) throw new Error(response.body);
    return response.json<{ outcomes: RegistryOutcome[] }>().outcomes;
  };
  return {
    server,
    key,
    send,
    patient: async (item: object, more: object = {}) => (await send({ kind: "patient", item, ...more }))[0]!,
    animals: async () => (await server.get(key, "/api/v1/patients?page_size=100")).body.data.items,
    numbers: async () => (await server.store.all(numbersOf, {})).map(({ identifier }) => identifier),
    owners: async () => server.store.all(ownersOf, {}),
    orders: async () => server.store.all(ordersOf, {}),
  };
}

const numbersOf = query((db) =>
  db.selectFrom("patient_identifier").select("identifier").orderBy("patient_id").orderBy("position"),
);
const ownersOf = query((db) => db.selectFrom("customer").select(["name", "phone", "email"]).orderBy("id"));
const ownersByAnimal = query((db) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .select(["customer.name", "customer.phone"])
    .orderBy("patient.id"),
);
const shareOwner = uncachedWrite((db) =>
  db
    .updateTable("patient")
    .set((set) => ({ owner_customer_id: set.selectFrom("customer").select(set.fn.max("id").as("last")) })),
);
const ordersOf = query((db) =>
  db
    .selectFrom("lab_order")
    .select(["placer_number", "tests", "device_id", "panel", "cancelled_at"])
    .orderBy("lab_order.id"),
);
const batches = query((db) => db.selectFrom("batch").select(["fp", "door", "source", "clinic_id"]).orderBy("id"));

describe("an animal", () => {
  test("is created with its owner, and the same change again changes nothing", async () => {
    const { patient, animals, numbers, owners } = await practice();
    const created = await patient(pamuk);
    expect(created).toMatchObject({ id: 7, outcome: "created", code: null, reason: null });
    const facts = { name: "Pamuk", species: "cat", sex: "female_spayed", date_of_birth: "2020-02-29", weight_kg: 4.2 };
    const before = await animals();
    expect(before).toMatchObject([{ fp: created.fp, ...facts }]);
    expect(await numbers()).toEqual(["00417", "900085000123456"]);
    expect(await owners()).toEqual([{ name: "Ada Örnek", phone: "+905550000000", email: null }]);
    expect(await patient(pamuk)).toEqual({ ...created, outcome: "unchanged" });
    expect(await animals()).toEqual(before);
  });

  test("keeps what a change leaves out, and loses what is null", async () => {
    const { patient, animals, owners } = await practice();
    await patient(pamuk);
    expect(await patient({ external_id: "00417" })).toMatchObject({ outcome: "unchanged" });
    await patient({ external_id: "00417", weight_kg: 5, owner: { email: "ada@example.com" } });
    expect(await animals()).toMatchObject([{ name: "Pamuk", sex: "female_spayed", weight_kg: 5 }]);
    await patient({ external_id: "00417", weight_kg: null, sex: null, owner: { phone: null } });
    expect(await animals()).toMatchObject([{ date_of_birth: "2020-02-29", weight_kg: null, sex: null }]);
    expect(await owners()).toEqual([{ name: "Ada Örnek", phone: null, email: "ada@example.com" }]);
  });

  test("keeps its card numbers and replaces its microchip", async () => {
    const { patient, numbers } = await practice();
    await patient(pamuk);
    await patient({ external_id: "00417", identifiers: [{ type: "card", value: "K-1" }] });
    expect(await numbers()).toEqual(["00417", "900085000123456", "K-1"]);
    const chip = { identifiers: [{ type: "microchip", value: "900085000999999" }], replaced: ["microchip"] };
    await patient({ external_id: "00417", ...chip });
    expect(await numbers()).toEqual(["00417", "K-1", "900085000999999"]);
    await patient({ external_id: "00417", replaced: ["microchip"] });
    expect(await numbers()).toEqual(["00417", "K-1"]);
  });

  test("without an owner has one of its own, whose name may come later or change", async () => {
    const { patient, owners, animals } = await practice();
    const { owner: _owner, ...alone } = pamuk;
    const { fp } = await patient(alone);
    await patient({ ...alone, external_id: "00418", identifiers: [] });
    expect(await owners()).toEqual([
      { name: null, phone: null, email: null },
      { name: null, phone: null, email: null },
    ]);
    const ownerOf = async () => (await animals()).find((animal) => animal.fp === fp)?.owner_customer_fp;
    const before = await ownerOf();
    await patient({ external_id: "00417", owner: { name: "Örnek" } });
    await patient({ external_id: "00417", owner: { name: "Yıldız" } });
    expect(await ownerOf()).toBe(before);
    expect((await owners()).map(({ name }) => name)).toEqual(["Yıldız", null]);
    // A number names another owner; a name alone never does.
    await patient({ external_id: "00417", owner: { external_id: "3001", name: "Yıldız" } });
    expect((await owners()).map(({ name }) => name)).toEqual(["Yıldız", null, "Yıldız"]);
    await patient({ external_id: "00417", owner: { name: "Kaya" } });
    expect((await owners()).map(({ name }) => name)).toEqual(["Yıldız", null, "Kaya"]);
    expect(await ownerOf()).not.toBe(before);
  });

  test("whose owner has other animals gets one of its own by another name, and theirs stays", async () => {
    const { server, patient, owners, animals } = await practice();
    const more = { identifiers: [], replaced: [] };
    await patient(pamuk);
    await patient({ ...pamuk, ...more, external_id: "00418" });
    const ownersOfAll = async () =>
      server.store.all(ownersByAnimal, {}).then((rows) => rows.map(({ name, phone }) => [name, phone]));
    const ada = ["Ada Örnek", "+905550000000"];
    // The same name in other letters, and no name, are of the stored owner.
    await patient({ external_id: "00417", owner: { name: "ADA ÖRNEK", phone: "1" } });
    expect(await ownersOfAll()).toEqual([
      ["ADA ÖRNEK", "1"],
      ["ADA ÖRNEK", "1"],
    ]);
    await patient({ external_id: "00417", owner: pamuk.owner });
    await patient({ external_id: "00417", owner: { name: "Yıldız" } });
    expect(await ownersOfAll()).toEqual([["Yıldız", null], ada]);
    // The id still names the owner of the other animal.
    await patient({ external_id: "00418", owner: { external_id: "3001" } });
    await patient({ external_id: "00417", owner: { name: "Kaya", phone: "2" } });
    expect(await ownersOfAll()).toEqual([["Kaya", "2"], ada]);
    expect(await owners()).toHaveLength(2);
    // A user gives the owner a second animal.
    await server.store.transaction((session) => session.all(shareOwner, {}));
    await patient({ external_id: "00417", owner: { name: "Demir" } });
    expect(await ownersOfAll()).toEqual([
      ["Demir", null],
      ["Kaya", "2"],
    ]);
    await patient({ external_id: "00418", owner: { phone: "3" } });
    expect(await ownersOfAll()).toEqual([
      ["Demir", null],
      ["Kaya", "3"],
    ]);
    expect(await animals()).toHaveLength(2);
  });

  test("that is dead keeps its first time of death, and lives again if that was wrong", async () => {
    const { patient, server } = await practice();
    const died = query((db) => db.selectFrom("patient").select("deceased_at"));
    const time = async () => (await server.store.first(died, {}))?.deceased_at;
    await patient({ ...pamuk, dead_by: "2026-11-20T10:00:00.000Z" });
    await patient({ external_id: "00417", dead_by: "2026-11-21T10:00:00.000Z" });
    expect(await time()).toBe(Date.parse("2026-11-20T10:00:00.000Z"));
    await patient({ external_id: "00417", weight_kg: 4 });
    expect(await time()).toBe(Date.parse("2026-11-20T10:00:00.000Z"));
    await patient({ external_id: "00417", deceased_at: null });
    expect(await time()).toBeNull();
  });

  test("that is removed keeps its results, and comes back with all its facts", async () => {
    const { server, key, patient, animals } = await practice();
    const { fp } = await patient(pamuk);
    const sent = study({ patient_fp: fp });
    await server.push(key, sent);
    expect(await patient({ external_id: "00417", deleted: true })).toMatchObject({ outcome: "deleted", fp });
    expect(await patient({ external_id: "00417", deleted: true })).toMatchObject({ outcome: "unchanged" });
    expect(await animals()).toEqual([]);
    expect(await patient({ external_id: "00417" })).toMatchObject({ outcome: "updated", fp });
    expect(await animals()).toMatchObject([{ fp, name: "Pamuk", weight_kg: 4.2 }]);
    expect((await server.get(key, `/api/v1/lab/diagnostics/${sent.fp}`)).body.data.patient_fp).toBe(fp);
  });

  test("without a species, or with a number that lost digits, is refused with a code, and the next one is stored", async () => {
    const { send, animals } = await practice();
    const chip = { identifiers: [{ type: "microchip", value: "9.85112E+14" }] };
    const outcomes = await send(
      { kind: "patient", item: { external_id: "1", name: "Boncuk" } },
      { kind: "patient", item: { ...pamuk, ...chip } },
      { kind: "patient", item: { external_id: 1 } },
      { kind: "appointment" },
      { kind: "patient", item: { ...pamuk, external_id: "417" } },
    );
    expect(outcomes.map(({ outcome, code }) => [outcome, code])).toEqual([
      ["rejected", "REGISTRY.MISSING"],
      ["rejected", "REGISTRY.LOST_DIGITS"],
      ["rejected", expect.stringContaining("REGISTRY.")],
      ["rejected", expect.stringContaining("REGISTRY.")],
      ["created", null],
    ]);
    expect(outcomes[0]?.reason).toContain("species is missing");
    expect(await animals()).toHaveLength(1);
  });

  test("of an order is created if it is new, and else keeps its facts", async () => {
    const { patient, animals } = await practice();
    await patient(pamuk, { only_new: true });
    expect(await patient({ ...pamuk, name: "Pam" }, { only_new: true })).toMatchObject({ outcome: "unchanged" });
    expect(await animals()).toMatchObject([{ name: "Pamuk" }]);
  });
});

async function undone(server: TestServer, batch: { fp: string; clinic_id: number } | undefined) {
  const { now } = server.clock;
  const undo = { clinicId: batch?.clinic_id ?? 0, fp: batch?.fp ?? "" };
  const context = { now, clock: () => now, served: null };
  return server.store.transaction((session) => undoBatch(session, undo, context));
}

describe("a message that the agent got earlier", () => {
  const at = (updated_at: string, item: object = {}) => ({ external_id: "00417", updated_at, ...item });

  test("changes neither the animal nor owners after a later one, and one without a time counts when it arrives", async () => {
    const { patient, animals, owners } = await practice();
    await patient({ ...pamuk, ...at("2026-11-20T10:00:00.000Z") });
    await patient({ ...pamuk, external_id: "00418", identifiers: [], replaced: [] });
    await patient(at("2026-11-20T12:00:00.000Z", { weight_kg: 5 }));
    const before = [await animals(), await owners()];
    const older = at("2026-11-20T11:00:00.000Z", { weight_kg: 3, owner: { name: "Yıldız" } });
    expect(await patient(older)).toMatchObject({ outcome: "unchanged", code: "REGISTRY.OLDER" });
    expect(await patient({ ...older, deleted: true })).toMatchObject({ outcome: "unchanged", code: "REGISTRY.OLDER" });
    expect([await animals(), await owners()]).toEqual(before);
    expect(await patient({ external_id: "00417", weight_kg: 6 })).toMatchObject({ outcome: "updated", code: null });
    expect(await patient(older)).toMatchObject({ code: "REGISTRY.OLDER" });
    const same = at("2026-11-20T12:00:00.000Z", { weight_kg: 7 });
    expect(await patient(same)).toMatchObject({ outcome: "updated", code: null });
  });

  test("is no later than its arrival if the clock of the agent is ahead, and is refused without a time that exists", async () => {
    const { server, patient } = await practice();
    expect(await patient({ ...pamuk, ...at("2031-01-01T00:00:00.000Z") })).toMatchObject({ outcome: "created" });
    server.clock.now += 1000;
    const now = new Date(server.clock.now).toISOString();
    expect(await patient(at(now, { weight_kg: 5 }))).toMatchObject({ outcome: "updated" });
    for (const wrong of [at("2026-02-30T00:00:00Z"), at("now", { deleted: true })]) {
      expect(await patient(wrong)).toMatchObject({ outcome: "rejected", code: "REGISTRY.NOT_A_TIME" });
    }
  });

  test("does not bring back an animal that was removed before it came", async () => {
    const { patient, animals } = await practice();
    await patient(at("2026-11-20T12:00:00.000Z", { deleted: true }));
    expect(await patient({ ...pamuk, ...at("2026-11-20T11:00:00.000Z") })).toMatchObject({ code: "REGISTRY.OLDER" });
    expect(await animals()).toEqual([]);
  });

  test("of a merged animal does not overwrite the survivor", async () => {
    const { server, send, patient, animals } = await practice();
    await patient({ ...pamuk, ...at("2026-11-20T12:00:00.000Z"), external_id: "1" });
    await patient({ ...pamuk, ...at("2026-11-20T10:00:00.000Z"), external_id: "2", identifiers: [] });
    await send({ kind: "merge", survivor: "2", merged: "1" });
    const older = { ...pamuk, ...at("2026-11-20T11:00:00.000Z"), weight_kg: 3 };
    expect(await patient({ ...older, external_id: "1" })).toMatchObject({ outcome: "unchanged" });
    expect(await animals()).toMatchObject([{ weight_kg: 4.2 }]);
    // A later message of the survivor does not stop the undo of the merge.
    await patient({ ...at("2026-11-20T13:00:00.000Z"), external_id: "2", weight_kg: 5 });
    const merge = (await server.store.all(batches, {})).find(({ door }) => door === "merge");
    expect(await undone(server, merge)).toMatchObject({ undone: true });
    expect(await animals()).toHaveLength(2);
  });
});

test("an animal that a file brought is taken by its microchip, and keeps what the change leaves out", async () => {
  const chip = "900085000123456";
  const known = lineOfPatient({ name: "Pamuk", species: "cat", weight_kg: 4.5, external_ids: [chip, "K-7"] });
  const { server, patient: store, animals, numbers } = await practice();
  await importEntities(server.store, known, connection(known.fp, ours));
  const { identifiers, replaced } = pamuk;
  const item = { external_id: "00417", name: "Pamuk", species: "Kedi", identifiers, replaced };
  expect(await store(item)).toMatchObject({ fp: known.fp });
  expect(await animals()).toMatchObject([{ fp: known.fp, weight_kg: 4.5, owner_customer_fp: known.owner_customer_fp }]);
  expect(await numbers()).toEqual([chip, "K-7", "00417"]);
  expect(await store(item)).toMatchObject({ outcome: "unchanged", fp: known.fp });
  // The chip of another software's animal is a doubt, not the same animal.
  expect(await store({ ...item, external_id: "00500" })).toMatchObject({ outcome: "created" });
});

test("the animals of another clinic with the same ids stay as they are", async () => {
  const { server, patient, animals, send } = await practice();
  const created = await patient(pamuk);
  const key = await server.makeKey(theirs, keyPermissions);
  const changes = [
    { id: 0, key: "01JD/1", kind: "patient", item: { ...pamuk, name: "Other" } },
    { id: 1, key: "01JD/2", kind: "patient", item: { external_id: "00417", deleted: true } },
    { id: 2, key: "01JD/3", kind: "merge", survivor: "00417", merged: "00418" },
  ];
  const payload = { source: "PIMS", changes };
  const asked = { method: "POST" as const, url: "/agent/v1/registry", headers: { "x-api-key": key }, payload };
  const { outcomes } = (await server.app.inject(asked)).json<{ outcomes: RegistryOutcome[] }>();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["created", "deleted", "rejected"]);
  expect(outcomes[0]?.fp).not.toBe(created.fp);
  expect(await animals()).toMatchObject([{ fp: created.fp, name: "Pamuk" }]);
  expect(await send({ kind: "patient", item: pamuk })).toMatchObject([{ outcome: "unchanged" }]);
});

describe("merges", () => {
  const merge = (survivor: string, merged: string) => ({ kind: "merge", survivor, merged });
  const animal = (external_id: string) => ({
    kind: "patient",
    item: { ...pamuk, external_id, identifiers: [{ type: "card", value: external_id }], replaced: [] },
  });

  test("are stored once, in chains, and later changes of a merged id go to the survivor with that said", async () => {
    const { send, animals, numbers } = await practice();
    const [a, b, c] = await send(animal("A"), animal("B"), animal("C"));
    const chain = [merge("B", "A"), merge("C", "B")];
    expect(await send(...chain)).toMatchObject([
      { outcome: "merged", fp: b?.fp },
      { outcome: "merged", fp: c?.fp },
    ]);
    expect(await send(...chain, ...chain)).toMatchObject(
      Array.from({ length: 4 }, () => ({ outcome: "unchanged", fp: c?.fp })),
    );
    expect(await animals()).toMatchObject([{ fp: c?.fp }]);
    expect(await send({ kind: "patient", item: { external_id: "A", name: "Renamed" } })).toMatchObject([
      { outcome: "updated", fp: c?.fp, code: "REGISTRY.MERGED" },
    ]);
    expect(await send({ kind: "patient", item: { external_id: "A", deleted: true } })).toMatchObject([
      { outcome: "unchanged", code: "REGISTRY.MERGED" },
    ]);
    expect(await animals()).toMatchObject([{ fp: c?.fp, name: "Renamed" }]);
    expect(await numbers()).toEqual(expect.arrayContaining(["A", "B", "C"]));
    expect(a?.fp).not.toBe(c?.fp);
  });

  test("that are circular, or of unknown animals, are refused", async () => {
    const { send } = await practice();
    await send(animal("A"), animal("B"), merge("B", "A"));
    expect((await send(merge("A", "B"), merge("X", "B"), merge("B", "B"))).map(({ code }) => code)).toEqual([
      "REGISTRY.CIRCLE",
      "REGISTRY.UNKNOWN_SURVIVOR",
      "REGISTRY.SAME",
    ]);
  });

  test("of a changed id there are none: both ids name the animal, and an id of another one is refused", async () => {
    const { send, animals } = await practice();
    const [a] = await send(animal("A"), animal("B"));
    const rename = { kind: "rename", from: "A", to: "N" };
    expect(await send(rename, rename)).toMatchObject([
      { outcome: "updated", fp: a?.fp },
      { outcome: "unchanged", fp: a?.fp },
    ]);
    for (const external_id of ["A", "N"]) {
      expect(await send({ kind: "patient", item: { external_id, weight_kg: 3 } })).toMatchObject([{ fp: a?.fp }]);
    }
    expect((await send({ ...rename, to: "B" }, { ...rename, from: "X" })).map(({ code }) => code)).toEqual([
      "REGISTRY.ID_TAKEN",
      "REGISTRY.UNKNOWN_ID",
    ]);
    expect(await animals()).toHaveLength(2);
  });
});

describe("orders", () => {
  const ordered_at = "2026-11-21T06:50:00.000Z";
  const order = (more: object = {}) => ({
    kind: "order",
    item: { external_id: "10231", patient: "00417", tests: ["ALT", "CREA"], ordered_at, ...more },
  });

  test("are placed once under their number, cancelled, and stay cancelled", async () => {
    const { send, patient, orders } = await practice();
    await patient(pamuk);
    const [placed] = await send(order());
    expect(placed).toMatchObject({ outcome: "created", code: null });
    expect(await send(order())).toEqual([{ ...placed, outcome: "unchanged" }]);
    const cancelled = order({ cancelled: true, tests: undefined });
    expect(await send(cancelled, cancelled)).toMatchObject([{ outcome: "updated" }, { outcome: "unchanged" }]);
    expect(await send(order())).toMatchObject([{ outcome: "unchanged", code: "REGISTRY.CANCELLED" }]);
    expect(await orders()).toMatchObject([{ placer_number: "10231", cancelled_at: expect.anything() }]);
  });

  test("of an unknown animal, of unknown tests, of other tests under one number are refused", async () => {
    const { send, patient, orders } = await practice();
    expect((await send(order()))[0]).toMatchObject({ outcome: "rejected", code: "REGISTRY.UNKNOWN_PATIENT" });
    await patient(pamuk);
    expect((await send(order({ tests: ["CHEM10"] })))[0]).toMatchObject({ code: "REGISTRY.UNKNOWN_TEST" });
    await send(order());
    expect((await send(order({ tests: ["GLU"] })))[0]).toMatchObject({ code: "REGISTRY.CHANGED" });
    expect((await send(order({ external_id: "1", tests: undefined, cancelled: true })))[0]?.outcome).toBe("rejected");
    expect(await orders()).toHaveLength(1);
  });

  test("are not cancelled by a cancellation of some of their tests, but by one of all tests in any order", async () => {
    const { send, patient, orders } = await practice();
    await patient(pamuk);
    await send(order());
    const [part] = await send(order({ cancelled: true, tests: ["alt"] }));
    expect(part).toMatchObject({ outcome: "rejected", code: "REGISTRY.PART_OF_ORDER" });
    expect(await orders()).toMatchObject([{ cancelled_at: null }]);
    expect((await send(order({ cancelled: true, tests: ["CREA", "alt"] })))[0]).toMatchObject({ outcome: "updated" });
  });

  test("of a merged animal are the survivor's", async () => {
    const { send } = await practice();
    const other = { kind: "patient", item: { ...pamuk, external_id: "B" } };
    await send({ kind: "patient", item: pamuk }, other, { kind: "merge", survivor: "B", merged: "00417" });
    expect((await send(order()))[0]).toMatchObject({ outcome: "created" });
  });

  test("by the name of a panel of the clinic have its tests and its device, and repeat when the panel changed", async () => {
    const { server, send, patient, orders } = await practice();
    await patient(pamuk);
    const { id } = await makeUser(server, "staff", ours);
    await addPanel(server, id, ["ALT", "CREA"]);
    const named = order({ tests: ["CHEM 10"] });
    expect(await send(named)).toMatchObject([{ outcome: "created" }]);
    await addPanel(server, id, ["GLU"]);
    expect(await send(named)).toMatchObject([{ outcome: "unchanged", code: null }]);
    expect((await orders()).filter(({ placer_number }) => placer_number !== null)).toMatchObject([
      { tests: '["ALT","CREA"]', device_id: "chem-1", panel: "Chem 10" },
    ]);
  });
});

/** Adds an order of a user with the panel. */
async function addPanel(server: TestServer, userId: number, tests: readonly string[]): Promise<void> {
  const { now } = server.clock;
  const one = query((db) =>
    db.selectFrom("clinic_patient").select(["clinic_id as clinicId", "patient_id as patientId"]).limit(1),
  );
  await server.store.transaction(async (session) => {
    const ids = await session.first(one, {});
    if (ids === undefined) throw new Error("expected an animal");
    const placed = { ...ids, device: "chem-1", panel: "Chem 10", tests, placer: null, orderedAt: now };
    await placeOrder(session, { ...placed, by: { userId } }, now);
  });
}

describe("a change that comes again under its key", () => {
  const animal = (key: string, item: object) => ({
    key,
    kind: "patient",
    item: { ...pamuk, identifiers: [], ...item },
  });

  test("is not applied again, and has its outcome again", async () => {
    const { send, animals } = await practice();
    await send(animal("a", { external_id: "2", name: "Survivor" }));
    const lost = [animal("b", { external_id: "1" }), { key: "c", kind: "merge", survivor: "2", merged: "1" }];
    const outcomes = await send(...lost);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["created", "merged"]);
    expect(await send(...lost)).toEqual(outcomes);
    expect(await animals()).toMatchObject([{ name: "Survivor" }]);
  });

  test("does not overwrite what a user saved meanwhile", async () => {
    const { server, send, animals } = await practice();
    const lost = animal("a", { external_id: "1" });
    const [{ fp } = { fp: "" }] = await send(lost);
    const staff = await makeUser(server, "staff", ours);
    const { body: form } = await staff.call<{ animal: object; version: string }>("GET", `/patients/${fp}/edit`);
    const saved = { animal: { ...form.animal, weight_kg: 5 }, seen: [], version: form.version };
    expect(await staff.call("PUT", `/patients/${fp}`, saved)).toMatchObject({ status: 200 });
    await send(lost);
    expect(await animals()).toMatchObject([{ weight_kg: 5 }]);
  });

  test("is known in shorter and longer requests, and in requests at the same time", async () => {
    const { send, animals } = await practice();
    const [a, b, c] = ["a", "b", "c"].map((key) => animal(key, { external_id: key }));
    const first = await Promise.all([send(a!, b!), send(a!, b!)]);
    expect(first[0]).toMatchObject([{ outcome: "created" }, { outcome: "created" }]);
    expect(first[1]).toEqual(first[0]);
    expect(await send(a!)).toEqual(first[0].slice(0, 1));
    const [second, third] = await send(b!, c!);
    expect(second).toEqual({ ...first[0][1], id: 7 });
    expect(third).toMatchObject({ outcome: "created" });
    expect(await animals()).toHaveLength(3);
  });

  test("stays rejected, and is stored under a new key", async () => {
    const { send, patient } = await practice();
    const merge = { kind: "merge", survivor: "00417", merged: "1" };
    const refused = await send({ key: "a", ...merge });
    expect(refused).toMatchObject([{ outcome: "rejected", code: "REGISTRY.UNKNOWN_SURVIVOR" }]);
    await patient(pamuk);
    expect(await send({ key: "a", ...merge })).toEqual(refused);
    expect(await send({ key: "b", ...merge })).toMatchObject([{ outcome: "merged" }]);
  });

  test("is known for 30 days, among the last 100 of its agent and source", async () => {
    const { server, send } = await practice();
    const kept = query((db) => db.selectFrom("registry_answer").select(["source", "answers"]));
    const invalid = (from: number) => Array.from({ length: 50 }, (_, index) => ({ key: String(from + index) }));
    for (const from of [0, 50, 100]) await send(...invalid(from));
    const [row] = await server.store.all(kept, {});
    const keys = (JSON.parse(row!.answers) as [string, unknown][]).map(([key]) => key);
    expect(keys).toEqual(Array.from({ length: 100 }, (_, index) => String(50 + index)));
    server.clock.now += 30 * 24 * 3_600_000;
    const key = await server.makeKey(ours, keyPermissions);
    const payload = { source: "OTHER", changes: [] };
    await server.app.inject({ method: "POST", url: "/agent/v1/registry", headers: { "x-api-key": key }, payload });
    expect(await server.store.all(kept, {})).toEqual([{ source: "OTHER", answers: "[]" }]);
  });
});

test("the batch of a request can be undone, and has the door", async () => {
  const { server, send, animals, owners } = await practice();
  await send({ kind: "patient", item: pamuk });
  const [batch] = await server.store.all(batches, {});
  expect(batch).toMatchObject({ door: "hl7", source: "PIMS" });
  expect(await undone(server, batch)).toMatchObject({ undone: true });
  expect([await animals(), await owners()]).toEqual([[], []]);
});

test("a body that is no list of changes is refused, and so is a key without the permission", async () => {
  const { server, send } = await practice();
  await expect(send(...Array.from({ length: 51 }, () => ({ kind: "merge" })))).rejects.toThrow("REQUEST.INVALID_BODY");
  for (const wrong of [undefined, "", "x".repeat(65)]) {
    await expect(send({ key: wrong, kind: "merge" })).rejects.toThrow("REQUEST.INVALID_BODY");
  }
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  const asked = { method: "POST" as const, url: "/agent/v1/registry", payload: { source: "PIMS", changes: [] } };
  const response = await server.app.inject({ ...asked, headers: { "x-api-key": key } });
  expect(response.statusCode).toBe(403);
});
