import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { waitingApp } from "../http/waiting-app.ts";
import type { Certificate } from "../http/certificate.ts";
import { isPostgresUrl, openStore } from "../database/open.ts";
import { isRefused } from "../database/postgres-client.ts";
import { StoreUnavailable } from "../database/query.ts";
import type { Store } from "../database/store.ts";

// The database of a server that starts. While PostgreSQL takes no writes, the server waits and responds 503 at its port.

const RETRY_MS = 500;

/** Time in ms after which the port responds although the database is not open: a migration may wait for other sessions. */
const PATIENCE_MS = 1500;

export interface ServedStoreOptions {
  /** A data folder or the URL of PostgreSQL. */
  readonly location: string;
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
  const { location, port, host, logger } = options;
  if (!isPostgresUrl(location)) return openStore(location);
  let reason: StoreUnavailable | undefined;
  const tryOpen = async (): Promise<Store | undefined> => {
    try {
      return await openStore(location);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || isRefused(error)) throw error;
      if (error.message !== reason?.message) logger.warn({ reason: error.message }, "waiting for the database");
      reason = error;
      return undefined;
    }
  };
  let attempt = tryOpen();
  const early = await Promise.race([attempt, sleep(PATIENCE_MS, undefined, { ref: false })]);
  if (early !== undefined) return early;

  const notOpen = new StoreUnavailable("the database is being opened", { reason: "the database is being opened" });
  const app = waitingApp({ ...options, reason: () => reason ?? notOpen });
  const stop = stopped.then(() => null);
  try {
    logger.info(`responding 503 on ${await app.listen({ port, host })} until the database takes writes`);
    for (;;) {
      const store = await Promise.race([attempt, stop]);
      if (store !== undefined) return store;
      if ((await Promise.race([sleep(RETRY_MS), stop])) === null) return null;
      attempt = tryOpen();
    }
  } finally {
    app.server.closeAllConnections();
    await app.close();
  }
}
