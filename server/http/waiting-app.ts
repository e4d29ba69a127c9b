import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { StoreUnavailable } from "../database/query.ts";
import type { Certificate } from "./certificate.ts";
import { Drain } from "./drain.ts";
import { handleErrors } from "./error-handler.ts";
import { healthRoutes } from "./health.ts";
import { createHttpServer, defaultTimeouts } from "./http-server.ts";
import { startRequestContext } from "./request-context.ts";

/** Builds the HTTP interface of a server whose database is away since its start: 503 for all but /healthz. */
export function waitingApp(options: {
  readonly logger: Logger;
  readonly certificate: Certificate | undefined;
  readonly reason: () => StoreUnavailable;
}): FastifyInstance {
  const { logger, certificate, reason } = options;
  const app = createHttpServer({ logger, certificate, timeouts: defaultTimeouts, trustProxy: [] });
  const drain = new Drain();
  startRequestContext(app, drain);
  handleErrors(app, logger);
  // Before the body is read: an agent gives a push up for good if its body is refused.
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.is404) throw reason();
    done();
  });
  healthRoutes(app, { ping: () => Promise.reject(reason()) }, drain);
  return app;
}
