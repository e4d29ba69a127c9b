import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import { type MovementReason, TAKE_REASONS } from "../../dashboard/types/stock.ts";

// Selects the batches from which stock is taken, and decides what a count or an undo changes.

/** Fields of an item that concern its stock. */
export interface Stock {
  category: string;
  is_virtual: boolean;
  quantity_on_hand: number;
}

/** A delivery of one item. `received_at` is in milliseconds since 1970. `expiry_date` has the form `2027-03-31`; null if none. */
export interface Batch {
  id: number;
  quantity: number;
  received_at: number;
  expiry_date: string | null;
}

/** `taken` lists the quantity from each batch. Their sum is smaller than the quantity if the item has stock without a batch. */
export type Consumption =
  | { outcome: "consumed"; taken: { id: number; quantity: number }[]; quantityOnHand: number }
  | { outcome: "nothing" }
  | { outcome: "refused"; reason: Refusal };

/** @returns the quantity on hand after a delivery. A virtual item has no stock, so that a delivery changes nothing */
export function receive(
  item: Stock,
  quantity: number,
): { outcome: "received"; quantityOnHand: number } | { outcome: "nothing" } | { outcome: "refused"; reason: Refusal } {
  if (item.is_virtual) return { outcome: "nothing" };
  const quantityOnHand = item.quantity_on_hand + quantity;
  if (!Number.isSafeInteger(quantity) || quantity < 1 || !Number.isSafeInteger(quantityOnHand)) {
    const most = Number.MAX_SAFE_INTEGER - item.quantity_on_hand;
    return refused("STOCK.QUANTITY", quantity, most);
  }
  return { outcome: "received", quantityOnHand };
}

/** A quantity that a person takes from an item. */
export interface Taking {
  quantity: number;
  /** The day in the clinic's time zone, such as `2026-11-21`. */
  today: string;
  /** Id of the only batch to take from, expired or not; null for the order of use. */
  batch: number | null;
}

/**
 * Takes the complete quantity from the batches of an item, or refuses. Only a person who names an expired batch takes from it. A
 * virtual item has no stock.
 */
export function consume(item: Stock, batches: readonly Batch[], { quantity, today, batch }: Taking): Consumption {
  // A virtual item (fee, procedure) is not an error: billing a visit consumes all its items alike.
  if (item.is_virtual) return { outcome: "nothing" };
  if (!Number.isSafeInteger(quantity) || quantity < 1) {
    return refused("STOCK.QUANTITY", quantity);
  }
  if (quantity > item.quantity_on_hand) {
    return refused("STOCK.ON_HAND", quantity, item.quantity_on_hand);
  }
  const quantityOnHand = item.quantity_on_hand - quantity;
  if (batch !== null) {
    const chosen = batches.find(({ id }) => id === batch);
    if (chosen === undefined) return refused("STOCK.NO_BATCH", batch);
    if (quantity > chosen.quantity) {
      return refused("STOCK.IN_BATCH", quantity, chosen.quantity);
    }
    return { outcome: "consumed", taken: [{ id: chosen.id, quantity }], quantityOnHand };
  }
  const expired = batches.filter((each) => isExpired(each, today)).reduce((sum, each) => sum + each.quantity, 0);
  if (quantity > item.quantity_on_hand - expired) {
    const usable = Math.max(0, item.quantity_on_hand - expired);
    return refused("STOCK.EXPIRED", quantity, usable);
  }
  const taken: { id: number; quantity: number }[] = [];
  let missing = quantity;
  for (const each of allocationOrder(item.category, batches, today)) {
    if (isExpired(each, today)) break;
    const part = Math.min(each.quantity, missing);
    if (part > 0) taken.push({ id: each.id, quantity: part });
    missing -= part;
  }
  return { outcome: "consumed", taken, quantityOnHand };
}

/**
 * `change` is what the quantity of the batch and the quantity on hand change by. `rest` is what the stock without a batch gains, where
 * an import had less on hand than its batches: no quantity on hand is below 0.
 */
export type Correction =
  | { outcome: "corrected"; change: number; rest: number }
  | { outcome: "nothing" }
  | { outcome: "refused"; reason: Refusal };

/** Compares what a person counted with the quantity of a batch. A count that finds the same changes it by 0. */
export function count(
  item: Stock,
  batches: readonly Batch[],
  { batch, quantity }: { batch: number | null; quantity: number },
): Correction {
  if (item.is_virtual) return { outcome: "nothing" };
  const before = quantityOf(item, batches, batch);
  if (before === undefined) return refused("STOCK.NO_BATCH", batch ?? "");
  const change = quantity - before;
  if (quantity < 0 || !Number.isSafeInteger(quantity) || !Number.isSafeInteger(item.quantity_on_hand + change)) {
    return refused("STOCK.COUNT", quantity);
  }
  return { outcome: "corrected", change, rest: Math.max(0, 0 - item.quantity_on_hand - change) };
}

/** A movement that a person wants to undo. */
export interface UndoneMovement {
  batch_id: number | null;
  quantity: number;
  reason: MovementReason;
  /** Id of the movement that took it back; null if none did. */
  undone_by: number | null;
  /** Whether a later count or import set the quantity of its batch, which thereby includes it. */
  isSetSince: boolean;
}

/** Whether people undo movements of this reason. An import is corrected by another one or a count, an undo by a new movement. */
export function isUndoable(reason: MovementReason): boolean {
  return reason === "received" || reason === "counted" || TAKE_REASONS.some((each) => each === reason);
}

/** Takes a movement back once, unless more than is left would go. */
export function undo(item: Stock, batches: readonly Batch[], movement: UndoneMovement): Correction {
  if (!isUndoable(movement.reason) || item.is_virtual) return refused("STOCK.UNDO_KIND");
  if (movement.undone_by !== null) return refused("STOCK.UNDO_TWICE");
  if (movement.isSetSince) return refused("STOCK.UNDO_COUNTED");
  const left = Math.min(quantityOf(item, batches, movement.batch_id) ?? 0, item.quantity_on_hand);
  const change = 0 - movement.quantity;
  if (change < 0 && left + change < 0) return refused("STOCK.UNDO_USED", movement.quantity, Math.max(0, left));
  if (!Number.isSafeInteger(item.quantity_on_hand + change)) return refused("STOCK.QUANTITY", change);
  return { outcome: "corrected", change, rest: 0 };
}

/** @returns the quantity of a batch, or what no batch accounts for; undefined for an unknown batch */
function quantityOf(item: Stock, batches: readonly Batch[], batch: number | null): number | undefined {
  if (batch !== null) return batches.find(({ id }) => id === batch)?.quantity;
  return item.quantity_on_hand - batches.reduce((sum, { quantity }) => sum + quantity, 0);
}

function refused(...reason: Parameters<typeof refusal>): { outcome: "refused"; reason: Refusal } {
  return { outcome: "refused", reason: refusal(...reason) };
}

/** Whether a batch is expired on a day. The expiry date itself is the last day of use. */
export function isExpired({ expiry_date }: Pick<Batch, "expiry_date">, today: string): boolean {
  return expiry_date !== null && expiry_date < today;
}

/**
 * Sorts batches in the order of use: first expiry first for medications and vaccines (FEFO), else first in first out (FIFO). The
 * expired ones follow, which nobody takes without choosing them.
 */
export function allocationOrder(category: string, batches: readonly Batch[], today: string): Batch[] {
  const byAge = (a: Batch, b: Batch) => a.received_at - b.received_at || a.id - b.id;
  const isByExpiry = category === "MEDICATION" || category === "VACCINE";
  return batches.toSorted(
    (a, b) =>
      Number(isExpired(a, today)) - Number(isExpired(b, today)) ||
      (isByExpiry ? compareExpiry(a.expiry_date, b.expiry_date) : 0) ||
      byAge(a, b),
  );
}

function compareExpiry(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
}
