import type { Soon } from "./maybe-promise.ts";
import type { Session } from "./query.ts";
import type { Versions } from "./cache-versions.ts";

/** The server's database. */
export interface Store extends Session {
  /** Other servers may work on the same database at the same time. */
  readonly shared: boolean;
  /**
   * Runs the work in one transaction, on the disk when the promise resolves, undone when it rejects. The work is run again
   * when PostgreSQL undid it for another server's sake: what it changes besides the session, it must begin anew.
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Looks for what was committed, by whatever process, until this was asked or later: `versions` knows it then. */
  refreshVersions(): Promise<void>;
  /** A clinic's versions as the last look found them. */
  versions(clinicId: number): Soon<Versions>;
  /** Reads one state of the database, however long the work takes; writers go on meanwhile. */
  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
