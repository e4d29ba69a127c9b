import { assert, asyncProperty, array, constantFrom, integer, oneof, record } from "fast-check";
import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { countStock, undoMovement } from "../../../../server/records/inventory/corrections.ts";
import { listMovements } from "../../../../server/records/inventory/movement-list.ts";
import {
  consumeStock,
  findStock,
  importBatch,
  importItem,
  receiveStock,
} from "../../../../server/records/inventory/stock.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, noon, startServer } from "../../harness.ts";
import { item, publishedItem } from "../../records.ts";

const ours = newFp("clinic");
const today = "2026-11-21";

/** One step: what a person or an import does. Numbers choose a batch or a movement among those that there are. */
const step = oneof(
  record({ do: constantFrom("receive" as const), quantity: integer({ min: 1, max: 9 }), lot: constantFrom("A", "B") }),
  record({
    do: constantFrom("take" as const),
    quantity: integer({ min: 1, max: 9 }),
    from: integer({ min: -1, max: 3 }),
  }),
  record({
    do: constantFrom("count" as const),
    quantity: integer({ min: 0, max: 9 }),
    from: integer({ min: -1, max: 3 }),
  }),
  record({ do: constantFrom("undo" as const), which: integer({ min: 0, max: 9 }) }),
  record({ do: constantFrom("import item" as const), quantity: integer({ min: 0, max: 20 }) }),
  record({
    do: constantFrom("import lot" as const),
    quantity: integer({ min: 0, max: 9 }),
    lot: constantFrom("A", "C"),
  }),
);

test("after any deliveries, uses, counts, imports and undos each quantity is the sum of its movements, and none is below 0", async () => {
  const { store } = await startServer(clinic(ours));
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const done = new Map<string, number>();
  await assert(
    asyncProperty(array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const stocked = publishedItem(item(ours, { quantity_on_hand: 0, category: "CONSUMABLE" }));
      const { fp } = stocked;
      await store.transaction((session) => importItem(session, stocked, clinicId, noon));
      for (const [index, each] of steps.entries()) {
        const at = noon + index;
        const by = { user_id: null, at };
        const batches = (await findStock(store, clinicId, fp))?.batches ?? [];
        const batchAt = (from: number) => batches[from]?.id ?? null;
        const outcome = await store.transaction(async (session) => {
          switch (each.do) {
            case "receive": {
              const delivery = { quantity: each.quantity, lot: each.lot, expiry_date: null, received_at: at };
              return (await receiveStock(session, { clinicId, fp, userId: null, ...delivery })).outcome;
            }
            case "take": {
              const taking = { clinicId, fp, quantity: each.quantity, today, batch: batchAt(each.from) };
              return (await consumeStock(session, taking, { ...by, reason: "used" })).outcome;
            }
            case "count": {
              const counted = { clinicId, fp, batch: batchAt(each.from), quantity: each.quantity };
              return (await countStock(session, counted, by)).outcome;
            }
            case "undo": {
              const { items } = await listMovements(session, { clinicId, fp, page: 1, pageSize: 10 });
              const movement = items[each.which % Math.max(1, items.length)]?.id ?? 0;
              return (await undoMovement(session, { clinicId, fp, movement }, by))?.outcome ?? "unknown";
            }
            case "import item":
              await importItem(session, { ...stocked, quantity_on_hand: each.quantity }, clinicId, at);
              return "imported";
            case "import lot": {
              const lot = { lot: each.lot, quantity: each.quantity, received_at: noon, expiry_date: null };
              return importBatch(session, fp, lot, at);
            }
          }
        });
        done.set(`${each.do} ${outcome}`, (done.get(`${each.do} ${outcome}`) ?? 0) + 1);
      }
      const stored = await findStock(store, clinicId, fp);
      const sums = await store.all(sumsOf, { fp });
      const sumOf = (batch: number | null) => Number(sums.find(({ batch_id }) => batch_id === batch)?.sum ?? 0);
      const ofBatches = stored?.batches.map(({ id, quantity }) => [id, quantity]) ?? [];
      expect(ofBatches).toEqual(ofBatches.map(([id]) => [id, sumOf(id ?? null)]));
      expect(stored?.item.quantity_on_hand).toBe(sums.reduce((total, { sum }) => total + Number(sum), 0));
      expect(
        Math.min(stored?.item.quantity_on_hand ?? -1, ...ofBatches.map(([, quantity]) => quantity ?? -1)),
      ).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 20, seed: 42 },
  );
  // The sequences reach each outcome.
  expect([...done.keys()].toSorted()).toEqual(
    [
      ...["receive received", "take consumed", "take refused", "count corrected"],
      ...["undo corrected", "undo refused", "undo unknown", "import item imported"],
      ...["import lot new", "import lot changed", "import lot unchanged"],
    ].toSorted(),
  );
});

const sumsOf = query((db, p: { fp: string }) =>
  db
    .selectFrom("stock_movement as movement")
    .innerJoin("inventory_item as item", "item.id", "movement.item_id")
    .select(({ fn }) => ["movement.batch_id", fn.sum<number | string>("movement.quantity").as("sum")])
    .where("item.fp", "=", p.fp)
    .groupBy("movement.batch_id"),
);
