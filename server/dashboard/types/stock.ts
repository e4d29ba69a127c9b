import type { InventoryItem } from "../../../shared/api/inventory.ts";
import type { NamedPatient } from "./records.ts";

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
  /** `used` if absent. */
  reason?: TakeReason;
  /** The animal for which it is used. */
  patient_fp?: string;
}

/** Why stock is taken. `returned` goes back to the supplier. */
export const TAKE_REASONS = ["used", "expired", "broken", "returned"] as const;

export type TakeReason = (typeof TAKE_REASONS)[number];

/** `opening` is the stock of before movements were kept, `imported` what an import set, and `undone` takes another one back. */
export const MOVEMENT_REASONS = [...TAKE_REASONS, "received", "counted", "imported", "opening", "undone"] as const;
export type MovementReason = (typeof MOVEMENT_REASONS)[number];

/** A change of a quantity of stock. */
export interface StockMovement {
  id: number;
  at: string;
  reason: MovementReason;
  /** Below 0 if it was taken. */
  quantity: number;
  /** Null for stock that no batch accounts for. */
  batch: Pick<StockBatch, "lot" | "expiry_date"> | null;
  /** Null also if the clinic does not see the animal any more. */
  patient: NamedPatient | null;
  /** Name of the user; null if an import or the agent of a PC moved it. */
  by: string | null;
  /** The movement that this one takes back. */
  undoes: { at: string; reason: MovementReason } | null;
  /** Whether another movement takes this one back. */
  is_undone: boolean;
  /** Whether people undo movements of its reason, and nobody has undone it. */
  can_undo: boolean;
}

/** The response to `GET /stock/<fp>/movements`, the newest first. */
export interface MovementList {
  items: StockMovement[];
  total: number;
  page: number;
  page_size: number;
  has_more: boolean;
}

/** The body of `POST /stock/<fp>/count`. */
export interface StockCount {
  /** Null for the stock that no batch accounts for. */
  batch: number | null;
  quantity: number;
}

/** A use of stock for a patient, as the patient's page lists it. */
export interface UsedStock {
  at: string;
  item: { fp: string; name: string; unit: string };
  quantity: number;
  lot: string | null;
  by: string | null;
}

/** The response to a consumption: the item afterwards, and the parts that were taken. A virtual item has none. */
export interface Consumed extends ItemDetail {
  taken: StockBatch[];
  taken_without_batch: number;
}
