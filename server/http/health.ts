import type { FastifyInstance } from "fastify";
import type { Store } from "../store/database/store.ts";

/** Adds /healthz (the process runs) and /readyz (the database responds). Both take no key. */
export function healthRoutes(app: FastifyInstance, store: Store): void {
  app.route({ method: "GET", url: "/healthz", handler: () => ({ status: "ok" }) });
  app.route({
    method: "GET",
    url: "/readyz",
    handler: async () => {
      await store.ping();
      return { status: "ready" };
    },
  });
}
