import type { FastifyInstance } from "fastify";
import { findSession } from "../../store/dashboard/sessions.ts";
import { clinicOf } from "../auth/guard.ts";
import { presentedDigest } from "../auth/session-cookie.ts";
import type { DashboardContext } from "../context.ts";
import { LiveChanges } from "../live-changes.ts";

// Server-sent events (HTML standard §9.2): a page of the dashboard learns that it must read anew.

/** Interval of a sign of life, below the idle timeouts of proxies and of this server. The session is checked with it. */
const PING_MS = 15_000;

export function eventRoutes(app: FastifyInstance, { store, now, logger }: DashboardContext): void {
  const changes = new LiveChanges(store, logger);
  const open = new Set<() => void>();
  app.addHook("preClose", (done) => {
    for (const end of open) end();
    done();
  });
  app.route({
    method: "GET",
    url: "/clinic/v1/clinics/:clinic/events",
    config: { access: "reader" },
    handler: (request, reply) => {
      const { id } = clinicOf(request);
      const digest = presentedDigest(request) ?? "";
      reply.hijack();
      reply.raw.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-accel-buffering": "no",
      });
      reply.raw.write("retry: 2000\nevent: ready\ndata:\n\n");
      const stop = changes.listen(id, () => reply.raw.write("event: changed\ndata:\n\n"));
      const endIfOver = async () => {
        const found = await findSession(store, digest, now()).catch(() => null);
        if (found === undefined) reply.raw.end();
        else reply.raw.write(":\n\n");
      };
      const ping = setInterval(() => void endIfOver(), PING_MS);
      const end = () => reply.raw.end();
      open.add(end);
      reply.raw.on("close", () => {
        clearInterval(ping);
        stop();
        open.delete(end);
      });
    },
  });
}
