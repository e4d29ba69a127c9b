import { expect, test } from "vitest";
import type { MergeComparison } from "../../../../server/dashboard/types/animals.ts";
import type { PatientOverview } from "../../../../server/dashboard/types/patients.ts";
import type { ItemDetail, MovementList, StockMovement } from "../../../../server/dashboard/types/stock.ts";
import type { Entity } from "../../../../server/import/lines.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, importEntities, patient, startServer } from "../../../server/harness.ts";
import { batch, item } from "../../../server/records.ts";
import { makeUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

interface Refusal {
  error: { code: string; message: string; details?: { code: string; values: string[] } };
}

async function withItems(...entities: Entity[]) {
  const server = await startServer(clinic(ours), clinic(theirs), entities);
  const staff = await makeUser(server, "staff", ours);
  const post = async (path: string, body: object = {}) => {
    server.clock.now += 1000;
    return staff.call<ItemDetail & Refusal>("POST", `/stock/${path}`, body);
  };
  const movements = async (fp: string, search = "") =>
    (await staff.call<MovementList>("GET", `/stock/${fp}/movements${search}`)).body;
  /** The movements as a person reads them: reason, quantity, lot. */
  const read = async (fp: string) =>
    (await movements(fp)).items.map(({ reason, quantity, batch: of }) => [reason, quantity, of?.lot ?? null]);
  const newest = async (fp: string) => (await movements(fp)).items[0] as StockMovement;
  const undo = async (fp: string, id: number) => post(`${fp}/movements/${id}/undo`);
  return { server, staff, post, movements, read, newest, undo };
}

test("a delivery, a use for a patient, a loss and a count are movements, the newest first and by pages", async () => {
  const dog = patient({ name: "Çakıl" });
  const vaccine = item(ours, { quantity_on_hand: 0 });
  const { server, staff, post, movements, read } = await withItems(dog, connection(dog.fp, ours), vaccine);
  const first = { quantity: 5, lot: "A", expiry_date: "2027-01-31" };
  await post(`${vaccine.fp}/receive`, first);
  const { batches } = (
    await post(`${vaccine.fp}/receive`, { ...first, quantity: 3, lot: "B", expiry_date: "2027-06-30" })
  ).body;
  await post(`${vaccine.fp}/consume`, { quantity: 6, reason: "used", patient_fp: dog.fp });
  const lotB = batches[1]?.id;
  await post(`${vaccine.fp}/consume`, { quantity: 1, reason: "broken", batch: lotB });
  const { body: counted } = await post(`${vaccine.fp}/count`, { batch: lotB, quantity: 3 });
  expect([counted.item.quantity_on_hand, counted.batches.map(({ quantity }) => quantity)]).toEqual([3, [3]]);
  expect(await read(vaccine.fp)).toEqual([
    ["counted", 2, "B"],
    ["broken", -1, "B"],
    ["used", -1, "B"],
    ["used", -5, "A"],
    ["received", 3, "B"],
    ["received", 5, "A"],
  ]);
  const { items, ...page } = await movements(vaccine.fp, "?page=2&page_size=3");
  expect(page).toEqual({ total: 6, page: 2, page_size: 3, has_more: false });
  expect(items[0]).toEqual({
    id: expect.any(Number) as number,
    ...{ at: "2026-11-21T12:00:03.000Z", reason: "used", quantity: -5, by: staff.name },
    batch: { lot: "A", expiry_date: "2027-01-31" },
    patient: { fp: dog.fp, name: "Çakıl", species: "dog" },
    ...{ undoes: null, is_undone: false, can_undo: true },
  });
  const { used_stock } = (await staff.call<PatientOverview>("GET", `/patients/${dog.fp}`)).body;
  const used = { at: "2026-11-21T12:00:03.000Z", item: { fp: vaccine.fp, name: vaccine.name, unit: "vial" } };
  expect(used_stock).toEqual([
    { ...used, quantity: 1, lot: "B", by: staff.name },
    { ...used, quantity: 5, lot: "A", by: staff.name },
  ]);
  expect((await (await makeUser(server, "reader", ours)).call("GET", `/stock/${vaccine.fp}/movements`)).status).toBe(
    200,
  );
});

test("a patient of others is refused, and so is one for another reason than use", async () => {
  const cat = patient();
  const vaccine = item(ours);
  const { post, read } = await withItems(cat, connection(cat.fp, theirs), vaccine);
  expect((await post(`${vaccine.fp}/consume`, { quantity: 1, patient_fp: cat.fp })).status).toBe(404);
  expect((await post(`${vaccine.fp}/consume`, { quantity: 1, patient_fp: cat.fp, reason: "broken" })).status).toBe(400);
  expect((await post(`${vaccine.fp}/consume`, { quantity: 1, reason: "counted" })).status).toBe(400);
  expect(await read(vaccine.fp)).toEqual([["imported", 12, null]]);
});

test("an undo takes a movement back once, and the patient's page forgets it", async () => {
  const dog = patient();
  const vaccine = item(ours);
  const { server, staff, post, newest, undo, movements } = await withItems(dog, connection(dog.fp, ours), vaccine);
  await post(`${vaccine.fp}/consume`, { quantity: 4, patient_fp: dog.fp });
  const taken = await newest(vaccine.fp);
  expect((await undo(vaccine.fp, taken.id)).body.item.quantity_on_hand).toBe(12);
  const [counter, undone] = (await movements(vaccine.fp)).items;
  expect(counter).toMatchObject({
    ...{ reason: "undone", quantity: 4, can_undo: false, patient: { fp: dog.fp } },
    undoes: { at: taken.at, reason: "used" },
  });
  expect(undone).toEqual({ ...taken, is_undone: true, can_undo: false });
  expect((await staff.call<PatientOverview>("GET", `/patients/${dog.fp}`)).body.used_stock).toEqual([]);
  const again = await undo(vaccine.fp, taken.id);
  expect([again.status, again.body.error.details]).toEqual([409, { code: "STOCK.UNDO_TWICE", values: [] }]);
  expect((await undo(vaccine.fp, counter?.id ?? 0)).body.error.details?.code).toBe("STOCK.UNDO_KIND");
  const other = item(ours, { name: "Other" });
  await importEntities(server.store, other);
  expect((await undo(other.fp, taken.id)).status).toBe(404);
  expect((await undo(vaccine.fp, 999_999)).status).toBe(404);
  const foreign = await makeUser(server, "staff", theirs);
  const path = `/stock/${vaccine.fp}/movements`;
  expect([
    (await foreign.call("GET", path)).status,
    (await foreign.call("POST", `${path}/${taken.id}/undo`, {})).status,
  ]).toEqual([404, 404]);
});

test("an undo is refused after a count or an import of its batch, and where too little is left", async () => {
  const vaccine = item(ours, { quantity_on_hand: 5 });
  const lot = batch(vaccine.fp, { quantity: 5 });
  const { server, staff, post, newest, undo } = await withItems(vaccine, lot);
  const id = (await staff.call<ItemDetail>("GET", `/stock/${vaccine.fp}`)).body.batches[0]?.id;
  const refusalOf = async (movement: number) => (await undo(vaccine.fp, movement)).body.error.details;
  const take = async (quantity: number) => {
    await post(`${vaccine.fp}/consume`, { quantity, batch: id });
    return (await newest(vaccine.fp)).id;
  };
  const first = await take(2);
  await post(`${vaccine.fp}/count`, { batch: id, quantity: 3 });
  const counted = await newest(vaccine.fp);
  expect(counted).toMatchObject({ reason: "counted", quantity: 0 });
  expect(await refusalOf(first)).toEqual({ code: "STOCK.UNDO_COUNTED", values: [] });
  // An undone count does not protect what was before it.
  expect((await undo(vaccine.fp, counted.id)).status).toBe(200);
  expect((await undo(vaccine.fp, first)).body.item.quantity_on_hand).toBe(5);
  const second = await take(1);
  server.clock.now += 1000;
  await importEntities(server.store, { ...lot, quantity: 2 });
  expect(await refusalOf(second)).toEqual({ code: "STOCK.UNDO_COUNTED", values: [] });

  const received = (await post(`${vaccine.fp}/receive`, { quantity: 3, lot: "NEW", expiry_date: null })).body;
  const delivery = await newest(vaccine.fp);
  await post(`${vaccine.fp}/consume`, { quantity: 2, batch: received.batches.find((each) => each.lot === "NEW")?.id });
  expect(await refusalOf(delivery.id)).toEqual({ code: "STOCK.UNDO_USED", values: ["3", "1"] });
});

test("an undo is refused after the import of the item's total, and of half a count", async () => {
  const vaccine = item(ours, { quantity_on_hand: 10 });
  const lot = batch(vaccine.fp, { quantity: 10 });
  const { server, staff, post, newest, undo } = await withItems(vaccine, lot);
  const id = (await staff.call<ItemDetail>("GET", `/stock/${vaccine.fp}`)).body.batches[0]?.id;
  await post(`${vaccine.fp}/consume`, { quantity: 3, batch: id });
  const taken = await newest(vaccine.fp);
  server.clock.now += 1000;
  await importEntities(server.store, { ...vaccine, quantity_on_hand: 20 });
  const refused = { code: "STOCK.UNDO_COUNTED", values: [] };
  expect((await undo(vaccine.fp, taken.id)).body.error.details).toEqual(refused);

  // Less on hand than the lots hold: a count of the lot makes a second movement.
  server.clock.now += 1000;
  await importEntities(server.store, { ...vaccine, quantity_on_hand: 2 });
  server.clock.now += 1000;
  await post(`${vaccine.fp}/count`, { batch: id, quantity: 1 });
  const { id: last } = await newest(vaccine.fp);
  for (const half of [last, last - 1]) {
    expect((await undo(vaccine.fp, half)).status).toBe(409);
  }
});

test("a reader neither counts nor undoes, and a fee is not counted", async () => {
  const fee = item(ours, { category: "SERVICE", is_virtual: true, low_stock_threshold: 0, quantity_on_hand: 0 });
  const vaccine = item(ours);
  const { server, post, newest, movements } = await withItems(fee, vaccine);
  const reader = await makeUser(server, "reader", ours);
  expect((await reader.call("POST", `/stock/${vaccine.fp}/count`, { batch: null, quantity: 1 })).status).toBe(403);
  const { id } = await newest(vaccine.fp);
  expect((await reader.call("POST", `/stock/${vaccine.fp}/movements/${id}/undo`, {})).status).toBe(403);
  expect((await post(`${fee.fp}/count`, { batch: null, quantity: 3 })).body.item.quantity_on_hand).toBe(0);
  expect((await movements(fee.fp)).total).toBe(0);
});

test("uses go with their patient into a merge and back, and keep a patient from being undone", async () => {
  const vaccine = item(ours);
  const { staff, post, newest } = await withItems(vaccine);
  const none = { breed: null, sex: null, date_of_birth: null, weight_kg: null };
  const owner = { name: "Ayşe", phone: null, email: null, language: null, time_zone: null };
  const add = async (name: string) => {
    const body = { animal: { name, species: "dog", ...none, identifiers: [], owner }, seen: [] };
    return (await staff.call<{ fp: string; batch: string }>("POST", "/patients", body)).body;
  };
  const [dog, double] = [await add("Karabaş"), await add("Gece")];
  await post(`${vaccine.fp}/consume`, { quantity: 2, patient_fp: double.fp });
  const usedFor = async (fp: string) =>
    (await staff.call<PatientOverview>("GET", `/patients/${fp}`)).body.used_stock.map(({ quantity }) => quantity);
  const undo = async (batchFp: string) => staff.call<Refusal>("POST", `/changes/${batchFp}/undo`, {});
  expect((await undo(double.batch)).body.error.details?.code).toBe("UNDO.IN_USE");
  const { version } = (await staff.call<MergeComparison>("GET", `/patients/${dog.fp}/merge/${double.fp}`)).body;
  const body = { merged: double.fp, version };
  const merged = await staff.call<{ batch: string }>("POST", `/patients/${dog.fp}/merge`, body);
  expect(await usedFor(dog.fp)).toEqual([2]);
  expect((await newest(vaccine.fp)).patient?.name).toBe("Karabaş");
  expect((await undo(merged.body.batch)).status).toBe(200);
  expect([await usedFor(dog.fp), await usedFor(double.fp)]).toEqual([[], [2]]);
});
