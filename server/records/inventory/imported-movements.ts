import type { MovementReason } from "../../dashboard/types/stock.ts";
import { query, type Session } from "../../database/query.ts";
import type { BatchColumns } from "../../database/schema.ts";
import { insertPast } from "./movements.ts";
import { itemByFp, storedBatch } from "./stock.ts";

// The history of stock in an import. The lines of items and batches have set the quantities before.

/** A movement of an import file. */
export interface ImportedMovement {
  /** Counts the movements of the item from 1. */
  readonly number: number;
  readonly batch: Pick<BatchColumns, "lot" | "received_at" | "expiry_date"> | null;
  readonly quantity: number;
  readonly reason: MovementReason;
  readonly patientId: number | null;
  readonly at: number;
  /** The number of the movement that it takes back. */
  readonly undoes: number | null;
}

/** The part of an item's history that an import has read. */
export interface StockHistory {
  /** Number and id of the last movement. */
  readonly number: number;
  readonly id: number;
  /** Whether the stored history is another one, which stays. */
  readonly isOther: boolean;
}

interface Import {
  readonly now: number;
  readonly histories: Map<string, StockHistory>;
}

/** Stores a movement unless the item has it. Run it in a transaction. @returns undefined if the item is unknown */
export async function importMovement(
  session: Session,
  itemFp: string,
  movement: ImportedMovement,
  { now, histories }: Import,
): Promise<"new" | "unchanged" | { problem: string } | undefined> {
  const item = await session.first(itemByFp, { fp: itemFp });
  if (item === undefined) return undefined;
  const { number, batch, quantity, reason, patientId: patient_id, at, undoes } = movement;
  const before = histories.get(itemFp) ?? { number: 0, id: 0, isOther: false };
  if (number !== before.number + 1) {
    return { problem: `number is ${number}, expected ${before.number + 1}: movements of an item come in their order` };
  }
  const found = batch === null ? null : await findBatch(session, item.id, batch);
  if (found === undefined) return { problem: "batch is neither in the file nor in the database" };
  if ((undoes ?? 0) >= number) {
    return { problem: `undoes is ${undoes}, expected the number of an earlier movement` };
  }
  const part = { batchId: found?.id ?? null, quantity };
  const stored = before.isOther ? undefined : await session.first(next, { itemId: item.id, now, id: before.id });
  if (before.isOther || stored !== undefined) {
    const isSame =
      stored?.batch_id === part.batchId && stored.quantity === quantity && stored.reason === reason && stored.at === at;
    histories.set(itemFp, { number, id: stored?.id ?? before.id, isOther: !isSame });
    return "unchanged";
  }
  const undone = undoes === null ? null : await session.first(nth, { itemId: item.id, now, offset: undoes - 1 });
  const facts = { reason, patient_id, user_id: null, at, undoes_id: undone?.id ?? null };
  await insertPast(session, item.id, part, facts, now);
  const last = await session.first(next, { itemId: item.id, now, id: before.id });
  histories.set(itemFp, { number, id: last?.id ?? before.id, isOther: false });
  return "new";
}

async function findBatch(session: Session, itemId: number, batch: NonNullable<ImportedMovement["batch"]>) {
  // A time that does not exist, such as 30 February, names no batch.
  return Number.isNaN(batch.received_at) ? undefined : session.first(storedBatch, { ...batch, item_id: itemId });
}

/** The stored movement after another one. What this import noted itself does not count. */
const next = query((db, p: { itemId: number; now: number; id: number }) =>
  db
    .selectFrom("stock_movement")
    .select(["id", "batch_id", "quantity", "reason", "at"])
    .where("item_id", "=", p.itemId)
    .where("id", ">", p.id)
    .where((where) => where.or([where("reason", "!=", "imported"), where("at", "!=", p.now)]))
    .orderBy("id")
    .limit(1),
);

const nth = query((db, p: { itemId: number; now: number; offset: number }) =>
  db
    .selectFrom("stock_movement")
    .select("id")
    .where("item_id", "=", p.itemId)
    .where((where) => where.or([where("reason", "!=", "imported"), where("at", "!=", p.now)]))
    .orderBy("id")
    .limit(1)
    .offset(p.offset),
);
