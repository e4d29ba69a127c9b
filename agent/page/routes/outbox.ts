import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { PARKED_MAX } from "../../../shared/api/agent/destinations.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { LocalDestinations } from "../types/destinations.ts";
import type { LocalOutbox } from "../types/queue.ts";
import type { Host } from "../../host.ts";
import { readSpool } from "../../spool/access.ts";
import { readDestinations } from "../../spool/queries/result-destinations.ts";
import { listOutbox } from "../../spool/queries/studies/outbox-list.ts";
import { PageError } from "./page-error.ts";
import { runningAgent } from "./running-agent.ts";

const STUDIES_MAX = 100;
/** Max wait for the queues of the server. */
const QUEUES_MS = 2000;

/** Adds the studies that wait for the server, and why they do; and the destinations of results. */
export function outboxRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/outbox", (): LocalOutbox => {
    const agent = runningAgent(host);
    const { config } = agent;
    const { is: state, reason } = agent.serverState();
    return {
      ...readSpool(config.data, (db) => listOutbox(db, STUDIES_MAX)),
      server: { url: config.server.url, state, reason },
    };
  });
  destinationRoutes(app, host);
}

/** Adds the destinations of results, and sends refused ones again through the server, which has their queues. */
function destinationRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/destinations", async (): Promise<LocalDestinations> => {
    const { config, relays } = runningAgent(host);
    const found = readSpool(config.data, (db) => readDestinations(db, true));
    if (found.length === 0) return { destinations: [] };
    // The server may be away: the state says so. One that does not answer holds up no page; what it says later is news for the page.
    const late = wait(QUEUES_MS, null, { ref: false });
    const queues = await Promise.race([relays.readQueues().catch(() => null), late]);
    return {
      destinations: found.map((status) => {
        const { last: _, waiting, ...destination } = status;
        const queue = queues?.destinations.find(({ id }) => id === destination.id);
        return { ...destination, waiting: queue?.waiting ?? waiting, parked: queue?.parked ?? null };
      }),
    };
  });

  app.post<{ Params: { id: string }; Body: { delivery_ids: number[] } }>(
    "/local/v1/destinations/:id/again",
    {
      schema: {
        body: Type.Object({
          delivery_ids: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: PARKED_MAX }),
        }),
      },
    },
    async ({ params: { id }, body }) => {
      const { config, relays, server } = runningAgent(host);
      if (config.resultDestinations.every((destination) => destination.id !== id)) {
        throw new PageError(404, "there is no such destination");
      }
      try {
        await server.post(`/agent/v1/destinations/${encodeURIComponent(id)}/again`, body);
      } catch (error) {
        throw new PageError(502, errorMessage(error));
      }
      relays.wake();
      return {};
    },
  );
}
