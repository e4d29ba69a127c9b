import type { Kysely } from "kysely";
import { newUlid } from "../../../shared/api/fp.ts";
import type {
  FileChoices,
  FileFault,
  FileReading,
  FileResult,
  ImportPhase,
  LineFault,
} from "../../dashboard/types/file-import.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type FileImportColumns, parseStored, type Tables } from "../../database/schema.ts";
import type { Store } from "../../database/store.ts";

// The last file of each clinic: what was decided about it, how far it is, and what became of its lines. A server that starts again
// goes on with it.

export interface FileImport {
  readonly id: number;
  readonly publicId: string;
  readonly clinicId: number;
  /** Null for a file of a watched folder whose questions no user has answered. */
  readonly userId: number | null;
  /** The key of the agent that watches the folder; null for a file of a user. */
  readonly keyId: number | null;
  readonly fileName: string;
  /** Name of the user, else of the key. */
  readonly by: string;
  readonly phase: ImportPhase;
  readonly choices: FileChoices;
  readonly reading: FileReading | null;
  readonly fault: FileFault | null;
  readonly done: number;
  readonly result: FileResult | null;
  readonly batch: { readonly id: number; readonly fp: string } | null;
  readonly leaseUntil: number;
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

/** Time for which a file stays after its import, for its refused lines and for undo. */
export const KEPT_MS = 24 * 3_600_000;

/** Time for which a file of a watched folder waits for a person. */
const WAITS_MS = 7 * KEPT_MS;

/** Finds the last file that a user of the clinic sent. */
export async function lastImport(session: Session, clinicId: number): Promise<FileImport | undefined> {
  const row = await session.first(last, { clinicId });
  return row && toImport(row);
}

/** Lists the files of watched folders, the newest first. */
export async function folderImports(session: Session, clinicId: number): Promise<FileImport[]> {
  return (await session.all(ofFolders, { clinicId })).map(toImport);
}

export async function findImport(
  session: Session,
  name: { readonly clinicId: number; readonly publicId: string },
): Promise<FileImport | undefined> {
  const row = await session.first(byPublicId, name);
  return row && toImport(row);
}

type NewImport = Pick<FileImport, "clinicId" | "userId" | "keyId" | "fileName"> & {
  readonly parts: readonly string[];
  readonly now: number;
};

/** Keeps a file in place of the last one that a user of the clinic sent. Run it in a transaction. @returns its public id */
export async function replaceImport(session: Session, file: NewImport): Promise<string> {
  for (const { id } of await session.all(ofUsers, { clinicId: file.clinicId })) await deleteImport(session, id);
  return (await insertImport(session, file)).publicId;
}

/** Keeps a file, in parts. Run it in a transaction. */
export async function insertImport(session: Session, file: NewImport): Promise<{ id: number; publicId: string }> {
  const publicId = newUlid();
  const inserted = await session.first(insert, { ...file, publicId });
  if (inserted === undefined) throw new Error("an insert returned no row");
  await session.each(
    insertPart,
    file.parts.map((content, position) => ({ importId: inserted.id, position, content })),
  );
  return { id: inserted.id, publicId };
}

/** Removes a file with all that is known of it. Run it in a transaction. */
export async function deleteImport(session: Session, id: number): Promise<void> {
  await session.all(deleteParts, { id });
  await session.all(deleteRefusals, { id });
  await session.all(deleteRow, { id });
}

/** Removes the files that are older than a day, also of other clinics: they have names and phones. */
export async function deleteOldImports(session: Session, now: number): Promise<void> {
  const old = await session.all(oldOnes, { before: now - KEPT_MS, waitsBefore: now - WAITS_MS });
  for (const { id } of old) await deleteImport(session, id);
}

export async function partsOf(session: Session, id: number): Promise<string[]> {
  return (await session.all(parts, { id })).map(({ content }) => content);
}

/** Stores the decisions about a file, and who made them. Its preview begins again. */
export async function keepReading(
  session: Session,
  id: number,
  { choices, reading, fault, userId }: Pick<FileImport, "choices" | "reading" | "fault" | "userId">,
): Promise<void> {
  const texts = { choices: JSON.stringify(choices), reading: jsonOf(reading), fault: jsonOf(fault) };
  await session.all(deleteRefusals, { id });
  await session.all(updateReading, { id, userId, ...texts });
}

/** Begins a phase from the first line on. */
export async function beginPhase(session: Session, id: number, phase: ImportPhase, now: number): Promise<void> {
  await session.all(deleteRefusals, { id });
  await session.all(updatePhase, { id, phase, now });
}

/** Ends a phase. */
export async function endPhase(
  session: Session,
  id: number,
  phase: ImportPhase,
  now: number,
  hasBatch: boolean,
): Promise<void> {
  await session.all(hasBatch ? updateEnd : updateEndWithoutBatch, { id, phase, now });
}

/** Stores the progress of a phase, unless another server has taken the import. @returns whether it is stored */
export async function keepProgress(
  session: Session,
  { id, phase, done }: Pick<FileImport, "id" | "phase" | "done">,
  next: {
    readonly done: number;
    readonly result: FileResult;
    readonly batch: FileImport["batch"];
    readonly leaseUntil: number;
    readonly refused: readonly {
      readonly position: number;
      readonly line: number;
      readonly faults: readonly LineFault[];
    }[];
  },
): Promise<boolean> {
  const { batch, result, leaseUntil } = next;
  const values = {
    done: next.done,
    result: JSON.stringify(result),
    batchId: batch?.id ?? null,
    batchFp: batch?.fp ?? null,
  };
  const kept = await session.first(updateProgress, { id, phase, before: done, ...values, leaseUntil });
  if (kept === undefined) return false;
  await session.each(
    insertRefusal,
    next.refused.map(({ position, line, faults }) => ({ id, position, line, faults: JSON.stringify(faults) })),
  );
  return true;
}

export async function refusalsOf(
  session: Session,
  id: number,
  after: number,
): Promise<{ position: number; line: number; faults: LineFault[] }[]> {
  const rows = await session.all(refusals, { id, after });
  return rows.map((row) => ({ ...row, faults: parseStored(row.faults) }));
}

/** A lease that ends this much later than a new one comes from a clock that was set back since. It must not hold the import for years. */
const AHEAD_MS = 3_600_000;

/**
 * Takes an import that no server works on: that of the next clinic after the last one, so that a clinic with many files keeps no other
 * waiting. @returns undefined if no import waits
 */
export async function claimImport(
  store: Store,
  { now, leaseMs, lastClinicId }: { readonly now: number; readonly leaseMs: number; readonly lastClinicId: number },
): Promise<FileImport | undefined> {
  // Most looks find none, and need no transaction.
  const leaseUntil = now + leaseMs;
  const times = { now, farAhead: leaseUntil + AHEAD_MS };
  const free = await store.first(firstFree, { ...times, lastClinicId });
  if (free === undefined) return undefined;
  const taken = await store.transaction((session) => session.first(take, { id: free.id, ...times, leaseUntil }));
  return taken === undefined ? undefined : { ...toImport(free), leaseUntil };
}

/** Whether an import of another clinic waits for a server. */
export async function doOthersWait(
  store: Store,
  { now, leaseMs, clinicId }: { readonly now: number; readonly leaseMs: number; readonly clinicId: number },
): Promise<boolean> {
  const next = await store.first(firstFree, { now, farAhead: now + leaseMs + AHEAD_MS, lastClinicId: clinicId });
  return next !== undefined && next.clinic_id !== clinicId;
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function toImport(row: FileImportColumns & { id: number; by: string | null }): FileImport {
  return {
    ...{ id: row.id, publicId: row.public_id, clinicId: row.clinic_id, fileName: row.file_name },
    ...{ userId: row.user_id, keyId: row.api_key_id },
    ...{ by: row.by ?? "", phase: row.phase, done: row.done, leaseUntil: row.lease_until },
    ...{ startedAt: row.started_at, finishedAt: row.finished_at },
    choices: parseStored(row.choices),
    reading: parseStored(row.reading),
    fault: parseStored(row.fault),
    result: parseStored(row.result),
    batch: row.batch_id === null || row.batch_fp === null ? null : { id: row.batch_id, fp: row.batch_fp },
  };
}

/** Files with the name of who sent or answered them. */
function withNames(db: Kysely<Tables>) {
  return db
    .selectFrom("file_import")
    .leftJoin("dashboard_user", "dashboard_user.id", "file_import.user_id")
    .leftJoin("api_key", "api_key.id", "file_import.api_key_id")
    .selectAll("file_import")
    .select((select) => select.fn.coalesce(select.ref("dashboard_user.name"), select.ref("api_key.name")).as("by"));
}

const last = query((db, p: { clinicId: number }) =>
  withNames(db)
    .where("file_import.clinic_id", "=", p.clinicId)
    .where("file_import.api_key_id", "is", null)
    .orderBy("file_import.id", "desc")
    .limit(1),
);

const FOLDER_FILES_MAX = 50;

const ofFolders = query((db, p: { clinicId: number }) =>
  withNames(db)
    .where("file_import.clinic_id", "=", p.clinicId)
    .where("file_import.api_key_id", "is not", null)
    .orderBy("file_import.id", "desc")
    .limit(FOLDER_FILES_MAX),
);

const byPublicId = query((db, p: { clinicId: number; publicId: string }) =>
  withNames(db).where("file_import.clinic_id", "=", p.clinicId).where("file_import.public_id", "=", p.publicId),
);

const ofUsers = query((db, p: { clinicId: number }) =>
  db.selectFrom("file_import").select("id").where("clinic_id", "=", p.clinicId).where("api_key_id", "is", null),
);

const oldOnes = query((db, p: { before: number; waitsBefore: number }) =>
  db
    .selectFrom("file_import")
    .select("id")
    .where("phase", "not in", BUSY)
    .where("started_at", "<", p.before)
    .where((where) =>
      where.or([
        where("started_at", "<", p.waitsBefore),
        where("api_key_id", "is", null),
        where("phase", "not in", ["read", "previewed"]),
      ]),
    ),
);

/** The clinics after the last one come first, and those of the last one at the end. */
const firstFree = query((db, p: { now: number; farAhead: number; lastClinicId: number }) =>
  withNames(db)
    .where("file_import.phase", "in", BUSY)
    .where((where) => where.or([where("lease_until", "<=", p.now), where("lease_until", ">", p.farAhead)]))
    .orderBy((order) => order("file_import.clinic_id", "<=", p.lastClinicId))
    .orderBy("file_import.clinic_id")
    .orderBy("file_import.id")
    .limit(1),
);

const BUSY: ImportPhase[] = ["previewing", "running"];

const take = uncachedWrite((db, p: { id: number; now: number; farAhead: number; leaseUntil: number }) =>
  db
    .updateTable("file_import")
    .set({ lease_until: p.leaseUntil })
    .where("id", "=", p.id)
    .where((where) => where.or([where("lease_until", "<=", p.now), where("lease_until", ">", p.farAhead)]))
    .returning("id"),
);

const insert = uncachedWrite((db, p: Omit<NewImport, "parts"> & { publicId: string }) =>
  db
    .insertInto("file_import")
    .values({
      public_id: p.publicId,
      clinic_id: p.clinicId,
      user_id: p.userId,
      api_key_id: p.keyId,
      file_name: p.fileName,
      phase: "read",
      choices: "{}",
      done: 0,
      lease_until: 0,
      started_at: p.now,
    })
    .returning("id"),
);

const insertPart = uncachedWrite((db, p: { importId: number; position: number; content: string }) =>
  db.insertInto("file_import_part").values({ import_id: p.importId, position: p.position, content: p.content }),
);

const parts = query((db, p: { id: number }) =>
  db.selectFrom("file_import_part").select("content").where("import_id", "=", p.id).orderBy("position"),
);

const updateReading = uncachedWrite(
  (db, p: { id: number; userId: number | null; choices: string; reading: string | null; fault: string | null }) =>
    db
      .updateTable("file_import")
      .set({
        user_id: p.userId,
        choices: p.choices,
        reading: p.reading,
        fault: p.fault,
        phase: "read",
        done: 0,
        result: null,
      })
      .where("id", "=", p.id),
);

const updatePhase = uncachedWrite((db, p: { id: number; phase: ImportPhase; now: number }) =>
  db
    .updateTable("file_import")
    .set({ phase: p.phase, done: 0, result: null, lease_until: 0, started_at: p.now, finished_at: null })
    .where("id", "=", p.id),
);

const updateEnd = uncachedWrite((db, p: { id: number; phase: ImportPhase; now: number }) =>
  db.updateTable("file_import").set({ phase: p.phase, finished_at: p.now }).where("id", "=", p.id),
);

const updateEndWithoutBatch = uncachedWrite((db, p: { id: number; phase: ImportPhase; now: number }) =>
  db
    .updateTable("file_import")
    .set({ phase: p.phase, finished_at: p.now, batch_id: null, batch_fp: null })
    .where("id", "=", p.id),
);

interface ProgressRow {
  readonly id: number;
  readonly phase: ImportPhase;
  readonly before: number;
  readonly done: number;
  readonly result: string;
  readonly batchId: number | null;
  readonly batchFp: string | null;
  readonly leaseUntil: number;
}

const updateProgress = uncachedWrite((db, p: ProgressRow) =>
  db
    .updateTable("file_import")
    .set({ done: p.done, result: p.result, batch_id: p.batchId, batch_fp: p.batchFp, lease_until: p.leaseUntil })
    .where("id", "=", p.id)
    .where("phase", "=", p.phase)
    .where("done", "=", p.before)
    .returning("id"),
);

const insertRefusal = uncachedWrite((db, p: { id: number; position: number; line: number; faults: string }) =>
  db
    .insertInto("file_import_refusal")
    .values({ import_id: p.id, position: p.position, line: p.line, faults: p.faults }),
);

const REFUSALS_AT_ONCE = 1000;

const refusals = query((db, p: { id: number; after: number }) =>
  db
    .selectFrom("file_import_refusal")
    .select(["position", "line", "faults"])
    .where("import_id", "=", p.id)
    .where("position", ">", p.after)
    .orderBy("position")
    .limit(REFUSALS_AT_ONCE),
);

const deleteParts = uncachedWrite((db, p: { id: number }) =>
  db.deleteFrom("file_import_part").where("import_id", "=", p.id),
);

const deleteRefusals = uncachedWrite((db, p: { id: number }) =>
  db.deleteFrom("file_import_refusal").where("import_id", "=", p.id),
);

const deleteRow = uncachedWrite((db, p: { id: number }) => db.deleteFrom("file_import").where("id", "=", p.id));
