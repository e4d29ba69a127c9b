import type { DamagedRecords } from "./damaged-records.ts";
import type { Session } from "./query.ts";
import type { Versions } from "./cache-versions.ts";

/** The server's database. */
export interface Store extends Session {
  /** Whether other servers may use the same database. */
  readonly shared: boolean;
  /** The damaged rows that reads found. */
  readonly damaged: DamagedRecords;
  /**
   * Runs the work in one transaction. The transaction is durable when the promise resolves, and rolled back when it rejects.
   * The work runs again after a serialization failure on PostgreSQL, so it must reset any other state that it changes.
   * `repeatable`: work that may run again after its commit, when a lost connection hides whether it was committed.
   */
  transaction<T>(work: (session: Session) => Promise<T>, options?: { readonly repeatable?: boolean }): Promise<T>;
  /** Notes that the commits of a clinic are visible; see stamps.ts. An error is not reported: the next read tries again. */
  noteVisible(clinicId: number): Promise<void>;
  /** Makes `versions` include every commit, of any process, that precedes this call. */
  refreshVersions(): Promise<void>;
  /** Returns a clinic's versions as of the last refresh. */
  versions(clinicId: number): Promise<Versions>;
  /** Runs the work on one snapshot of the database. It does not block writers. */
  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Rejects if the database does not respond. */
  ping(): Promise<void>;
  close(): Promise<void>;
  /** The pools of connections to PostgreSQL. Empty on SQLite. */
  pools(): readonly PoolState[];
}

/** A pool of connections at this moment. */
export interface PoolState {
  readonly name: string;
  /** Open connections, the idle ones included. */
  readonly open: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

/** Carries a result out of a transaction that is rolled back. */
class RolledBack extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("a dry run stores nothing");
    this.result = result;
  }
}

/** Runs the work of a transaction as it would run, and rolls it back. @returns the work's result */
export async function rolledBack<T>(
  store: Pick<Store, "transaction">,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  try {
    return await store.transaction<never>(async (session) => {
      throw new RolledBack(await work(session));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result as T;
    throw error;
  }
}
