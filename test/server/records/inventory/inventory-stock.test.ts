import { describe, expect, test } from "vitest";
import { refusal } from "../../../../server/dashboard/types/refusals.ts";
import {
  allocationOrder,
  type Batch,
  consume,
  count,
  undo,
} from "../../../../server/records/inventory/inventory-stock.ts";

describe("stock", () => {
  const batches: Batch[] = [
    { id: 1, quantity: 3, received_at: 10, expiry_date: null },
    { id: 2, quantity: 3, received_at: 20, expiry_date: "2027-06-30" },
    { id: 3, quantity: 3, received_at: 40, expiry_date: "2026-12-31" },
    { id: 4, quantity: 3, received_at: 30, expiry_date: "2027-06-30" },
    { id: 5, quantity: 0, received_at: 5, expiry_date: "2026-11-30" },
    { id: 6, quantity: 3, received_at: 4, expiry_date: "2027-06-30" },
  ];
  const item = (changes: object) => ({ category: "MEDICATION", is_virtual: false, quantity_on_hand: 15, ...changes });

  test("medications and vaccines are used by expiry, other items by age", () => {
    const order = (category: string) => {
      const ordered = allocationOrder(category, batches, "2026-11-21").map(({ id }) => id);
      expect(allocationOrder(category, batches.toReversed(), "2026-11-21").map(({ id }) => id)).toEqual(ordered);
      return ordered;
    };
    expect(order("MEDICATION")).toEqual([5, 3, 6, 2, 4, 1]);
    expect(order("VACCINE")).toEqual([5, 3, 6, 2, 4, 1]);
    expect(order("CONSUMABLE")).toEqual([6, 5, 1, 2, 4, 3]);
    expect(order("FOOD")).toEqual([6, 5, 1, 2, 4, 3]);
  });

  test("a quantity is taken from as many batches as needed, and never below zero", () => {
    const took = (...taken: [number, number][]) => taken.map(([id, quantity]) => ({ id, quantity }));
    const table: [object, number, ReturnType<typeof consume>][] = [
      [{}, 2, { outcome: "consumed", taken: took([3, 2]), quantityOnHand: 13 }],
      [{}, 7, { outcome: "consumed", taken: took([3, 3], [6, 3], [2, 1]), quantityOnHand: 8 }],
      [{ category: "FOOD" }, 4, { outcome: "consumed", taken: took([6, 3], [1, 1]), quantityOnHand: 11 }],
      [{}, 15, { outcome: "consumed", taken: took([3, 3], [6, 3], [2, 3], [4, 3], [1, 3]), quantityOnHand: 0 }],
      [{}, 16, { outcome: "refused", reason: refusal("STOCK.ON_HAND", 16, 15) }],
      [{}, 0, { outcome: "refused", reason: refusal("STOCK.QUANTITY", 0) }],
      [{}, -1, { outcome: "refused", reason: refusal("STOCK.QUANTITY", -1) }],
      [{}, 1.5, { outcome: "refused", reason: refusal("STOCK.QUANTITY", 1.5) }],
      [{ quantity_on_hand: 2 }, 3, { outcome: "refused", reason: refusal("STOCK.ON_HAND", 3, 2) }],
      // Stock without a batch is used last.
      [
        { quantity_on_hand: 20 },
        17,
        { outcome: "consumed", taken: took([3, 3], [6, 3], [2, 3], [4, 3], [1, 3]), quantityOnHand: 3 },
      ],
    ];
    for (const [changes, quantity, expected] of table) {
      expect(consume(item(changes), batches, { quantity, today: "2026-11-21", batch: null })).toEqual(expected);
    }
  });

  test("a virtual item has no stock to take", () => {
    for (const quantity of [1, 1000, 0, -1]) {
      expect(
        consume(item({ is_virtual: true, quantity_on_hand: 0 }), [], { quantity, today: "2026-11-21", batch: null }),
      ).toEqual({ outcome: "nothing" });
    }
  });

  test("an expired batch is skipped, and taken from only if it is chosen", () => {
    const took = (quantity: number, batch: number | null = null) =>
      consume(item({}), batches, { quantity, today: "2027-01-01", batch });
    expect(took(12)).toEqual({
      ...{ outcome: "consumed", quantityOnHand: 3 },
      taken: [6, 2, 4, 1].map((id) => ({ id, quantity: 3 })),
    });
    expect(took(13)).toEqual({ outcome: "refused", reason: refusal("STOCK.EXPIRED", 13, 12) });
    expect(took(2, 3)).toEqual({ outcome: "consumed", taken: [{ id: 3, quantity: 2 }], quantityOnHand: 13 });
    expect(took(4, 3)).toEqual({ outcome: "refused", reason: refusal("STOCK.IN_BATCH", 4, 3) });
    expect(took(1, 9)).toEqual({ outcome: "refused", reason: refusal("STOCK.NO_BATCH", 9) });
    expect(allocationOrder("MEDICATION", batches, "2027-01-01").map(({ id }) => id)).toEqual([6, 2, 4, 1, 5, 3]);
    expect(allocationOrder("FOOD", batches, "2027-01-01").map(({ id }) => id)).toEqual([6, 1, 2, 4, 5, 3]);
  });

  test("stock without a batch is used before an expired batch", () => {
    const mixed: Batch[] = [
      { id: 1, quantity: 4, received_at: 1, expiry_date: "2026-11-01" },
      { id: 2, quantity: 2, received_at: 2, expiry_date: "2027-06-30" },
    ];
    expect(consume(item({ quantity_on_hand: 10 }), mixed, { quantity: 6, today: "2026-11-21", batch: null })).toEqual({
      ...{ outcome: "consumed", quantityOnHand: 4 },
      taken: [{ id: 2, quantity: 2 }],
    });
  });

  test("the expiry date is the last day of use", () => {
    const last: Batch[] = [{ id: 1, quantity: 1, received_at: 1, expiry_date: "2026-12-31" }];
    const outcome = (today: string) =>
      consume(item({ quantity_on_hand: 1 }), last, { quantity: 1, today, batch: null }).outcome;
    expect([outcome("2026-12-31"), outcome("2027-01-01")]).toEqual(["consumed", "refused"]);
  });

  test("a count sets a batch or the rest, and no quantity on hand is below 0", () => {
    const lots = [batches[0] as Batch];
    const counted = (onHand: number, batch: number | null, quantity: number) =>
      count(item({ quantity_on_hand: onHand }), lots, { batch, quantity });
    expect(counted(5, 1, 2)).toEqual({ outcome: "corrected", change: -1, rest: 0 });
    expect(counted(5, 1, 3)).toEqual({ outcome: "corrected", change: 0, rest: 0 });
    expect(counted(5, null, 4)).toEqual({ outcome: "corrected", change: 2, rest: 0 });
    // An import had 1 on hand, and a batch of 3.
    expect(counted(1, 1, 0)).toEqual({ outcome: "corrected", change: -3, rest: 2 });
    expect(counted(5, 9, 1)).toEqual({ outcome: "refused", reason: refusal("STOCK.NO_BATCH", 9) });
    expect(counted(5, 1, -1)).toEqual({ outcome: "refused", reason: refusal("STOCK.COUNT", -1) });
    expect(count(item({ is_virtual: true }), [], { batch: null, quantity: 1 })).toEqual({ outcome: "nothing" });
  });

  test("an undo gives back what was taken, and takes back only what is left", () => {
    const lots = [batches[0] as Batch];
    const moved = { batch_id: 1, reason: "used", undone_by: null, isSetSince: false } as const;
    const undone = (quantity: number, changes: object = {}, onHand = 5) =>
      undo(item({ quantity_on_hand: onHand }), lots, { ...moved, quantity, ...changes });
    expect(undone(-2)).toEqual({ outcome: "corrected", change: 2, rest: 0 });
    expect(undone(3, { reason: "received" })).toEqual({ outcome: "corrected", change: -3, rest: 0 });
    const used = (quantity: number, left: number) => ({
      outcome: "refused",
      reason: refusal("STOCK.UNDO_USED", quantity, left),
    });
    expect(undone(4, { reason: "received" })).toEqual(used(4, 3));
    expect(undone(3, { reason: "received" }, 2)).toEqual(used(3, 2));
    expect(undone(-2, { batch_id: null }, 0)).toEqual({ outcome: "corrected", change: 2, rest: 0 });
    for (const reason of ["opening", "imported", "undone"]) {
      expect(undone(-2, { reason })).toEqual({ outcome: "refused", reason: refusal("STOCK.UNDO_KIND") });
    }
    expect(undone(-2, { undone_by: 7 })).toEqual({ outcome: "refused", reason: refusal("STOCK.UNDO_TWICE") });
    expect(undone(-2, { isSetSince: true })).toEqual({ outcome: "refused", reason: refusal("STOCK.UNDO_COUNTED") });
  });
});
