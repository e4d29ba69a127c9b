import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { Repeats } from "../../shared/runtime/repeats.ts";
import { toApiError } from "./errors.ts";
import { commonHeaders, setHeaders } from "./response-headers.ts";

/** Plugin: sends every error in the envelope, gives every response the common headers, and logs refusals. */
export function handleErrors(app: FastifyInstance, logger: Logger): void {
  const repeats = new Repeats();
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, logger));
  // An onResponse hook would add a listener to every response, cached ones included.
  app.addHook("onSend", (request, reply, _payload, done) => {
    setHeaders(reply, [...commonHeaders(request), ...request.context.limitHeaders]);
    if (reply.statusCode >= 400) logRefusal(request, reply, logger, repeats);
    done();
  });
}

/** Sends the envelope of an error. Logs a fault of the server with its cause; logRefusal logs all others. */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply {
  const error = toApiError(thrown, request.id);
  if (error.status >= 500) logger.error({ err: thrown, requestId: request.id }, error.message);
  // The serializer of the route fits its success only.
  return reply
    .code(error.status)
    .headers(error.headers)
    .type("application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send(error.envelope);
}

/** Logs a refusal. The URL is left out, since a query string may hold a key or a name. */
function logRefusal(request: FastifyRequest, reply: FastifyReply, logger: Logger, repeats: Repeats): void {
  const { method } = request;
  const route = request.routeOptions.url ?? null;
  const status = reply.statusCode;
  const key = request.context.key?.public_id ?? null;
  const sumUp = (times: number) => logger.info({ method, route, status, key, times }, "further requests refused");
  if (!repeats.shouldReport(`${method} ${route} ${status} ${key}`, sumUp)) return;
  logger.info({ requestId: request.id, method, route, status, key }, "request refused");
}
