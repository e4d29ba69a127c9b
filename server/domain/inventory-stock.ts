// Selects the batches from which stock is taken.

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
  | { outcome: "refused"; reason: string };

/** @returns the quantity on hand after a delivery. A virtual item has no stock, so that a delivery changes nothing */
export function receive(
  item: Stock,
  quantity: number,
): { outcome: "received"; quantityOnHand: number } | { outcome: "nothing" } | { outcome: "refused"; reason: string } {
  if (item.is_virtual) return { outcome: "nothing" };
  const quantityOnHand = item.quantity_on_hand + quantity;
  if (!Number.isSafeInteger(quantity) || quantity < 1 || !Number.isSafeInteger(quantityOnHand)) {
    const most = Number.MAX_SAFE_INTEGER - item.quantity_on_hand;
    return { outcome: "refused", reason: `quantity is ${quantity}, expected a whole number from 1 to ${most}` };
  }
  return { outcome: "received", quantityOnHand };
}

/** Takes the whole quantity from the batches of an item, or refuses. A virtual item has no stock. */
export function consume(item: Stock, batches: readonly Batch[], quantity: number): Consumption {
  // A virtual item (fee, procedure) is no error: billing a visit consumes all its items alike.
  if (item.is_virtual) return { outcome: "nothing" };
  if (!Number.isSafeInteger(quantity) || quantity < 1) {
    return { outcome: "refused", reason: `quantity is ${quantity}, expected a whole number, at least 1` };
  }
  if (quantity > item.quantity_on_hand) {
    return { outcome: "refused", reason: `quantity is ${quantity}, at most ${item.quantity_on_hand} on hand` };
  }
  const taken: { id: number; quantity: number }[] = [];
  let missing = quantity;
  for (const batch of allocationOrder(item.category, batches)) {
    const part = Math.min(batch.quantity, missing);
    if (part > 0) taken.push({ id: batch.id, quantity: part });
    missing -= part;
  }
  return { outcome: "consumed", taken, quantityOnHand: item.quantity_on_hand - quantity };
}

/** Sorts batches in the order of use: first expiry first for medications and vaccines (FEFO), else first in first out (FIFO). */
export function allocationOrder(category: string, batches: readonly Batch[]): Batch[] {
  const byAge = (a: Batch, b: Batch) => a.received_at - b.received_at || a.id - b.id;
  if (category !== "MEDICATION" && category !== "VACCINE") return batches.toSorted(byAge);
  return batches.toSorted((a, b) => compareExpiry(a.expiry_date, b.expiry_date) || byAge(a, b));
}

function compareExpiry(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
}
