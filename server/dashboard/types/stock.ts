import type { InventoryItem } from "../../../shared/api/inventory.ts";

// The clinic's stock, as the pages show and move it.

/** The response to `GET /stock`. */
export interface ItemList {
  items: InventoryItem[];
  total: number;
  page: number;
  page_size: number;
  has_more: boolean;
  /** The categories of all items. */
  categories: string[];
}

export interface StockBatch {
  /** Names the batch in a consumption. */
  id: number;
  lot: string | null;
  quantity: number;
  received_at: string;
  /** A day such as `2027-03-31`; null if the batch does not expire. */
  expiry_date: string | null;
  /** The last day of use is over in the clinic's time zone. */
  is_expired: boolean;
}

/** The response to `GET /stock/<fp>`. */
export interface ItemDetail {
  item: InventoryItem;
  /** Batches with stock, in the order of use, the expired ones last. */
  batches: StockBatch[];
  /** Stock that no batch accounts for. It is used last. */
  without_batch: number;
}

/** The categories that a user can choose. A service has no stock. */
export const ITEM_CATEGORIES = ["MEDICATION", "VACCINE", "CONSUMABLE", "SERVICE"] as const;

/** The body of `POST /stock`: an item, and its first delivery with a quantity above 0. */
export interface NewItemBody extends Delivery {
  name: string;
  category: (typeof ITEM_CATEGORIES)[number];
  unit: string;
  low_stock_threshold: number;
}

/** The body of `POST /stock/<fp>/receive`. */
export interface Delivery {
  quantity: number;
  lot: string | null;
  expiry_date: string | null;
}

/** The body of `POST /stock/<fp>/consume`. */
export interface Consumption {
  quantity: number;
  /** Id of the only batch to take from. An expired batch is used by this choice alone. */
  batch?: number;
}

/** The response to a consumption: the item afterwards, and the parts that were taken. A virtual item has none. */
export interface Consumed extends ItemDetail {
  taken: StockBatch[];
  taken_without_batch: number;
}
