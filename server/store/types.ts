import type { CommitLoss } from "../../shared/runtime/commit-mark.ts";
import type { Session } from "./query.ts";
import type { Versions } from "./cache-versions.ts";

/** The server's database. */
export interface Store extends Session {
  /** Other servers may work on the same database at the same time. */
  readonly shared: boolean;
  /** Acknowledged commits that are missing, as found within the last 30 days. Null on PostgreSQL, which guards its own log. */
  readonly loss: CommitLoss | null;
  /**
   * Runs the work in one transaction, on the disk when the promise resolves, undone when it rejects. The work is run again
   * when PostgreSQL undid it for another server's sake: what it changes besides the session, it must begin anew.
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Makes `versions` include every commit, of any process, that precedes this call. */
  refreshVersions(): Promise<void>;
  /** Returns a clinic's versions as of the last refresh. */
  versions(clinicId: number): Promise<Versions>;
  /** Reads one state of the database, however long the work takes; writers go on meanwhile. */
  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Rejects if the database does not respond. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
