import { Type } from "typebox";
import { DATE_PATTERN, Nullable } from "../../../shared/schema/schema.ts";
import { textForm } from "../../../shared/schema/text-form.ts";
import { ITEM_CATEGORIES } from "../../dashboard/types/stock.ts";
import type { Session } from "../../database/query.ts";
import { addItem, receiveStock } from "./stock.ts";

// A new item of stock, as a person types it or a file has it.

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const itemFields = {
  name: Type.String({ minLength: 1, maxLength: 200, pattern: textForm("\\S", "text that is not blank") }),
  category: Type.Enum([...ITEM_CATEGORIES]),
  unit: Type.String({ maxLength: 64 }),
  low_stock_threshold: Count,
};

export const deliveryFields = {
  lot: Nullable(Type.String({ maxLength: 100 })),
  expiry_date: Nullable(Type.String({ pattern: DATE_PATTERN })),
};

export const firstDeliveryFields = { quantity: Count, ...deliveryFields };

export interface NewItem {
  readonly name: string;
  readonly category: (typeof ITEM_CATEGORIES)[number];
  readonly unit: string;
  readonly low_stock_threshold: number;
  readonly sku: string | null;
}

export interface FirstDelivery {
  readonly quantity: number;
  readonly lot: string | null;
  readonly expiry_date: string | null;
}

/**
 * Adds an item with its first deliveries; those of quantity 0 are left out. Run it in a transaction. @returns its fp; null if the clinic
 * has an item of this name
 */
export async function storeNewItem(
  session: Session,
  clinicId: number,
  { name, unit, ...item }: NewItem,
  deliveries: readonly FirstDelivery[],
  { now, userId }: { readonly now: number; readonly userId: number | null },
): Promise<string | null> {
  const is_virtual = item.category === "SERVICE";
  const fp = await addItem(session, clinicId, { ...item, name: name.trim(), unit: unit.trim(), is_virtual }, now);
  if (fp === null) return null;
  for (const { quantity, lot, expiry_date } of deliveries) {
    const delivery = { quantity, lot: lot?.trim() || null, expiry_date, received_at: now };
    if (quantity > 0) await receiveStock(session, { clinicId, fp, userId, ...delivery });
  }
  return fp;
}
