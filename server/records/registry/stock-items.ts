import { query } from "../../database/query.ts";
import { changeItem, type ItemFacts, removeItem } from "../inventory/stock.ts";
import type { RecordedKind } from "./batches.ts";

/** Items of stock by their fp. A change of what an item is says nothing of its stock. */
export const stockItems: RecordedKind = {
  name: "stock item",
  async read(session, fp) {
    const item = await session.first(itemByFp, { fp });
    if (item === undefined) return null;
    // The end of the transaction sets the stamp.
    const { id, changed_at: _stamp, ...row } = item;
    // Movements that cancel out change no quantity, yet an undo of the import would remove what happened.
    const movements = (await session.first(countMovements, { id }))?.movements ?? 0;
    return { ...row, movements, batches: await session.all(batchesOf, { id }) };
  },
  async restore(session, fp, image, { now }) {
    if (image === null) await removeItem(session, fp, now);
    else await changeItem(session, fp, image as unknown as ItemFacts, now);
  },
};

const itemByFp = query((db, p: { fp: string }) => db.selectFrom("inventory_item").selectAll().where("fp", "=", p.fp));

const batchesOf = query((db, p: { id: number }) =>
  db
    .selectFrom("inventory_batch")
    .select(["lot", "quantity", "received_at", "expiry_date"])
    .where("item_id", "=", p.id)
    .orderBy("id"),
);

const countMovements = query((db, p: { id: number }) =>
  db
    .selectFrom("stock_movement")
    .select(({ fn }) => fn.countAll<number>().as("movements"))
    .where("item_id", "=", p.id),
);
