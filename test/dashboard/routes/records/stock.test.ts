import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { InventoryItem } from "../../../../shared/api/inventory.ts";
import type { Consumed, ItemDetail, ItemList } from "../../../../server/dashboard/types/stock.ts";
import type { Entity } from "../../../../server/import/lines.ts";
import { clinic, startServer } from "../../../server/harness.ts";
import { batch, item, publishedItem } from "../../../server/records.ts";
import { makeUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

interface Refusal {
  error: { code: string; message: string; details?: object };
}

async function withItems(...entities: Entity[]) {
  const server = await startServer(clinic(ours), clinic(theirs), entities);
  const staff = await makeUser(server, "staff", ours);
  const key = await server.makeKey(ours, ["clinic.inventory.view"]);
  const onHand = async (fp: string) => {
    const { items } = (await server.get(key, "/api/v1/inventory")).body.data as unknown as { items: InventoryItem[] };
    return items.find((each) => each.fp === fp)?.quantity_on_hand;
  };
  const receive = async (fp: string, quantity: number, lot: string | null, expiry_date: string | null) =>
    staff.call<ItemDetail & Refusal>("POST", `/stock/${fp}/receive`, { quantity, lot, expiry_date });
  const consume = async (fp: string, quantity: number, from?: number) =>
    staff.call<Consumed & Refusal>("POST", `/stock/${fp}/consume`, {
      quantity,
      ...(from !== undefined && { batch: from }),
    });
  return { server, staff, onHand, receive, consume };
}

const empty = { quantity_on_hand: 0 };

test("a new item has its first delivery, is served by the API, and a second one of the name is refused", async () => {
  const { server, staff, onHand } = await withItems();
  const body = { name: " Nobivac ", category: "VACCINE", unit: "vial", low_stock_threshold: 2 };
  const delivery = { quantity: 10, lot: "A1", expiry_date: "2027-06-30" };
  const add = async (changes: object = {}, by = staff) =>
    by.call<{ fp: string } & Refusal>("POST", "/stock", { ...body, ...delivery, ...changes });
  expect((await add({ expiry_date: "2027-02-30" })).status).toBe(400);
  expect((await add({ name: " " })).status).toBe(400);
  const { fp } = (await add()).body;
  const { body: stored } = await staff.call<ItemDetail>("GET", `/stock/${fp}`);
  expect(stored).toMatchObject({
    item: { name: "Nobivac", unit: "vial", quantity_on_hand: 10, low_stock_threshold: 2, currency: "TRY" },
    batches: [{ lot: "A1", quantity: 10, expiry_date: "2027-06-30" }],
    without_batch: 0,
  });
  expect(await onHand(fp)).toBe(10);
  expect((await add()).status).toBe(409);
  const service = await add({ name: "Visit", category: "SERVICE", unit: "" });
  expect((await staff.call<ItemDetail>("GET", `/stock/${service.body.fp}`)).body.item).toMatchObject({
    is_virtual: true,
    quantity_on_hand: 0,
  });
  expect((await add({ name: "Other" }, await makeUser(server, "reader", ours))).status).toBe(403);
});

test("deliveries add batches, and a vaccine is taken from the batch that expires first", async () => {
  const vaccine = item(ours, empty);
  const { server, onHand, receive, consume } = await withItems(vaccine);
  expect((await receive(vaccine.fp, 5, "LATE", "2027-06-30")).body.item.quantity_on_hand).toBe(5);
  server.clock.now += 1000;
  const { body } = await receive(vaccine.fp, 3, " EARLY ", "2027-01-31");
  expect(await onHand(vaccine.fp)).toBe(8);
  const id = expect.any(Number) as number;
  const fresh = { id, is_expired: false };
  const late = {
    ...fresh,
    lot: "LATE",
    quantity: 5,
    received_at: "2026-11-21T12:00:00.000Z",
    expiry_date: "2027-06-30",
  };
  const early = {
    ...fresh,
    lot: "EARLY",
    quantity: 3,
    received_at: "2026-11-21T12:00:01.000Z",
    expiry_date: "2027-01-31",
  };
  const published = publishedItem(vaccine);
  expect(body).toEqual({ item: { ...published, quantity_on_hand: 8 }, batches: [early, late], without_batch: 0 });

  const { body: consumed } = await consume(vaccine.fp, 4);
  expect(consumed).toEqual({
    item: { ...published, quantity_on_hand: 4 },
    batches: [{ ...late, quantity: 4 }],
    without_batch: 0,
    taken: [early, { ...late, quantity: 1 }],
    taken_without_batch: 0,
  });
  expect(await onHand(vaccine.fp)).toBe(4);
});

test("another category is taken from the oldest batch, and stock without a batch last", async () => {
  const gloves = item(ours, { category: "CONSUMABLE", quantity_on_hand: 10 });
  const old = batch(gloves.fp, { lot: "OLD", quantity: 2, expiry_date: "2030-01-01" });
  const fresh = batch(gloves.fp, {
    ...{ lot: "NEW", quantity: 3, expiry_date: "2026-12-01" },
    received_at: "2026-11-01T00:00:00.000Z",
  });
  const { consume } = await withItems(gloves, fresh, old);
  const { body } = await consume(gloves.fp, 7);
  expect([body.taken.map(({ lot, quantity }) => [lot, quantity]), body.taken_without_batch]).toEqual([
    [
      ["OLD", 2],
      ["NEW", 3],
    ],
    2,
  ]);
  expect([body.batches, body.without_batch, body.item.quantity_on_hand]).toEqual([[], 3, 3]);
});

test("an expired batch is given out only to somebody who chooses it, and is in the response and the audit", async () => {
  const vaccine = item(ours, { quantity_on_hand: 6 });
  const old = batch(vaccine.fp, { lot: "OLD", quantity: 4, expiry_date: "2026-11-20" });
  const fresh = batch(vaccine.fp, { lot: "NEW", quantity: 2, expiry_date: "2026-11-23" });
  const { server, staff, onHand, consume } = await withItems(vaccine, old, fresh);
  const listed = (await staff.call<ItemDetail>("GET", `/stock/${vaccine.fp}`)).body.batches;
  expect(listed.map(({ lot, is_expired }) => [lot, is_expired])).toEqual([
    ["NEW", false],
    ["OLD", true],
  ]);
  const refused = await consume(vaccine.fp, 3);
  expect([refused.status, refused.body.error.details, refused.body.error.message]).toEqual([
    409,
    { code: "STOCK.EXPIRED", values: ["3", "2"] },
    "Quantity is 3, at most 2 on hand that are not expired: choose an expired batch by itself.",
  ]);
  expect((await consume(vaccine.fp, 2)).body.taken.map(({ lot }) => lot)).toEqual(["NEW"]);
  expect((await consume(vaccine.fp, 1)).status).toBe(409);
  const { body } = await consume(vaccine.fp, 3, listed[1]?.id);
  expect(body.taken).toEqual([{ ...listed[1], quantity: 3 }]);
  expect(await onHand(vaccine.fp)).toBe(1);
  expect((await server.store.all(commands, {})).map(({ route }) => route)).toEqual([
    "stock consume",
    "stock consume: lot OLD, expired 2026-11-20",
  ]);
});

test("more than on hand is refused, and so are quantities that are not positive integers", async () => {
  const vaccine = item(ours, { quantity_on_hand: 2 });
  const { staff, onHand, receive, consume } = await withItems(vaccine);
  const { status, body } = await consume(vaccine.fp, 3);
  expect([status, body.error.message]).toEqual([409, "Quantity is 3, at most 2 on hand."]);
  for (const quantity of [0, -1, 1.5, "1", null, 1e300]) {
    for (const path of ["consume", "receive"]) {
      const given = path === "consume" ? { quantity } : { quantity, lot: null, expiry_date: null };
      const answer = await staff.call("POST", `/stock/${vaccine.fp}/${path}`, given);
      expect([quantity, path, answer.status]).toEqual([quantity, path, 400]);
    }
  }
  expect((await receive(vaccine.fp, 1, null, "2026-02-30")).status).toBe(400);
  expect((await receive(vaccine.fp, Number.MAX_SAFE_INTEGER, null, null)).status).toBe(409);
  expect(await onHand(vaccine.fp)).toBe(2);
});

test("equal deliveries at one moment add up in one batch", async () => {
  const vaccine = item(ours, empty);
  const { receive } = await withItems(vaccine);
  await receive(vaccine.fp, 2, null, null);
  const { body } = await receive(vaccine.fp, 3, null, null);
  expect([body.item.quantity_on_hand, body.batches.map(({ quantity }) => quantity)]).toEqual([5, [5]]);
});

test("a virtual item takes deliveries and consumption without any change", async () => {
  const fee = item(ours, { category: "SERVICE", is_virtual: true, low_stock_threshold: 0, ...empty });
  const { server, onHand, receive, consume } = await withItems(fee);
  const unchanged = { item: publishedItem(fee), batches: [], without_batch: 0 };
  expect(await consume(fee.fp, 5)).toMatchObject({
    status: 200,
    body: { ...unchanged, taken: [], taken_without_batch: 0 },
  });
  expect(await receive(fee.fp, 5, "L1", null)).toMatchObject({ status: 200, body: unchanged });
  expect(await onHand(fee.fp)).toBe(0);
  expect(await server.store.all(commands, {})).toEqual([]);
});

test("the list filters by category and low stock, and names the categories", async () => {
  const low = item(ours, { name: "Amoxicillin", category: "MEDICATION", quantity_on_hand: 9 });
  const enough = item(ours, { quantity_on_hand: 10 });
  const fee = item(ours, { name: "Visit", category: "SERVICE", is_virtual: true, low_stock_threshold: 0, ...empty });
  const { staff } = await withItems(low, enough, fee, item(theirs, { category: "FOOD" }));
  const list = async (search: string) => (await staff.call<ItemList>("GET", `/stock${search}`)).body;
  const names = async (search: string) => (await list(search)).items.map(({ name }) => name);
  const { items, ...page } = await list("");
  expect(items).toEqual([low, enough, fee].map(publishedItem));
  const categories = ["MEDICATION", "SERVICE", "VACCINE"];
  expect(page).toEqual({ total: 3, page: 1, page_size: 20, has_more: false, categories });
  expect(await names("?low=true")).toEqual(["Amoxicillin"]);
  expect(await names("?category=VACCINE")).toEqual(["Rabies vaccine"]);
  expect(await names("?category=VACCINE&low=true")).toEqual([]);
  expect((await staff.call("GET", "/stock?low=1")).status).toBe(400);
});

test("the audit has each change of stock with its user", async () => {
  const vaccine = item(ours);
  const { server, staff, receive, consume } = await withItems(vaccine);
  await receive(vaccine.fp, 1, null, null);
  await consume(vaccine.fp, 1);
  await consume(vaccine.fp, 1000);
  expect(await server.store.all(commands, {})).toEqual([
    { route: "stock receive", fp: vaccine.fp, user_id: staff.id },
    { route: "stock consume", fp: vaccine.fp, user_id: staff.id },
  ]);
});

const commands = query((db) =>
  db.selectFrom("audit").select(["route", "fp", "user_id"]).where("method", "=", "COMMAND").orderBy("id"),
);
