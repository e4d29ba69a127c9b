import type { FastifyInstance } from "fastify";
import { StoreUnavailable } from "../database/query.ts";
import type { Store } from "../database/store.ts";
import type { Drain } from "./drain.ts";
import { notReady } from "./errors.ts";

/** Adds /healthz (the process runs) and /readyz (the database takes writes, and no stop is under way). Neither takes a key. */
export function healthRoutes(app: FastifyInstance, store: Pick<Store, "ping">, drain: Drain): void {
  app.route({ method: "GET", url: "/healthz", handler: () => ({ status: "ok" }) });
  app.get("/readyz", async (request, reply) => {
    if (drain.hasBegun) return reply.code(503).send({ status: "not ready", reason: "the server is stopping" });
    await store.ping().catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? notReady(error, request.id) : error;
    });
    return { status: "ready" };
  });
}
