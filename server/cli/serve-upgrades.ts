import path from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { VERSION } from "../../shared/runtime/program-files.ts";
import { copyBytes, copyDatabase, copyName } from "../../shared/upgrade/database-copy.ts";
import { findParent } from "../../shared/upgrade/parent.ts";
import { serveRequests } from "../../shared/upgrade/requests.ts";
import { Upgrader } from "../../shared/upgrade/upgrader.ts";
import { isPostgresUrl } from "../store/database/open.ts";

// The upgrade of the running server, by `vetwire upgrade server` on its machine.

const HEALTH_MS = 2_000;

/** Tells the launcher how the server is, and takes requests. @returns the order to stop for a new version, if one comes */
export function serveUpgrades(app: FastifyInstance, data: string, location: string, log: Logger): Promise<void> {
  const parent = findParent();
  if (parent === null) return new Promise(() => undefined);
  const database = isPostgresUrl(location) ? null : path.join(data, "vetwire.db");
  const upgrader = new Upgrader(parent, {
    program: "server",
    version: VERSION,
    log,
    copyBytes: () => (database === null ? 0 : copyBytes(database)),
    async copyDatabase() {
      if (database === null) return "PostgreSQL is not copied: its own backup is the way back";
      await copyDatabase(database);
      return `the database was copied to ${copyName(database)}`;
    },
    // Agents and browsers ask again, so a request under way at the stop is lost to nobody.
    whenQuiet: () => Promise.resolve(),
    expects: () => ({ heartbeat: false, known: [] }),
  });
  serveRequests(parent.folder, upgrader, {
    fetch: () => Promise.reject(new Error("a server fetches from nowhere: name the release with --from")),
    wanted: () => null,
  });
  const tell = async () => {
    const { statusCode, body } = await app.inject("/readyz");
    const problems = statusCode === 200 ? [] : [{ what: "database", reason: body }];
    parent.tell({ problems, heartbeat: false });
  };
  void tell();
  setInterval(() => void tell(), HEALTH_MS).unref();
  return upgrader.ordered;
}
