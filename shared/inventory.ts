import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Nullable } from "./schema.ts";

export const Currency = Type.Enum(["TRY", "USD", "EUR", "GBP"]);
export type Currency = Static<typeof Currency>;

/** A count or an amount: the database's integers reach further than a JSON number is exact. */
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** An item as GET /api/v1/inventory returns it (specification, section 2.6). */
export const InventoryItem = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("invitem") }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    category: Type.String({
      pattern: "^[A-Z][A-Z0-9_]{0,63}$",
      description: "upper case: MEDICATION, VACCINE, CONSUMABLE, SERVICE and others",
    }),
    sku: Nullable(Type.String({ maxLength: 100 })),
    unit: Type.String({ maxLength: 64, description: "unit of stock, such as a vial" }),
    quantity_on_hand: Count,
    low_stock_threshold: Count,
    unit_price_cents: Count,
    currency: Currency,
    is_virtual: Type.Boolean({ description: "tracks no physical stock: a fee, a procedure" }),
  },
  { additionalProperties: false },
);
export type InventoryItem = Static<typeof InventoryItem>;
