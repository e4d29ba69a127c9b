import path from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { VERSION } from "../../shared/files/program-files.ts";
import { copyBytes, copyDatabase, copyName } from "../../shared/platform/upgrade/database-copy.ts";
import { findParent } from "../../shared/platform/upgrade/parent.ts";
import { serveRequests } from "../../shared/platform/upgrade/requests.ts";
import { Upgrader } from "../../shared/platform/upgrade/upgrader.ts";
import { isPostgresUrl } from "../database/open.ts";

// The upgrade of the running server, by `vetwire upgrade server` on its machine.

const HEALTH_MS = 2_000;

interface ServedUpgrades {
  /** The order to stop for a new version. It resolves only if one comes. */
  readonly ordered: Promise<void>;
  /** Stops the reports to the launcher, before the app closes: a closing app does not respond. */
  stop(): void;
}

/** Reports the state of the server to the launcher, and takes requests. */
export function serveUpgrades(app: FastifyInstance, data: string, location: string, log: Logger): ServedUpgrades {
  const parent = findParent();
  if (parent === null) return { ordered: new Promise(() => undefined), stop: () => undefined };
  const database = isPostgresUrl(location) ? null : path.join(data, "vetwire.db");
  const upgrader = new Upgrader(parent, {
    program: "server",
    version: VERSION,
    log,
    copyBytes: async () => (database === null ? 0 : copyBytes(database)),
    async copyDatabase() {
      if (database === null) return "PostgreSQL is not copied: its own backup is the way back";
      await copyDatabase(database);
      return `the database was copied to ${copyName(database)}`;
    },
    // Agents and browsers repeat a request that the stop cut off, so nothing is lost.
    whenQuiet: () => Promise.resolve(),
    expects: () => ({ heartbeat: false, known: [] }),
  });
  serveRequests(parent.folder, upgrader, {
    fetch: () => Promise.reject(new Error("this server has no release source: pass --from FILE")),
    wanted: () => null,
  });
  let isStopped = false;
  const tell = async () => {
    const reason = await app.inject("/readyz").then(
      ({ statusCode, body }) => (statusCode === 200 ? null : body),
      (error: unknown) => errorMessage(error),
    );
    if (isStopped) return;
    parent.tell({ problems: reason === null ? [] : [{ what: "database", reason }], heartbeat: false });
  };
  void tell();
  const timer = setInterval(() => void tell(), HEALTH_MS).unref();
  return {
    ordered: upgrader.ordered,
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}
