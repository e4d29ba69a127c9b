import { isDeepStrictEqual } from "node:util";
import { newFp } from "../../../shared/api/fp.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Door, RowChange } from "../../database/schema.ts";

// A batch has what one request, file or person changed of animals, owners and appointments, as it was before and as it is after.
// undo.ts restores it.

export interface NewBatch {
  readonly clinicId: number;
  readonly door: Door;
  /** Name of the practice software or of the file; null for a person. */
  readonly source: string | null;
  readonly by: { readonly userId: number } | { readonly keyId: number };
  readonly now: number;
}

/** A batch to which changes are added. */
export interface Batch {
  readonly id: number;
  readonly fp: string;
}

/** A door gives this to the functions that store. */
export interface StoreContext {
  /** Start of the work. */
  readonly now: number;
  readonly clock: () => number;
  /** Clinics whose clients have synchronised, and must find the change; null for every clinic. */
  readonly served: ReadonlySet<number> | null;
  /** Gets the changes, so that they can be undone; null for a door whose changes cannot be. */
  readonly batch: Batch | null;
}

/** The state of a record, as JSON has it. */
export type Image = Readonly<Record<string, unknown>>;

export type KindName =
  | ("animal" | "owner" | "connection" | "animal name" | "owner name")
  | "stock item"
  | ("appointment" | "appointment name" | "staff")
  /** Present for a merge. */
  | ("study" | "soap" | "event" | "order" | "number" | "stock movement");

/** A kind of record that batches have. */
export interface RecordedKind {
  readonly name: KindName;
  /** @returns the state of a record; null if it does not exist */
  readonly read: (session: Session, subject: string) => Promise<Image | null>;
  /** Writes a state that `read` returned. Null removes the record. */
  readonly restore: (session: Session, subject: string, image: Image | null, context: StoreContext) => Promise<void>;
  /** Whether records of others than the batch refer to it, so that it cannot be removed. */
  readonly isInUse?: (session: Session, subject: string, batchId: number) => Promise<boolean>;
}

/** Time for which a batch can be undone. */
const KEPT_MS = 24 * 3_600_000;

/** Kept batches of a clinic, and their rows: a batch that creates an animal has up to five for it. The oldest go first. */
const BATCHES_MAX = 2000;
const ROWS_MAX = 1_000_000;

/**
 * Runs the work with a batch, to which it adds its changes. Run it in a transaction. @returns the work's result, and the fp of the
 * batch; null if the work changed nothing
 */
export async function inBatch<T>(
  session: Session,
  opened: NewBatch,
  work: (batch: Batch) => Promise<T>,
): Promise<{ readonly result: T; readonly batch: string | null }> {
  const batch = await openBatch(session, opened);
  const result = await work(batch);
  return { result, batch: (await closeBatch(session, batch, opened)) ? batch.fp : null };
}

/** Opens a batch for work in several transactions, whose last one closes it. */
export async function openBatch(session: Session, { clinicId, door, source, by, now }: NewBatch): Promise<Batch> {
  const [userId, keyId] = "userId" in by ? [by.userId, null] : [null, by.keyId];
  const fp = newFp("batch");
  const opened = await session.first(insertBatch, { fp, clinicId, door, source, userId, keyId, now });
  if (opened === undefined) throw new Error("an insert returned no row");
  return { id: opened.id, fp };
}

/** Counts what a batch has, and drops the oldest ones. @returns whether it has a change. It is removed otherwise */
export async function closeBatch(
  session: Session,
  { id }: Batch,
  { clinicId, now }: Pick<NewBatch, "clinicId" | "now">,
): Promise<boolean> {
  const isEmpty = await close(session, id);
  if (!isEmpty) await dropBeyond(session, clinicId, now);
  return !isEmpty;
}

/** Adds a change to the batch, unless there is none. A record that changes again keeps its first state before. */
export async function record(
  session: Session,
  batch: Batch | null,
  { kind, subject, before, after, change = before === null ? "created" : "changed" }: RecordedChange,
): Promise<void> {
  if (batch === null || isDeepStrictEqual(before, after)) return;
  const texts = { before: before === null ? null : JSON.stringify(before), after: JSON.stringify(after) };
  await session.all(insertRow, { batchId: batch.id, kind: kind.name, subject, change, ...texts });
}

interface RecordedChange {
  readonly kind: Pick<RecordedKind, "name">;
  readonly subject: string;
  readonly before: Image | null;
  readonly after: Image;
  readonly change?: RowChange;
}

/** @returns the subject of a record without an fp, which these parts name */
export function subjectOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

/** Whether the batch changed the record. */
export async function isRecorded(session: Session, batchId: number, kind: KindName, subject: string): Promise<boolean> {
  return (await session.first(rowOf, { batchId, kind, subject })) !== undefined;
}

/** @returns the time after which a batch was opened that can be undone */
export function undoableSince(now: number): number {
  return now - KEPT_MS;
}

/** Finds a batch that can be undone, or was. */
export async function findBatch(
  session: Session,
  { clinicId, fp, now }: { readonly clinicId: number; readonly fp: string; readonly now: number },
): Promise<{ id: number; undone_at: number | null } | undefined> {
  return session.first(batchByFp, { clinicId, fp, since: undoableSince(now) });
}

/** @returns whether the batch has no row. It is removed then */
async function close(session: Session, id: number): Promise<boolean> {
  const counted = await session.first(countRows, { id });
  if (counted === undefined || counted.rows === 0) {
    await session.all(deleteBatch, { id });
    return true;
  }
  const counts = { created: 0, changed: 0, removed: 0 };
  for (const { change, animals } of await session.all(countAnimals, { id })) counts[change] = animals;
  await session.all(setCounts, { id, rows: counted.rows, ...counts });
  return false;
}

async function dropBeyond(session: Session, clinicId: number, now: number): Promise<void> {
  await session.all(deleteOldRows, { before: now - KEPT_MS });
  await session.all(deleteOld, { before: now - KEPT_MS });
  const last = (await session.first(lastBeyond, { clinicId }))?.id;
  if (last == null) return;
  await session.all(deleteRowsUpTo, { clinicId, last });
  await session.all(deleteUpTo, { clinicId, last });
}

interface BatchRow {
  readonly fp: string;
  readonly clinicId: number;
  readonly door: Door;
  readonly source: string | null;
  readonly userId: number | null;
  readonly keyId: number | null;
  readonly now: number;
}

// Responses of /api/v1 show no batch.
const insertBatch = uncachedWrite((db, p: BatchRow) =>
  db
    .insertInto("batch")
    .values({
      fp: p.fp,
      clinic_id: p.clinicId,
      door: p.door,
      source: p.source,
      user_id: p.userId,
      api_key_id: p.keyId,
      at: p.now,
    })
    .returning("id"),
);

interface ChangeRow {
  readonly batchId: number;
  readonly kind: string;
  readonly subject: string;
  readonly change: RowChange;
  readonly before: string | null;
  readonly after: string;
}

const insertRow = uncachedWrite((db, p: ChangeRow) =>
  db
    .insertInto("batch_row")
    .values({
      batch_id: p.batchId,
      kind: p.kind,
      subject: p.subject,
      change: p.change,
      before: p.before,
      after: p.after,
    })
    .onConflict((conflict) =>
      conflict.columns(["batch_id", "kind", "subject"]).doUpdateSet((set) => ({
        after: set.ref("excluded.after"),
        change: set
          .case()
          .when("batch_row.before", "is", null)
          .then(set.ref("batch_row.change"))
          .else(set.ref("excluded.change"))
          .end(),
      })),
    ),
);

const rowOf = query((db, p: { batchId: number; kind: string; subject: string }) =>
  db
    .selectFrom("batch_row")
    .select("id")
    .where("batch_id", "=", p.batchId)
    .where("kind", "=", p.kind)
    .where("subject", "=", p.subject),
);

const batchByFp = query((db, p: { clinicId: number; fp: string; since: number }) =>
  db
    .selectFrom("batch")
    .select(["id", "undone_at"])
    .where("clinic_id", "=", p.clinicId)
    .where("fp", "=", p.fp)
    .where("at", ">", p.since),
);

const countRows = query((db, p: { id: number }) =>
  db
    .selectFrom("batch_row")
    .select(({ fn }) => fn.countAll<number>().as("rows"))
    .where("batch_id", "=", p.id),
);

const countAnimals = query((db, p: { id: number }) =>
  db
    .selectFrom("batch_row")
    .select(({ fn }) => ["change", fn.countAll<number>().as("animals")])
    .where("batch_id", "=", p.id)
    .where("kind", "=", "animal")
    .groupBy("change"),
);

const setCounts = uncachedWrite(
  (db, p: { id: number; rows: number; created: number; changed: number; removed: number }) =>
    db
      .updateTable("batch")
      .set({ row_count: p.rows, created: p.created, changed: p.changed, removed: p.removed })
      .where("id", "=", p.id),
);

const deleteBatch = uncachedWrite((db, p: { id: number }) => db.deleteFrom("batch").where("id", "=", p.id));

const deleteOldRows = uncachedWrite((db, p: { before: number }) =>
  db
    .deleteFrom("batch_row")
    .where("batch_id", "in", (old) => old.selectFrom("batch").select("id").where("at", "<=", p.before)),
);

const deleteOld = uncachedWrite((db, p: { before: number }) => db.deleteFrom("batch").where("at", "<=", p.before));

/** The newest batch of a clinic that the ones after it leave no room for. */
const lastBeyond = query((db, p: { clinicId: number }) =>
  db
    .selectFrom(
      db
        .selectFrom("batch")
        .select(({ fn }) => [
          "id",
          fn
            .sum<number>("row_count")
            .over((over) => over.orderBy("id", "desc"))
            .as("rows_from_it"),
          fn
            .agg<number>("row_number")
            .over((over) => over.orderBy("id", "desc"))
            .as("place"),
        ])
        .where("clinic_id", "=", p.clinicId)
        .as("counted"),
    )
    .select(({ fn }) => fn.max<number | null>("id").as("id"))
    // The newest one stays, whatever its size.
    .where((where) =>
      where.and([
        where("place", ">", where.lit(1)),
        where.or([where("rows_from_it", ">", where.lit(ROWS_MAX)), where("place", ">", where.lit(BATCHES_MAX))]),
      ]),
    ),
);

const deleteRowsUpTo = uncachedWrite((db, p: { clinicId: number; last: number }) =>
  db
    .deleteFrom("batch_row")
    .where("batch_id", "in", (older) =>
      older.selectFrom("batch").select("id").where("clinic_id", "=", p.clinicId).where("id", "<=", p.last),
    ),
);

const deleteUpTo = uncachedWrite((db, p: { clinicId: number; last: number }) =>
  db.deleteFrom("batch").where("clinic_id", "=", p.clinicId).where("id", "<=", p.last),
);
