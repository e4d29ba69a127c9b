import { assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { query } from "../../../server/database/query.ts";
import { consumeStock } from "../../../server/records/inventory/stock.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { InventoryItem } from "../../../shared/api/inventory.ts";
import { clinic, importEntities, noon, startServer, type TestServer } from "../harness.ts";
import { batch, item, publishedItem } from "../records.ts";

const used = { reason: "used", user_id: null, at: noon } as const;
const ours = newFp("clinic");
const theirs = newFp("clinic");

interface Page {
  items: InventoryItem[];
  total: number;
  page: number;
  page_size: number;
  has_more: boolean;
}

describe("GET /api/v1/inventory", () => {
  test("category and low_stock_only filter alone and together, on all pages", async () => {
    const categories = ["MEDICATION", "VACCINE", "CONSUMABLE"];
    const items = Array.from({ length: 120 }, (_, index) =>
      item(ours, {
        // Several items share a name, so the order also depends on the fp.
        name: ["Ağ", "Amoxicillin", "Zoletil"][index % 3] ?? "",
        category: categories[index % 4] ?? "SERVICE",
        quantity_on_hand: index % 5,
        low_stock_threshold: 2,
      }),
    );
    const get = await reader(await startServer(clinic(ours), clinic(theirs), items, item(theirs)));
    const ordered = items.toSorted((a, b) => compare(a.name, b.name) || compare(a.fp, b.fp));
    const filters = record({
      pageSize: integer({ min: 1, max: 100 }),
      category: constantFrom(null, ...categories, "SERVICE", "vaccine", "FOOD", "", "%00"),
      low: constantFrom(null, "true", "false"),
    });
    await assert(
      asyncProperty(filters, async ({ pageSize, category, low }) => {
        const parameters = `?page_size=${pageSize}${category === null ? "" : `&category=${category}`}${low ? `&low_stock_only=${low}` : ""}`;
        const walked: string[] = [];
        const expected = ordered.filter(
          (one) =>
            (category === null || one.category === category) &&
            (low !== "true" || one.quantity_on_hand < one.low_stock_threshold),
        );
        for (let page = 1, more = true; more; page += 1) {
          const { data } = await get(`${parameters}&page=${page}`);
          expect(data.total).toBe(expected.length);
          walked.push(...data.items.map(({ fp }) => fp));
          more = data.has_more;
        }
        expect(walked).toEqual(expected.map(({ fp }) => fp));
      }),
      { numRuns: 40 },
    );
  });
});

describe("stock", () => {
  test("stock is consumed in the order of the batches, and a refused consumption changes nothing", async () => {
    const vaccine = item(ours, { quantity_on_hand: 12 });
    const server = await startServer(clinic(ours), clinic(theirs), vaccine, [
      batch(vaccine.fp, { lot: "late", expiry_date: "2028-01-01", received_at: "2026-01-01T00:00:00.000Z" }),
      batch(vaccine.fp, { lot: "soon", expiry_date: "2027-01-01", quantity: 4 }),
      batch(vaccine.fp, { lot: null, expiry_date: null, quantity: 3 }),
    ]);
    const take = async (quantity: number, clinicId = 1) =>
      server.store.transaction((session) =>
        consumeStock(session, { clinicId, fp: vaccine.fp, quantity, today: "2026-11-21", batch: null }, used),
      );
    const left = async () => {
      const batches = (await server.store.all(storedBatches, {})).map(({ lot, quantity }) => [lot, quantity]);
      return [(await (await reader(server))("")).data.items[0]?.quantity_on_hand, ...batches];
    };
    expect(await take(6)).toMatchObject({ outcome: "consumed", quantityOnHand: 6 });
    expect(await left()).toEqual([6, ["late", 3], ["soon", 0], [null, 3]]);
    expect(await take(7)).toEqual({ outcome: "refused", reason: { code: "STOCK.ON_HAND", values: ["7", "6"] } });
    expect(await take(1, 2)).toEqual({ outcome: "refused", reason: { code: "STOCK.NO_ITEM", values: [vaccine.fp] } });
    expect(await left()).toEqual([6, ["late", 3], ["soon", 0], [null, 3]]);
    expect(await take(6)).toMatchObject({ outcome: "consumed", quantityOnHand: 0 });
    expect(await left()).toEqual([0, ["late", 0], ["soon", 0], [null, 0]]);
  });

  test("a virtual item has no stock, and consuming it changes nothing", async () => {
    const fee = item(ours, { is_virtual: true, category: "SERVICE", quantity_on_hand: 7, low_stock_threshold: 9 });
    const server = await startServer(clinic(ours), fee);
    expect(await importEntities(server.store, fee, batch(fee.fp))).toEqual({ new: 0, changed: 0, unchanged: 2 });
    expect(await server.store.all(storedBatches, {})).toEqual([]);
    const consumption = await server.store.transaction((session) =>
      consumeStock(session, { clinicId: 1, fp: fee.fp, quantity: 3, today: "2026-11-21", batch: null }, used),
    );
    expect(consumption).toEqual({ outcome: "nothing" });
    const shown = (await (await reader(server))("")).data.items;
    expect(shown).toEqual([{ ...publishedItem(fee), quantity_on_hand: 0, low_stock_threshold: 0 }]);
  });

  test("item, lot, received_at and expiry_date identify a batch, nulls included", async () => {
    const one = item(ours);
    const server = await startServer(clinic(ours), one);
    const bare = batch(one.fp, { lot: null, expiry_date: null });
    const others = [
      batch(one.fp),
      batch(one.fp, { lot: "L2" }),
      batch(one.fp, { expiry_date: null }),
      batch(one.fp, { received_at: "2026-10-01T00:00:00.001Z" }),
    ];
    expect(await importEntities(server.store, bare, ...others)).toMatchObject({ new: 5 });
    expect(await importEntities(server.store, bare, ...others)).toMatchObject({ unchanged: 5 });
    expect(await importEntities(server.store, { ...bare, quantity: 9 })).toMatchObject({ changed: 1 });
    expect((await server.store.all(storedBatches, {})).map(({ quantity }) => quantity)).toEqual([9, 5, 5, 5, 5]);
  });
});

const storedBatches = query((db) => db.selectFrom("inventory_batch").select(["lot", "quantity"]).orderBy("id"));

async function reader(server: TestServer, clinicFp = ours) {
  const key = await server.makeKey(clinicFp, ["clinic.inventory.view"]);
  return async (parameters: string) => {
    const { status, headers, body } = await server.get(key, `/api/v1/inventory${parameters}`);
    return { status, headers, body, data: body.data as unknown as Page, error: body.error };
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
