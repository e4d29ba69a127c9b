import assert from "node:assert/strict";
import { assertShape } from "./check.ts";
import { fixedFp, type ItemRow, items } from "./data.ts";
import { needs } from "./patients.ts";
import { type ApiCheck, errorOf, fps, page, walk } from "./read.ts";
import type { Api } from "./server.ts";
import * as shapes from "./shapes.ts";

// Inventory items.

const path = "/api/v1/inventory";

export const inventoryChecks: readonly ApiCheck[] = [
  {
    number: 116,
    title: "an item has exactly its ten fields, with the stored values",
    async run(api) {
      const found = await walk(api, path, 100);
      for (const row of found) assertShape(row, shapes.item, "the item");
      assert.deepEqual(found, items);
    },
  },
  {
    number: 117,
    title: "inventory takes X-API-Key and needs clinic.inventory.view",
    async run(api) {
      errorOf(await api.send(path, { headers: { authorization: `Bearer ${api.keys.ours}` } }), 401);
      await needs(path, "inventory", ["patient", "calendar", "soap", "lab"])(api);
    },
  },
  {
    number: 118,
    title: "a clinic gets its own items only",
    async run(api) {
      assert.deepEqual(fps(await walk(api, path, 100, "theirs")), [fixedFp("invitem", 500)]);
      assert.equal(page(await api.get(path)).total, items.length);
    },
  },
  {
    number: 119,
    title: "inventory has the pages of the patient list",
    async run(api) {
      const byDefault = page(await api.get(path));
      assert.deepEqual([byDefault.page, byDefault.page_size], [1, 20]);
      for (const size of [1, 7, 31, 62, 100]) {
        assert.deepEqual(fps(await walk(api, path, size)), fps(items), `page_size ${size}`);
      }
      for (const query of [
        "page=0",
        "page=x",
        "page=1.5",
        "page=1e2",
        "page=",
        "page_size=0",
        "page_size=101",
        "page=1&page=2",
      ]) {
        errorOf(await api.get(`${path}?${query}`), 400, "REQUEST.INVALID_PARAMETER");
      }
    },
  },
  {
    number: 120,
    title: "category filters exactly, and an unknown category is empty",
    async run(api) {
      for (const category of ["MEDICATION", "VACCINE", "CONSUMABLE", "SERVICE", "FOOD", "medication", "TOY", ""]) {
        await lists(api, `?category=${category}`, (row) => row.category === category);
      }
    },
  },
  {
    number: 121,
    title: "low_stock_only=true selects items below their threshold, not at it",
    run: (api) => lists(api, "?low_stock_only=true", isLow),
  },
  {
    number: 122,
    title: "low_stock_only=false filters nothing, and another word gets 400",
    async run(api) {
      await lists(api, "?low_stock_only=false", () => true);
      for (const value of ["1", "0", "TRUE", "True", "", "yes"]) {
        errorOf(await api.get(`${path}?low_stock_only=${value}`), 400, "REQUEST.INVALID_PARAMETER");
      }
    },
  },
  {
    number: 123,
    title: "category and low_stock_only combine",
    run: (api) =>
      lists(api, "?category=VACCINE&low_stock_only=true", (row) => row.category === "VACCINE" && isLow(row)),
  },
  {
    number: 124,
    title: "currency is TRY, USD, EUR or GBP",
    async run(api) {
      const currencies = new Set((await walk(api, path, 100)).map((row) => row["currency"]));
      assert.deepEqual(currencies, new Set(shapes.currencies));
    },
  },
  {
    number: 125,
    title: "inventory shows no batch and no expiry",
    async run(api) {
      assert.doesNotMatch((await api.get(`${path}?page_size=100`)).text, /batch|expir|\blot\b/i);
    },
  },
  {
    number: 126,
    title: "a stock operation on a virtual item has no effect and no error",
    shownIn: "test/server/records/inventory/inventory-stock.test.ts",
  },
  {
    number: 127,
    title: "medications and vaccines are consumed FEFO, other items FIFO",
    shownIn: "test/server/records/inventory/inventory-stock.test.ts",
  },
  {
    number: 128,
    title: "items are sorted by name, then by fp, both ascending",
    async run(api) {
      assert.deepEqual(fps(page(await api.get(`${path}?page_size=100`)).items), fps(items));
    },
  },
];

function isLow(row: ItemRow): boolean {
  return row.quantity_on_hand < row.low_stock_threshold;
}

async function lists(api: Api, query: string, matches: (row: ItemRow) => boolean): Promise<void> {
  const expected = items.filter(matches);
  assert.deepEqual(fps(await walk(api, `${path}${query}`, 100)), fps(expected), query);
  assert.equal(page(await api.get(`${path}${query}`)).total, expected.length, query);
}
