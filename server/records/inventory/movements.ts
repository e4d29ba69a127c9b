import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { ItemColumns, MovementColumns } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import { eventOfItem } from "../webhooks/events.ts";

// The only place where quantities of stock change: with a movement for each batch. So the sum of the movements is the quantity.

/** The facts of a movement beside its quantity. */
export interface MoveFacts extends Pick<MovementColumns, "reason" | "user_id" | "at"> {
  readonly patient_id?: number | null;
  readonly undoes_id?: number | null;
}

/** A change of one batch; null for stock that no batch accounts for. */
export interface MovedPart {
  readonly batchId: number | null;
  readonly quantity: number;
}

/** Changes the batches and the item by these quantities, and notes each. Run it in a transaction. */
export async function moveStock(
  session: Session,
  item: { readonly id: number; readonly clinic_id: number },
  parts: readonly MovedPart[],
  facts: MoveFacts,
): Promise<void> {
  for (const { batchId, quantity } of parts) {
    if (batchId !== null) await session.all(addToBatch, { id: batchId, quantity });
    await session.all(insertMovement, movementOf(item.id, { batchId, quantity }, facts));
  }
  const quantity = parts.reduce((sum, part) => sum + part.quantity, 0);
  const before = await session.first(stockOf, item);
  await session.all(addToItem, { id: item.id, quantity, clinicId: item.clinic_id, at: facts.at });
  if (before === undefined || quantity === 0) return;
  const after = { ...before, quantity_on_hand: before.quantity_on_hand + quantity };
  await noteItemChange(session, before, { ...after, clinic_id: item.clinic_id });
}

type Stocked = Pick<ItemColumns, "quantity_on_hand" | "low_stock_threshold">;

/** Adds the event of an item that changed: `low` if its stock is below the threshold since then. */
export async function noteItemChange(
  session: Session,
  before: Stocked,
  after: Stocked & Pick<ItemColumns, "fp" | "clinic_id">,
): Promise<void> {
  const change = isLow(after) && !isLow(before) ? "low" : "changed";
  await session.all(eventOfItem, { fp: after.fp, clinicId: after.clinic_id, change });
}

function isLow({ quantity_on_hand, low_stock_threshold }: Stocked): boolean {
  return quantity_on_hand < low_stock_threshold;
}

/**
 * Notes a quantity that an import has set. An import first has the quantity of an item, then its batches, so that each batch takes
 * its part out of what the import noted without one. Run it in a transaction.
 */
export async function noteImport(session: Session, itemId: number, part: MovedPart, at: number): Promise<void> {
  const noted = await session.first(importedAt, { itemId, batchId: part.batchId, at });
  await addToNote(session, noted, { itemId, part, at });
}

async function addToNote(
  session: Session,
  noted: { readonly id: number; readonly quantity: number } | undefined,
  { itemId, part, at }: { itemId: number; part: MovedPart; at: number },
): Promise<void> {
  const total = (noted?.quantity ?? 0) + part.quantity;
  if (noted === undefined) {
    const facts = { reason: "imported", user_id: null, at } as const;
    if (total !== 0) await session.all(insertMovement, movementOf(itemId, part, facts));
  } else if (total === 0) await session.all(deleteMovement, { id: noted.id });
  else await session.all(setMovement, { id: noted.id, quantity: total });
}

/**
 * Adds a movement of an import's history, whose quantity the import has set and noted already, so that the note becomes smaller by it.
 * Run it in a transaction.
 */
export async function insertPast(
  session: Session,
  itemId: number,
  part: MovedPart,
  facts: MoveFacts,
  at: number,
): Promise<void> {
  const noted = await session.first(noteOf, { itemId, batchId: part.batchId, at });
  await session.all(insertMovement, movementOf(itemId, part, facts));
  await addToNote(session, noted, { itemId, part: { ...part, quantity: -part.quantity }, at });
}

/** Removes the movements of an item that is removed. Run it in a transaction. */
export async function removeMovements(session: Session, itemId: number): Promise<void> {
  await session.all(deleteMovements, { itemId });
}

function movementOf(itemId: number, { batchId, quantity }: MovedPart, facts: MoveFacts): MovementColumns {
  return { patient_id: null, undoes_id: null, ...facts, item_id: itemId, batch_id: batchId, quantity };
}

// Responses of /api/v1 have no movement.
const insertMovement = uncachedWrite((db, p: MovementColumns) =>
  db.insertInto("stock_movement").values({
    item_id: p.item_id,
    batch_id: p.batch_id,
    quantity: p.quantity,
    reason: p.reason,
    patient_id: p.patient_id,
    user_id: p.user_id,
    at: p.at,
    undoes_id: p.undoes_id,
  }),
);

const addToBatch = uncachedWrite((db, p: { id: number; quantity: number }) =>
  db
    .updateTable("inventory_batch")
    .set((set) => ({ quantity: set("quantity", "+", p.quantity) }))
    .where("id", "=", p.id),
);

const addToItem = query(
  (db, p: { id: number; quantity: number; clinicId: number; at: number }) =>
    db
      .updateTable("inventory_item")
      .set((set) => ({
        quantity_on_hand: set("quantity_on_hand", "+", p.quantity),
        changed_at: set.lit(UNSTAMPED),
      }))
      .where("id", "=", p.id),
  ({ clinicId, at }) => ({ clinics: [clinicId], changedAt: at, stamps: "items" }),
);

const stockOf = query((db, p: { id: number }) =>
  db.selectFrom("inventory_item").select(["fp", "quantity_on_hand", "low_stock_threshold"]).where("id", "=", p.id),
);

/** The movement that the import of a time noted, unless the item moved since. */
const importedAt = query((db, p: { itemId: number; batchId: number | null; at: number }) =>
  db
    .selectFrom("stock_movement as noted")
    .select(["noted.id", "noted.quantity"])
    .where("noted.item_id", "=", p.itemId)
    .where("noted.batch_id", "is not distinct from", p.batchId)
    .where("noted.reason", "=", "imported")
    .where("noted.at", "=", p.at)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("stock_movement as later")
            .select("later.id")
            .whereRef("later.item_id", "=", "noted.item_id")
            .whereRef("later.id", ">", "noted.id")
            .where("later.reason", "!=", "imported"),
        ),
      ),
    )
    .orderBy("noted.id", "desc")
    .limit(1),
);

const noteOf = query((db, p: { itemId: number; batchId: number | null; at: number }) =>
  db
    .selectFrom("stock_movement")
    .select(["id", "quantity"])
    .where("item_id", "=", p.itemId)
    .where("batch_id", "is not distinct from", p.batchId)
    .where("reason", "=", "imported")
    .where("at", "=", p.at)
    .orderBy("id", "desc")
    .limit(1),
);

const setMovement = uncachedWrite((db, p: { id: number; quantity: number }) =>
  db.updateTable("stock_movement").set({ quantity: p.quantity }).where("id", "=", p.id),
);

const deleteMovement = uncachedWrite((db, p: { id: number }) => db.deleteFrom("stock_movement").where("id", "=", p.id));

const deleteMovements = uncachedWrite((db, p: { itemId: number }) =>
  db.deleteFrom("stock_movement").where("item_id", "=", p.itemId),
);
