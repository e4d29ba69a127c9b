import { Type } from "typebox";
import { Patient } from "../../shared/api/patient.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import type { ServerPages } from "./server-pages.ts";

// Keeps the patients in the spool in step with the server. A full sync reads all patients once a day. An incremental sync
// reads the changes since the last one.

// Additional fields are allowed, because a later server may add fields to a patient.
const KnownPatient = Type.Object({ ...Patient.properties });
const KnownIdentifiers = Type.Object({ patient_fp: Type.String(), identifiers: Type.Array(Type.String()) });
const RemovedPatient = Type.Object({ patient_fp: Type.String(), updated_at: Patient.properties.updated_at });
const page = { total: Type.Integer(), has_more: Type.Boolean() };
const PatientPage = compileLater(Type.Object({ data: Type.Object({ items: Type.Array(KnownPatient), ...page }) }));
const IdentifierPage = compileLater(
  Type.Object({ data: Type.Object({ items: Type.Array(KnownIdentifiers), ...page }) }),
);
const RemovedPage = compileLater(Type.Object({ data: Type.Object({ items: Type.Array(RemovedPatient), ...page }) }));

/** Interval of full syncs, which find changes that incremental syncs missed. */
const FULL_SYNC_MS = 24 * 60 * 60 * 1000;
/** Delay before an incomplete full sync is repeated. It takes many requests. */
const FULL_SYNC_RETRY_MS = 5 * 60 * 1000;
/** Interval at which syncs without a change are stored for `status`. */
const UNCHANGED_SYNC_MS = 60_000;
/** A change may become visible this long after its updated_at, because the clocks of a server's nodes differ. */
const OVERLAP_MS = 60_000;

export interface SyncResult {
  /** The sync read all patients. */
  readonly whole: boolean;
  /** Number of added, changed and removed patients. */
  readonly changed: number;
}

/** Position in a list of changes. */
interface Cursor {
  /** The newest updated_at seen, by the clock of the server. */
  readonly at: number;
  /** Start of the sync that saw it, by the clock of the agent. */
  readonly seenAt: number;
}

/** State of the directory in the spool. Times are in ms since 1970. */
interface SyncProgress {
  readonly patients: Cursor;
  readonly removed: Cursor;
  /** Start of the last complete full sync; undefined before the first. */
  readonly fullSyncAt?: number;
  readonly syncedAt: number;
}

const ORIGIN: Cursor = { at: 0, seenAt: 0 };

export class DirectorySync {
  readonly #spool: SpoolCalls;
  readonly #pages: ServerPages;
  /** A time of performance.now(), in ms. */
  #fullSyncTriedAt = Number.NEGATIVE_INFINITY;
  /** The spool may lack identifiers of a changed patient. True at first, because an earlier sync may have been interrupted. */
  #lacksIdentifiers = true;

  constructor(spool: SpoolCalls, pages: ServerPages) {
    this.#spool = spool;
    this.#pages = pages;
  }

  /** @returns true after the first complete full sync */
  async isComplete(): Promise<boolean> {
    return (await this.#progress()).fullSyncAt !== undefined;
  }

  /** Fetches the changes since the last sync, or all patients. The caller runs one sync at a time. @throws SendError */
  async run(): Promise<SyncResult> {
    const startedAt = Date.now();
    const last = await this.#progress();
    const isFull = this.#isFullSyncDue(last, startedAt);
    if (isFull) this.#fullSyncTriedAt = performance.now();

    // Removals come first, so that a patient who was removed and added again stays. Each list has its own cursor, because a
    // change may fall between the two requests.
    let { removed = last.patients ?? ORIGIN } = last;
    let changed = 0;
    if (!isFull) {
      const removals = await this.#syncRemovals(removed, sinceOf(removed, last), startedAt);
      removed = removals.cursor;
      changed += removals.count;
    }
    const from = last.patients ?? ORIGIN;
    const since = isFull ? null : sinceOf(from, last);
    const synced = await this.#syncPatients(from, since, startedAt);
    changed += synced.changed;
    if (isFull || this.#lacksIdentifiers) await this.#syncIdentifiers(since, startedAt);
    // A removal during a full sync moves a patient across a page boundary, so only a sync that met them all removes the others.
    const whole = isFull && synced.met === synced.total;
    const progress = {
      ...last,
      patients: synced.cursor,
      removed: whole ? synced.cursor : removed,
      syncedAt: startedAt,
    };
    await this.#store(last, progress, whole);
    return { whole, changed };
  }

  #isFullSyncDue({ patients, fullSyncAt }: Partial<SyncProgress>, now: number): boolean {
    if (patients === undefined) return true;
    // A clock that was set back leaves a time ahead.
    const isDue = fullSyncAt === undefined || Math.abs(now - fullSyncAt) > FULL_SYNC_MS;
    return isDue && performance.now() - this.#fullSyncTriedAt >= FULL_SYNC_RETRY_MS;
  }

  /** Removes the patients who were deleted or disconnected. */
  async #syncRemovals(from: Cursor, since: number, startedAt: number): Promise<{ cursor: Cursor; count: number }> {
    let cursor = from;
    let count = 0;
    for await (const body of this.#pages.list("/agent/v1/removed", since)) {
      if (!RemovedPage.Check(body)) {
        throw new Error("invalid response of GET /agent/v1/removed: expected a page of removed patients");
      }
      const { items } = body.data;
      cursor = advanced(cursor, items, startedAt);
      const removed = items.map(({ patient_fp, updated_at }) => ({ fp: patient_fp, at: Date.parse(updated_at) }));
      if (removed.length > 0) count += await this.#spool.call("removePatients", removed);
    }
    return { cursor, count };
  }

  /** Stores the patients of a list; `since` is null in a full sync. @returns the patients met, and the server's total */
  async #syncPatients(
    from: Cursor,
    since: number | null,
    startedAt: number,
  ): Promise<{ cursor: Cursor; changed: number; met: number; total: number }> {
    const met = new Set<string>();
    let cursor = from;
    let changed = 0;
    let total = 0;
    for await (const body of this.#pages.list("/api/v1/patients", since)) {
      if (!PatientPage.Check(body)) {
        throw new Error("invalid response of GET /api/v1/patients: expected a page of patients");
      }
      const { items } = body.data;
      for (const { fp } of items) met.add(fp);
      cursor = advanced(cursor, items, startedAt);
      total = body.data.total;
      const rows = items.map((patient) => ({ fp: patient.fp, body: JSON.stringify(patient) }));
      const generation = since === null ? startedAt : null;
      const updated = rows.length === 0 ? 0 : await this.#spool.call("upsertPatients", rows, generation);
      this.#lacksIdentifiers ||= updated > 0;
      changed += updated;
    }
    return { cursor, changed, met: met.size, total };
  }

  async #syncIdentifiers(since: number | null, startedAt: number): Promise<void> {
    for await (const body of this.#pages.list("/agent/v1/identifiers", since)) {
      if (!IdentifierPage.Check(body)) {
        throw new Error("invalid response of GET /agent/v1/identifiers: expected a page of identifiers");
      }
      const rows = body.data.items.map(({ patient_fp, identifiers }) => ({ patientFp: patient_fp, identifiers }));
      await this.#spool.call("setIdentifiers", rows, since === null ? startedAt : null);
    }
    this.#lacksIdentifiers = false;
  }

  /** Stores the progress. After a complete full sync the spool removes the patients that it did not meet. */
  async #store(last: Partial<SyncProgress>, progress: SyncProgress, whole: boolean): Promise<void> {
    const { syncedAt } = progress;
    if (whole) {
      const complete: SyncProgress = { ...progress, fullSyncAt: syncedAt };
      await this.#spool.call("endFullSync", syncedAt, JSON.stringify(complete), last.fullSyncAt === undefined);
    } else if (isWorthStoring(last, progress)) {
      await this.#spool.call("setMeta", "directory", JSON.stringify(progress));
    }
  }

  async #progress(): Promise<Partial<SyncProgress>> {
    return JSON.parse((await this.#spool.call("getMeta", "directory")) ?? "{}") as Partial<SyncProgress>;
  }
}

/** Moves a cursor past a page of changes. A time in the future counts as now, because it would hide the changes before it. */
function advanced(cursor: Cursor, items: readonly { readonly updated_at: string }[], now: number): Cursor {
  const at = items.reduce(
    (newest, { updated_at }) => Math.max(newest, Math.min(Date.parse(updated_at), now)),
    cursor.at,
  );
  return at === cursor.at ? cursor : { at, seenAt: now };
}

/**
 * Returns the start of the next sync in ms since 1970. It overlaps the last one until a later sync has read the overlap, so that
 * a large import is not fetched again.
 */
function sinceOf({ at, seenAt }: Cursor, { syncedAt = 0 }: Partial<SyncProgress>): number {
  return syncedAt - seenAt >= OVERLAP_MS ? at + 1 : Math.max(0, at - OVERLAP_MS);
}

function isWorthStoring(last: Partial<SyncProgress>, { patients, removed, syncedAt }: SyncProgress): boolean {
  const hasMoved = patients.at !== last.patients?.at || removed.at !== last.removed?.at;
  return hasMoved || syncedAt - (last.syncedAt ?? 0) >= UNCHANGED_SYNC_MS;
}
