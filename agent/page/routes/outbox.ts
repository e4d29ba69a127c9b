import type { FastifyInstance } from "fastify";
import type { LocalOutbox } from "../types/queue.ts";
import type { Host } from "../../host.ts";
import { readSpool } from "../../spool/access.ts";
import { listOutbox } from "../../spool/queries/studies/outbox-list.ts";
import { runningAgent } from "./running-agent.ts";

const STUDIES_MAX = 100;

/** Adds the studies that wait for the server, and why they do. */
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
}
