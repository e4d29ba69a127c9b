import type { FastifyInstance } from "fastify";
import { StoreUnavailable } from "../store/database/query.ts";
import type { Store } from "../store/database/store.ts";
import { notReady } from "./errors.ts";

/** Adds /healthz (the process runs) and /readyz (the database responds and takes writes). Both take no key. */
export function healthRoutes(app: FastifyInstance, store: Pick<Store, "ping">): void {
  app.route({ method: "GET", url: "/healthz", handler: () => ({ status: "ok" }) });
  app.route({
    method: "GET",
    url: "/readyz",
    handler: async (request) => {
      await store.ping().catch((error: unknown) => {
        throw error instanceof StoreUnavailable ? notReady(error, request.id) : error;
      });
      return { status: "ready" };
    },
  });
}
