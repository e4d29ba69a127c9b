import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { animalConnections, animals, isOfOthers } from "./animals.ts";
import { appointmentNames, appointments, staffMembers } from "./appointments.ts";
import { findBatch, type Image, type KindName, type RecordedKind, type StoreContext } from "./batches.ts";
import { events, numbers, orders, soapRecords, stockMovements, studies } from "./merge.ts";
import { ownersOfAnimals } from "./owners.ts";
import { animalNames, ownerNames } from "./sources.ts";
import { stockItems } from "./stock-items.ts";

// Undoes a batch: every record gets the state that it had before, or none gets it.

export type UndoOutcome =
  | { readonly undone: true; readonly records: number }
  | {
      readonly undone: false;
      /**
       * `unknown`: no such batch of the clinic within 24 hours. `undone`: it was undone before. `changed`: a record is not as the
       * batch left it. `in_use`: records of others refer to one that the batch created, or another clinic sees an animal that it
       * restored.
       */
      readonly code: "unknown" | "undone" | "changed" | "in_use";
      /** The first records that prevent the undo, and the number of all. */
      readonly records: readonly { readonly kind: KindName; readonly subject: string }[];
      readonly total: number;
    };

/** Records that a refusal names. */
const NAMED_MAX = 20;

const kinds: readonly RecordedKind[] = [
  ...[animals, ownersOfAnimals, animalConnections, animalNames, ownerNames],
  ...[studies, orders, soapRecords, events, numbers, stockMovements],
  ...[appointments, appointmentNames, staffMembers],
  stockItems,
];

/** Undoes a batch of the clinic. Run it in a transaction. */
export async function undoBatch(
  session: Session,
  { clinicId, fp }: { readonly clinicId: number; readonly fp: string },
  context: Omit<StoreContext, "batch">,
): Promise<UndoOutcome> {
  const batch = await findBatch(session, { clinicId, fp, now: context.now });
  if (batch === undefined) return refused("unknown");
  if (batch.undone_at !== null) return refused("undone");
  const changed = await findRows(session, batch.id, isChanged);
  if (changed.length > 0) return refused("changed", changed);
  const inUse = await findRows(session, batch.id, (own, row) => isInUse(own, row, clinicId));
  if (inUse.length > 0) return refused("in_use", inUse);
  let records = 0;
  for await (const { kind, subject, before } of rowsOf(session, batch.id)) {
    await kind.restore(session, subject, before, { ...context, batch: null });
    records += 1;
  }
  await session.all(markUndone, { id: batch.id, now: context.now });
  return { undone: true, records };
}

function refused(code: "unknown" | "undone" | "changed" | "in_use", rows: readonly RecordedRow[] = []): UndoOutcome {
  const records = rows.slice(0, NAMED_MAX).map(({ kind, subject }) => ({ kind: kind.name, subject }));
  return { undone: false, code, records, total: rows.length };
}

interface RecordedRow {
  readonly batchId: number;
  readonly kind: RecordedKind;
  readonly subject: string;
  readonly before: Image | null;
  readonly after: Image;
}

/**
 * Whether a record is not as the batch left it. One that the batch created and somebody removed needs no undo, and a field that a
 * later version added is not compared.
 */
async function isChanged(session: Session, { kind, subject, before, after }: RecordedRow): Promise<boolean> {
  const current = await kind.read(session, subject);
  if (current === null) return before !== null;
  return !Object.entries(after).every(([field, value]) => isDeepStrictEqual(current[field], value));
}

async function isInUse(
  session: Session,
  { kind, subject, before, after, batchId }: RecordedRow,
  clinicId: number,
): Promise<boolean> {
  if (before === null) return (await kind.isInUse?.(session, subject, batchId)) ?? false;
  // The undo would remove an animal that was restored.
  const isBack = kind === animals && before["deleted_at"] !== null && after["deleted_at"] === null;
  return isBack && (await isOfOthers(session, subject, clinicId));
}

async function findRows(
  session: Session,
  batchId: number,
  isSought: (session: Session, row: RecordedRow) => Promise<boolean>,
): Promise<RecordedRow[]> {
  const found: RecordedRow[] = [];
  for await (const row of rowsOf(session, batchId)) if (await isSought(session, row)) found.push(row);
  return found;
}

const PAGE_ROWS = 1000;

/** Records that are compared or restored in one turn of the event loop. */
const ROWS_PER_TURN = 20;

/** Lists what a batch changed, the last record first: a record is created after those that it names. */
async function* rowsOf(session: Session, batchId: number): AsyncGenerator<RecordedRow> {
  let last = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await session.all(rowsBefore, { batchId, last, limit: PAGE_ROWS });
    for (const [index, { kind: name, subject, before, after }] of page.entries()) {
      // On SQLite no query gives up the turn, and other requests would wait for the complete batch.
      if (index % ROWS_PER_TURN === 0) await nextTurn();
      const kind = kinds.find((one) => one.name === name);
      if (kind === undefined) throw new Error("a batch has a kind of record that this version lacks");
      yield { batchId, kind, subject, before: before === null ? null : imageOf(before), after: imageOf(after) };
    }
    const end = page.at(-1);
    if (end === undefined) return;
    last = end.id;
  }
}

function imageOf(text: string): Image {
  return JSON.parse(text) as Image;
}

const rowsBefore = query((db, p: { batchId: number; last: number; limit: number }) =>
  db
    .selectFrom("batch_row")
    .select(["id", "kind", "subject", "before", "after"])
    .where("batch_id", "=", p.batchId)
    .where("id", "<", p.last)
    .orderBy("id", "desc")
    .limit(p.limit),
);

const markUndone = uncachedWrite((db, p: { id: number; now: number }) =>
  db.updateTable("batch").set({ undone_at: p.now }).where("id", "=", p.id),
);
