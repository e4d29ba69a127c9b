import type { FastifyInstance } from "fastify";
import type { Store } from "../store/database/store.ts";
import type { Drain } from "./drain.ts";

/** Adds /healthz (the process runs) and /readyz (the database responds, and no stop has begun). Both take no key. */
export function healthRoutes(app: FastifyInstance, store: Store, drain: Drain): void {
  app.route({ method: "GET", url: "/healthz", handler: () => ({ status: "ok" }) });
  app.route({
    method: "GET",
    url: "/readyz",
    handler: async (_request, reply) => {
      if (drain.hasBegun) return reply.code(503).send({ status: "not ready", reason: "the server is stopping" });
      await store.ping();
      return { status: "ready" };
    },
  });
}
