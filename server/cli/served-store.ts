import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { waitingApp } from "../http/waiting-app.ts";
import type { Certificate } from "../http/certificate.ts";
import { isPostgresUrl, openStore } from "../store/database/open.ts";
import { isRefused } from "../store/database/postgres-client.ts";
import { StoreUnavailable } from "../store/database/query.ts";
import type { Store } from "../store/database/store.ts";

// The database of a server that starts. While PostgreSQL has no node that takes writes, the server waits and says so at its port.

const RETRY_MS = 500;

export interface ServedStoreOptions {
  /** A data folder or the URL of PostgreSQL. */
  readonly location: string;
  readonly readUrl: string | null;
  readonly undoNewer: boolean;
  readonly port: number;
  readonly host: string;
  readonly certificate: Certificate | undefined;
  readonly logger: Logger;
}

/**
 * Opens the database, and serves 503 until it is there. @returns null if `stopped` resolves first
 * @throws Error with the remedy if waiting does not help
 */
export async function openServedStore(options: ServedStoreOptions, stopped: Promise<unknown>): Promise<Store | null> {
  const { location, readUrl, undoNewer, port, host, logger } = options;
  let reason: StoreUnavailable | undefined;
  const tryOpen = async (): Promise<Store | undefined> => {
    try {
      return await openStore(location, undefined, undoNewer, readUrl);
    } catch (error) {
      const isWaiting = error instanceof StoreUnavailable && isPostgresUrl(location) && !isRefused(error);
      if (!isWaiting) throw error;
      if (error.message !== reason?.message) logger.warn({ reason: error.message }, "waiting for the database");
      reason = error;
      return undefined;
    }
  };
  const first = await tryOpen();
  if (first !== undefined) return first;

  const app = waitingApp({ ...options, reason: () => reason ?? new StoreUnavailable("the database is not open") });
  const stop = stopped.then(() => true);
  try {
    logger.info(`responding 503 on ${await app.listen({ port, host })} until the database takes writes`);
    while (!(await Promise.race([sleep(RETRY_MS, false), stop]))) {
      const store = await tryOpen();
      if (store !== undefined) return store;
    }
    return null;
  } finally {
    app.server.closeAllConnections();
    await app.close();
  }
}
