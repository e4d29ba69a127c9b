import type { FastifyInstance } from "fastify";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { readSpool } from "../../spool/access.ts";
import type { Host } from "../../host/host.ts";
import { PageError } from "./page-error.ts";

const CHECK_MS = 700;
const STREAMS_MAX = 20;

/** Adds the stream of news: `changed` after each change of the agent, its devices, messages and queue. */
export function eventRoutes(app: FastifyInstance, host: Host): void {
  let streams = 0;
  app.route({
    method: "GET",
    url: "/local/v1/events",
    handler: (request, reply) => {
      if (streams >= STREAMS_MAX) throw new PageError(503, `${STREAMS_MAX} pages are open already: close one`);
      streams += 1;
      reply.hijack();
      reply.raw.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
      reply.raw.write("event: ready\ndata:\n\n");
      let known: string | undefined;
      const timer = setInterval(() => {
        const mark = changeMark(host);
        if (mark === known) return;
        known = mark;
        reply.raw.write("event: changed\ndata:\n\n");
      }, CHECK_MS);
      request.raw.once("close", () => {
        clearInterval(timer);
        streams -= 1;
      });
    },
  });
}

/** Returns a text that differs after each change that a page shows. */
function changeMark({ agent }: Host): string {
  if (agent === null) return "no agent";
  const states = agent.devices.map((device) => device.state());
  try {
    const versions = readSpool(agent.config.data, (db) => [db.prepare(LAST_ROWS).raw().get()]);
    return JSON.stringify([states, versions, agent.serverState(), agent.startedAt]);
  } catch (error) {
    return errorMessage(error);
  }
}

const LAST_ROWS = `SELECT (SELECT MAX(rowid) FROM message),
  (SELECT COUNT(*) FROM message WHERE state = 'pending'),
  (SELECT COUNT(*) FROM study WHERE state = 'queued'), (SELECT MAX(rowid) FROM study)`;
