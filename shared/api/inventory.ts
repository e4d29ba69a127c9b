import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Nullable } from "../schema/schema.ts";
import { textForm } from "../schema/text-form.ts";

export const Currency = Type.Enum(["TRY", "USD", "EUR", "GBP"], {
  description: "Currency of the price (ISO 4217).",
});
export type Currency = Static<typeof Currency>;

/** A count or an amount. The maximum is the largest integer that a JSON number holds exactly. */
export function Count(description: string) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
}

/** An item as GET /api/v1/inventory returns it. */
export const InventoryItem = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("invitem"), description: "Fingerprint of the item." }),
    name: Type.String({ minLength: 1, maxLength: 200, description: "Name of the item." }),
    category: Type.String({
      pattern: textForm(
        "^[A-Z][A-Z0-9_]{0,63}$",
        "upper-case letters, digits and underscores such as MEDICATION or EXAMINATION",
      ),
      description: "Category in upper case: `MEDICATION`, `VACCINE`, `CONSUMABLE`, `SERVICE` and others.",
    }),
    sku: Nullable(Type.String({ maxLength: 100, description: "Stock keeping unit; null if the item has none." })),
    unit: Type.String({ maxLength: 64, description: "Unit of stock, such as `vial`." }),
    quantity_on_hand: Count("Quantity in stock, in `unit`."),
    low_stock_threshold: Count("A quantity below it is low stock; an equal one is not."),
    unit_price_cents: Count("Unit price in the smallest unit of the currency: 45000 is 450.00."),
    currency: Currency,
    is_virtual: Type.Boolean({ description: "True if the item has no physical stock: a fee, a procedure." }),
  },
  { title: "InventoryItem", description: "An item of the clinic's inventory.", additionalProperties: false },
);
export type InventoryItem = Static<typeof InventoryItem>;
