import type { Kysely } from "kysely";
import { newFp } from "../../../shared/api/fp.ts";
import type { InventoryItem } from "../../../shared/api/inventory.ts";
import { forgetRemoval, noteRemoval } from "../changes/clinic-removals.ts";
import { type Batch, consume, type Consumption, receive, type Taking } from "./inventory-stock.ts";
import { type MovedPart, type MoveFacts, moveStock, noteImport, noteItemChange, removeMovements } from "./movements.ts";
import type { WalkedPage } from "../patients/patients.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { BatchColumns, ItemColumns, Tables } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import { refusal } from "../../dashboard/types/refusals.ts";
import type { TakeReason } from "../../dashboard/types/stock.ts";
import { eventOfItem } from "../webhooks/events.ts";

// Inventory items of a clinic and their batches. The API does not show batches.

export interface ItemFilter {
  clinicId: number;
  category: string | null;
  /** Only items below their threshold. */
  lowStockOnly: boolean;
  page: number;
  pageSize: number;
  /** The last item before the page; null for the page of that number. */
  after?: ItemPosition | null;
}

/** A position in the list. The item may have left it. */
export interface ItemPosition {
  readonly name: string;
  readonly fp: string;
}

/** Lists one page of the clinic's items, by name and fp. */
export async function listItems(
  session: Session,
  filter: ItemFilter,
): Promise<WalkedPage<InventoryItem, ItemPosition>> {
  const byStock = filter.lowStockOnly ? lists.low : lists.all;
  const { rows, count } = filter.category === null ? byStock.everyCategory : byStock.oneCategory;
  const { clinicId, category, page, pageSize, after } = filter;
  const parameters = {
    clinicId,
    category: category ?? "",
    ...(after ?? { name: "", fp: "" }),
    // One more item, which shows whether another page follows.
    limit: pageSize + 1,
    offset: after ? 0 : (page - 1) * pageSize,
  };
  const counted = await session.first(count, parameters);
  const found = (await session.all(rows, parameters)).map(toItem);
  const items = found.slice(0, pageSize);
  return { items, total: counted?.total ?? 0, last: (found.length > pageSize && items.at(-1)) || null };
}

/** Takes a quantity of an item from its batches, or from the chosen one, for a reason. Run it in a transaction. */
export async function consumeStock(
  session: Session,
  { clinicId, fp, ...taking }: { clinicId: number; fp: string } & Taking,
  facts: MoveFacts & { readonly reason: TakeReason },
): Promise<Consumption> {
  const item = await session.first(itemByFp, { fp });
  if (item?.clinic_id !== clinicId) return { outcome: "refused", reason: refusal("STOCK.NO_ITEM", fp) };
  const batches = await session.all(batchesOf, { itemId: item.id });
  const consumption = consume({ ...item, is_virtual: item.is_virtual === 1 }, batches, taking);
  if (consumption.outcome !== "consumed") return consumption;
  const parts: MovedPart[] = consumption.taken.map(({ id, quantity }) => ({ batchId: id, quantity: -quantity }));
  const rest = parts.reduce((left, { quantity }) => left + quantity, taking.quantity);
  if (rest > 0) parts.push({ batchId: null, quantity: -rest });
  await moveStock(session, item, parts, facts);
  return consumption;
}

/** Adds a delivery to an item: a batch, and its quantity on hand. Run it in a transaction. */
export async function receiveStock(
  session: Session,
  { clinicId, fp, userId, ...delivery }: Received & Omit<BatchColumns, "item_id">,
): Promise<ReturnType<typeof receive>> {
  const item = await session.first(itemByFp, { fp });
  if (item?.clinic_id !== clinicId) return { outcome: "refused", reason: refusal("STOCK.NO_ITEM", fp) };
  const receipt = receive({ ...item, is_virtual: item.is_virtual === 1 }, delivery.quantity);
  if (receipt.outcome !== "received") return receipt;
  const batch = { ...delivery, item_id: item.id };
  const stored =
    (await session.first(storedBatch, batch)) ?? (await session.first(insertBatch, { ...batch, quantity: 0 }));
  if (stored === undefined) throw new Error("an insert returned no row");
  const facts = { reason: "received", user_id: userId, at: delivery.received_at } as const;
  await moveStock(session, item, [{ batchId: stored.id, quantity: delivery.quantity }], facts);
  return receipt;
}

interface Received {
  readonly clinicId: number;
  readonly fp: string;
  /** Null for the agent of a PC. */
  readonly userId: number | null;
}

/** Adds an item without stock to a clinic. Run it in a transaction. @returns its fp; null if the clinic has an item of this name */
export async function addItem(session: Session, clinicId: number, item: NewItem, now: number): Promise<string | null> {
  if ((await session.first(itemByName, { clinicId, name: item.name })) !== undefined) return null;
  const fp = newFp("invitem");
  // The dashboard shows no prices; programs of the clinic read them.
  const currency = (await session.first(lastCurrency, { clinicId }))?.currency ?? "TRY";
  const free = { quantity_on_hand: 0, unit_price_cents: 0, currency };
  await session.all(insertItem, {
    fp,
    clinic_id: clinicId,
    ...free,
    ...item,
    is_virtual: item.is_virtual ? 1 : 0,
    now,
  });
  await session.all(eventOfItem, { fp, clinicId, change: "created" });
  return fp;
}

type NewItem = Pick<InventoryItem, "name" | "category" | "sku" | "unit" | "low_stock_threshold" | "is_virtual">;

/** Finds an item of the clinic by its stock keeping unit, else by its name. */
export async function findItem(
  session: Session,
  clinicId: number,
  { sku, name }: Pick<InventoryItem, "sku" | "name">,
): Promise<InventoryItem | undefined> {
  const bySku = sku === null ? undefined : await session.first(itemBySku, { clinicId, sku });
  const found = bySku ?? (await session.first(itemByName, { clinicId, name }));
  return found && toItem(found);
}

/** The facts of an item, without its stock. */
export type ItemFacts = Pick<ItemColumns, "name" | "category" | "sku" | "unit" | "low_stock_threshold">;

/** Changes what an item is; its stock stays. Run it in a transaction. */
export async function changeItem(session: Session, fp: string, facts: ItemFacts, now: number): Promise<void> {
  const item = await session.first(itemByFp, { fp });
  if (item === undefined) return;
  const changed = { ...item, ...facts };
  await session.all(updateItem, { ...changed, previousClinicId: item.clinic_id, now });
  await noteItemChange(session, item, changed);
}

/** Removes an item with its batches and movements. Run it in a transaction. */
export async function removeItem(session: Session, fp: string, now: number): Promise<void> {
  const item = await session.first(itemByFp, { fp });
  if (item === undefined) return;
  await session.all(eventOfItem, { fp, clinicId: item.clinic_id, change: "removed" });
  await removeMovements(session, item.id);
  await session.all(deleteBatches, { itemId: item.id });
  await session.all(deleteItem, { id: item.id, clinicId: item.clinic_id });
  await noteRemoval(session, { clinicId: item.clinic_id, fp, now });
}

/** Finds an item of a clinic and its batches, empty ones included. */
export async function findStock(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<{ item: InventoryItem; batches: (Batch & { lot: string | null })[] } | undefined> {
  const item = await session.first(itemByFp, { fp });
  if (item?.clinic_id !== clinicId) return undefined;
  return { item: toItem(item), batches: await session.all(batchesOf, { itemId: item.id }) };
}

/** Stores an item of an import file. A virtual item has no stock, whatever the file states. An item stays in its clinic. */
export async function importItem(
  session: Session,
  item: InventoryItem,
  clinicId: number,
  at: number,
): Promise<"new" | "changed" | "unchanged" | { problem: string }> {
  const row: ItemColumns = {
    fp: item.fp,
    clinic_id: clinicId,
    name: item.name,
    category: item.category,
    sku: item.sku,
    unit: item.unit,
    quantity_on_hand: item.is_virtual ? 0 : item.quantity_on_hand,
    low_stock_threshold: item.is_virtual ? 0 : item.low_stock_threshold,
    unit_price_cents: item.unit_price_cents,
    currency: item.currency,
    is_virtual: item.is_virtual ? 1 : 0,
  };
  const stored = await session.first(itemByFp, { fp: item.fp });
  if (stored === undefined) {
    await forgetRemoval(session, { clinicId, fp: item.fp });
    const added = await session.first(insertItem, { ...row, now: at });
    if (added === undefined) throw new Error("an insert returned no row");
    await session.all(eventOfItem, { fp: row.fp, clinicId, change: "created" });
    await noteImport(session, added.id, { batchId: null, quantity: row.quantity_on_hand }, at);
    return "new";
  }
  if (stored.clinic_id !== clinicId)
    return { problem: `${item.fp} is an item of another clinic, expected its own clinic_fp` };
  const same = (Object.keys(row) as (keyof ItemColumns)[]).every((column) => stored[column] === row[column]);
  if (same) return "unchanged";
  await session.all(updateItem, { ...row, id: stored.id, previousClinicId: stored.clinic_id, now: at });
  await noteItemChange(session, stored, row);
  const quantity = row.quantity_on_hand - stored.quantity_on_hand;
  await noteImport(session, stored.id, { batchId: null, quantity }, at);
  return "changed";
}

/** Stores a batch of an import file; item, lot, received_at and expiry_date identify it. @returns undefined if the item is unknown */
export async function importBatch(
  session: Session,
  itemFp: string,
  batch: Omit<BatchColumns, "item_id">,
  at: number,
): Promise<"new" | "changed" | "unchanged" | undefined> {
  const item = await session.first(itemByFp, { fp: itemFp });
  if (item === undefined) return undefined;
  // A virtual item has no stock, so that the line has no effect.
  if (item.is_virtual === 1) return "unchanged";
  const row = { ...batch, item_id: item.id };
  const stored = await session.first(storedBatch, row);
  if (stored?.quantity === batch.quantity) return "unchanged";
  const { id } = stored ?? (await session.first(insertBatch, row)) ?? {};
  if (id === undefined) throw new Error("an insert returned no row");
  if (stored !== undefined) await session.all(setBatch, { id, quantity: batch.quantity });
  // The quantity on hand of the item stays, so that the rest without a batch changes the other way.
  const quantity = batch.quantity - (stored?.quantity ?? 0);
  await noteImport(session, item.id, { batchId: id, quantity }, at);
  await noteImport(session, item.id, { batchId: null, quantity: -quantity }, at);
  return stored === undefined ? "new" : "changed";
}

/** Converts a row to the item of the API. */
export function toItem(row: Omit<ItemColumns, "clinic_id">): InventoryItem {
  return {
    fp: row.fp,
    name: row.name,
    category: row.category,
    sku: row.sku,
    unit: row.unit,
    quantity_on_hand: row.quantity_on_hand,
    low_stock_threshold: row.low_stock_threshold,
    unit_price_cents: row.unit_price_cents,
    currency: row.currency,
    is_virtual: row.is_virtual === 1,
  };
}

const lists = {
  all: { everyCategory: listQueries(false, false), oneCategory: listQueries(true, false) },
  low: { everyCategory: listQueries(false, true), oneCategory: listQueries(true, true) },
};

interface ListParameters {
  clinicId: number;
  category: string;
  name: string;
  fp: string;
  limit: number;
  offset: number;
}

function listQueries(byCategory: boolean, lowOnly: boolean) {
  function matches(db: Kysely<Tables>, p: ListParameters) {
    return db
      .selectFrom("inventory_item")
      .where("clinic_id", "=", p.clinicId)
      .$if(byCategory, (rows) => rows.where("category", "=", p.category))
      .$if(lowOnly, (rows) => rows.whereRef("quantity_on_hand", "<", "low_stock_threshold"));
  }
  return {
    count: query((db, p: ListParameters) =>
      matches(db, p).select((select) => select.fn.countAll<number>().as("total")),
    ),
    // Selects the page in the index alone, then reads its rows.
    rows: query((db, p: ListParameters) =>
      db
        .selectFrom(
          matches(db, p)
            .where((where) => where(where.refTuple("name", "fp"), ">", where.tuple(p.name, p.fp)))
            .select("id")
            .orderBy("name")
            .orderBy("fp")
            .limit(p.limit)
            .offset(p.offset)
            .as("page"),
        )
        .innerJoin("inventory_item as item", "item.id", "page.id")
        .selectAll("item")
        .orderBy("item.name")
        .orderBy("item.fp"),
    ),
  };
}

export const itemByFp = query((db, p: { fp: string }) =>
  db.selectFrom("inventory_item").selectAll().where("fp", "=", p.fp),
);

const itemByName = query((db, p: { clinicId: number; name: string }) =>
  db.selectFrom("inventory_item").selectAll().where("clinic_id", "=", p.clinicId).where("name", "=", p.name).limit(1),
);

const itemBySku = query((db, p: { clinicId: number; sku: string }) =>
  db.selectFrom("inventory_item").selectAll().where("clinic_id", "=", p.clinicId).where("sku", "=", p.sku).limit(1),
);

const deleteItem = query(
  (db, p: { id: number; clinicId: number }) => db.deleteFrom("inventory_item").where("id", "=", p.id),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const lastCurrency = query((db, p: { clinicId: number }) =>
  db.selectFrom("inventory_item").select("currency").where("clinic_id", "=", p.clinicId).orderBy("id", "desc").limit(1),
);

const insertItem = query(
  (db, p: ItemColumns & { now: number }) =>
    db
      .insertInto("inventory_item")
      .values((column) => ({ ...itemValues(p), changed_at: column.lit(UNSTAMPED) }))
      .returning("id"),
  ({ clinic_id, now }) => ({ clinics: [clinic_id], changedAt: now, stamps: "items" }),
);

// The previous clinic loses the item if it moves to another clinic.
const updateItem = query(
  (db, p: ItemColumns & { id: number; previousClinicId: number; now: number }) =>
    db
      .updateTable("inventory_item")
      .set((column) => ({ ...itemValues(p), changed_at: column.lit(UNSTAMPED) }))
      .where("id", "=", p.id),
  ({ clinic_id, previousClinicId, now }) => ({
    clinics: [clinic_id, previousClinicId],
    changedAt: now,
    stamps: "items",
  }),
);

function itemValues(p: ItemColumns): ItemColumns {
  return {
    fp: p.fp,
    clinic_id: p.clinic_id,
    name: p.name,
    category: p.category,
    sku: p.sku,
    unit: p.unit,
    quantity_on_hand: p.quantity_on_hand,
    low_stock_threshold: p.low_stock_threshold,
    unit_price_cents: p.unit_price_cents,
    currency: p.currency,
    is_virtual: p.is_virtual,
  };
}

export const batchesOf = query((db, p: { itemId: number }) =>
  db.selectFrom("inventory_batch").selectAll().where("item_id", "=", p.itemId),
);

export const storedBatch = query((db, p: Omit<BatchColumns, "quantity">) =>
  db
    .selectFrom("inventory_batch")
    .select(["id", "quantity"])
    .where("item_id", "=", p.item_id)
    .where("received_at", "=", p.received_at)
    .where("lot", "is not distinct from", p.lot)
    .where("expiry_date", "is not distinct from", p.expiry_date),
);

const insertBatch = uncachedWrite((db, p: BatchColumns) =>
  db
    .insertInto("inventory_batch")
    .values({
      item_id: p.item_id,
      lot: p.lot,
      quantity: p.quantity,
      received_at: p.received_at,
      expiry_date: p.expiry_date,
    })
    .returning("id"),
);

const deleteBatches = uncachedWrite((db, p: { itemId: number }) =>
  db.deleteFrom("inventory_batch").where("item_id", "=", p.itemId),
);

const setBatch = uncachedWrite((db, p: { id: number; quantity: number }) =>
  db.updateTable("inventory_batch").set({ quantity: p.quantity }).where("id", "=", p.id),
);
