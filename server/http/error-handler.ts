import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OperationOutcome } from "fhir/r4.js";
import type { Logger } from "pino";
import { Repeats } from "../../shared/runtime/repeats.ts";
import { type ApiError, toApiError } from "./errors.ts";
import { commonHeaders, setHeaders } from "./response-headers.ts";

/** Plugin: sends every error in the envelope, or as an OperationOutcome of FHIR, gives every response the common headers, and logs refusals. */
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
  const isResource = isFhir(request.url);
  // The serializer of the route fits its success only.
  return reply
    .code(error.status)
    .headers(error.headers)
    .type(isResource ? FHIR_JSON : "application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send(isResource ? operationOutcome(error) : error.envelope);
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

export const FHIR_JSON = "application/fhir+json; charset=utf-8";

/** Whether errors at this URL have the form of FHIR R4. Every response below /fhir/R4 has it, also one that no route made. */
function isFhir(url: string): boolean {
  return /^\/fhir\/R4(?:[/?]|$)/.test(url);
}

/** Types of issues by status (R4 ValueSet issue-type). */
const TYPES: Readonly<Record<number, OperationOutcome["issue"][number]["code"]>> = {
  400: "invalid",
  401: "login",
  403: "forbidden",
  404: "not-found",
  405: "not-supported",
  406: "not-supported",
  408: "timeout",
  409: "conflict",
  410: "deleted",
  413: "too-long",
  414: "too-long",
  429: "throttled",
  431: "too-long",
  503: "transient",
};

/** Encodes an error. `details` has its code and its sentence, `diagnostics` what else the envelope of /api/v1 has. */
function operationOutcome({ status, envelope }: ApiError): OperationOutcome {
  const { code, message, details } = envelope.error;
  const parameter = details?.["parameter"];
  return {
    resourceType: "OperationOutcome",
    issue: [
      {
        severity: status >= 500 ? "fatal" : "error",
        code: TYPES[status] ?? "exception",
        details: { coding: [{ code }], text: message },
        ...(details === undefined ? {} : { diagnostics: JSON.stringify(details) }),
        ...(typeof parameter === "string" && status === 400 ? { expression: [`http.${parameter}`] } : {}),
      },
    ],
  };
}
