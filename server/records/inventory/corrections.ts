import { query, type Session } from "../../database/query.ts";
import { refusal } from "../../dashboard/types/refusals.ts";
import { type Correction, count, undo } from "./inventory-stock.ts";
import { type MoveFacts, moveStock } from "./movements.ts";
import { batchesOf, itemByFp } from "./stock.ts";

// A count of a batch, and the undo of a movement.

type Actor = Pick<MoveFacts, "user_id" | "at">;

interface Counted {
  readonly clinicId: number;
  readonly fp: string;
  /** Null for the stock that no batch accounts for. */
  readonly batch: number | null;
  readonly quantity: number;
}

/** Sets the quantity of a batch to what was counted. Run it in a transaction. */
export async function countStock(
  session: Session,
  { clinicId, fp, batch, quantity }: Counted,
  actor: Actor,
): Promise<Correction> {
  const item = await session.first(itemByFp, { fp });
  if (item?.clinic_id !== clinicId) return { outcome: "refused", reason: refusal("STOCK.NO_ITEM", fp) };
  const batches = await session.all(batchesOf, { itemId: item.id });
  const counted = count({ ...item, is_virtual: item.is_virtual === 1 }, batches, { batch, quantity });
  if (counted.outcome === "corrected") {
    const parts = [{ batchId: batch, quantity: counted.change }];
    if (counted.rest > 0) parts.push({ batchId: null, quantity: counted.rest });
    await moveStock(session, item, parts, { ...actor, reason: "counted" });
  }
  return counted;
}

/** Takes a movement back by one of the opposite quantity. Run it in a transaction. @returns undefined for an unknown movement */
export async function undoMovement(
  session: Session,
  { clinicId, fp, movement: id }: { readonly clinicId: number; readonly fp: string; readonly movement: number },
  actor: Actor,
): Promise<Correction | undefined> {
  const item = await session.first(itemByFp, { fp });
  if (item?.clinic_id !== clinicId) return undefined;
  const movement = await session.first(movementOf, { itemId: item.id, id });
  if (movement === undefined) return undefined;
  const { batch_id, patient_id } = movement;
  const batches = await session.all(batchesOf, { itemId: item.id });
  const isSetSince =
    (await session.first(setSince, { itemId: item.id, batchId: batch_id, id })) !== undefined ||
    // Half of such a count would leave stock that nobody counted.
    (await isHalf(session, item.id, { id, ...movement }));
  const undone = undo({ ...item, is_virtual: item.is_virtual === 1 }, batches, { ...movement, isSetSince });
  if (undone.outcome === "corrected") {
    const facts = { ...actor, reason: "undone", patient_id, undoes_id: id } as const;
    await moveStock(session, item, [{ batchId: batch_id, quantity: undone.change }], facts);
  }
  return undone;
}

/** Whether a count of a batch made two movements: its own, and one without a batch. */
async function isHalf(
  session: Session,
  itemId: number,
  { id, at, reason, batch_id }: { id: number; at: number; reason: string; batch_id: number | null },
): Promise<boolean> {
  if (reason !== "counted") return false;
  const beside = await session.all(countsBeside, { itemId, previous: id - 1, next: id + 1, at });
  return beside.some((other) => (other.batch_id === null) !== (batch_id === null));
}

const movementOf = query((db, p: { itemId: number; id: number }) =>
  db
    .selectFrom("stock_movement as movement")
    .leftJoin("stock_movement as counter", "counter.undoes_id", "movement.id")
    .select(["movement.batch_id", "movement.quantity", "movement.reason", "movement.patient_id", "movement.at"])
    .select("counter.id as undone_by")
    .where("movement.id", "=", p.id)
    .where("movement.item_id", "=", p.itemId),
);

const countsBeside = query((db, p: { itemId: number; previous: number; next: number; at: number }) =>
  db
    .selectFrom("stock_movement")
    .select("batch_id")
    .where("item_id", "=", p.itemId)
    .where("at", "=", p.at)
    .where("reason", "=", "counted")
    .where("id", "in", [p.previous, p.next]),
);

/** A count or an import of the batch, or an import of the whole item, after a movement, which nobody undid. */
const setSince = query((db, p: { itemId: number; batchId: number | null; id: number }) =>
  db
    .selectFrom("stock_movement as later")
    .leftJoin("stock_movement as counter", "counter.undoes_id", "later.id")
    .select("later.id")
    .where("later.item_id", "=", p.itemId)
    .where((is) =>
      is.or([
        is("later.batch_id", "is not distinct from", p.batchId),
        is.and([is("later.batch_id", "is", null), is("later.reason", "=", "imported")]),
      ]),
    )
    .where("later.id", ">", p.id)
    .where("later.reason", "in", ["counted", "imported"])
    .where("counter.id", "is", null)
    .limit(1),
);
