import type { FastifyInstance } from "fastify";
import { DATA_HEADERS } from "../../../shared/network/data-headers.ts";
import { ApiError } from "../../http/errors.ts";
import { findSession } from "../../records/users/sessions.ts";
import { clinicsOpenTo } from "../../records/users/users.ts";
import { clinicOf, userOf } from "../auth/guard.ts";
import { presentedDigest } from "../auth/session-cookie.ts";
import type { DashboardContext } from "../context.ts";
import { LiveChanges } from "../live-changes.ts";

// Server-sent events (HTML standard §9.2): a page of the dashboard learns that it must read again.

/** Interval of a sign of life, below the idle timeouts of proxies and of this server. The session is checked with it. */
const PING_MS = 15_000;

/** Max open streams of the server. A page without one loads its data on demand. */
const STREAMS_MAX = 2000;

/** Max open streams of a session, so that one user cannot take those of all. Each open tab has one. */
const STREAMS_OF_SESSION_MAX = 20;

export function eventRoutes(app: FastifyInstance, { store, now, logger }: DashboardContext): void {
  const changes = new LiveChanges(store, logger);
  /** Ends of the open streams, with their sessions. */
  const open = new Map<() => void, number>();

  /** Whether the session is over, its user left the clinic, or the operator suspended it. */
  async function hasEnded(digest: string, userId: number, clinicId: number): Promise<boolean> {
    if ((await findSession(store, digest, now())) === undefined) return true;
    const clinics = await clinicsOpenTo(store, userId, now());
    return !clinics.some(({ clinic_id, suspended_at }) => clinic_id === clinicId && suspended_at === null);
  }

  app.addHook("preClose", (done) => {
    for (const end of open.keys()) end();
    done();
  });
  app.route({
    method: "GET",
    url: "/clinic/v1/clinics/:clinic/events",
    config: { access: "reader", isStream: true },
    // A stream has no end, and HEAD would wait for it.
    exposeHeadRoute: false,
    handler: (request, reply) => {
      const { id } = clinicOf(request);
      const { userId, sessionId } = userOf(request);
      const digest = presentedDigest(request, "clinic") ?? "";
      const ofSession = [...open.values()].filter((each) => each === sessionId).length;
      if (open.size >= STREAMS_MAX || ofSession >= STREAMS_OF_SESSION_MAX) throw new ApiError("SERVER.UNAVAILABLE");
      reply.hijack();
      reply.raw.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        // No request follows on it: the end of the stream is the end of the connection.
        connection: "close",
        ...DATA_HEADERS,
        "x-accel-buffering": "no",
      });
      reply.raw.write("retry: 2000\nevent: ready\ndata:\n\n");
      const stop = changes.listen(id, () => reply.raw.write("event: changed\ndata:\n\n"));
      const endIfOver = async () => {
        const isOver = await hasEnded(digest, userId, id).catch(() => false);
        if (isOver) end();
        else if (!reply.raw.writableEnded) reply.raw.write(":\n\n");
      };
      const ping = setInterval(() => void endIfOver(), PING_MS);
      // Listening ends first: a write after the end of the response would stop the server.
      const end = () => {
        clearInterval(ping);
        stop();
        open.delete(end);
        reply.raw.end();
      };
      open.set(end, sessionId);
      reply.raw.on("close", end);
      // A client that left before this line has emitted the event already.
      if (reply.raw.destroyed) end();
    },
  });
}
