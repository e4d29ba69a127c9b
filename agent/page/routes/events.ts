import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { analyzersOf } from "../../analyzers.ts";
import type { Host } from "../../host.ts";
import { readSpool } from "../../spool/access.ts";
import { LiveBytes } from "../../tools/offline/live-bytes.ts";
import { PageError } from "./page-error.ts";
import { runningAgent } from "./running-agent.ts";

const CHECK_MS = 700;
const BYTES_MS = 330;
const STREAMS_MAX = 20;
/** A page that does not read gets nothing more until it has read this much. */
const UNREAD_BYTES_MAX = 256 * 1024;

/**
 * Adds the stream of news, `changed` after each change of the agent, its devices, messages and queue, and the stream of the
 * bytes of one device. The spool is read only while a page listens.
 */
export function eventRoutes(app: FastifyInstance, host: Host): void {
  const streams = new Streams();
  app.get("/local/v1/events", (request, reply) => {
    let known: string | undefined;
    streams.open(request, reply, CHECK_MS, (send) => {
      const mark = changeMark(host);
      if (mark === known) return;
      known = mark;
      send("changed", "");
    });
  });

  app.get<{ Params: { id: string } }>("/local/v1/devices/:id/bytes", (request, reply) => {
    const { config } = runningAgent(host);
    const { id } = request.params;
    const device = analyzersOf(config).get(id);
    if (device === undefined) throw new PageError(404, "this device is not configured, or it sends files");
    const live = new LiveBytes(id, device.profile, device.timeZone);
    streams.open(request, reply, BYTES_MS, (send) => {
      const lines = readSpool(config.data, (db) => live.next(db));
      if (lines.length > 0) send("lines", JSON.stringify(lines));
    });
  });
}

type Send = (event: string, data: string) => void;

/** The open streams of all pages. Each one looks for news at its own pace. */
class Streams {
  #open = 0;

  open(request: FastifyRequest, reply: FastifyReply, everyMs: number, look: (send: Send) => void): void {
    if (this.#open >= STREAMS_MAX) throw new PageError(503, `${STREAMS_MAX} pages are open already: close one`);
    this.#open += 1;
    reply.hijack();
    const { raw } = reply;
    const send: Send = (event, data) => {
      // A write after the end is an error without a listener, which would end the agent.
      if (!raw.writableEnded) raw.write(`event: ${event}\ndata: ${data}\n\n`);
    };
    raw.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
    const lookAgain = () => {
      if (raw.writableLength > UNREAD_BYTES_MAX) return;
      try {
        look(send);
      } catch {
        // The spool is away while another configuration starts. The page connects again.
        raw.end();
      }
    };
    lookAgain();
    send("ready", "");
    const timer = setInterval(lookAgain, everyMs);
    request.raw.once("close", () => {
      clearInterval(timer);
      this.#open -= 1;
    });
  }
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
  (SELECT COUNT(*) FROM message WHERE processed_at IS NULL),
  (SELECT COUNT(*) FROM study WHERE state = 'queued'), (SELECT MAX(rowid) FROM study)`;
