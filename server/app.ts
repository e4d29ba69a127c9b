import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type Logger, pino } from "pino";
import { newUlid } from "../shared/api/fp.ts";
import { Repeats } from "../shared/runtime/repeats.ts";
import { AuditTrail, auditedRequests, FLUSH_MS, subjectOf } from "./http/audit-trail.ts";
import { createGuards, createKeyLookup } from "./http/auth.ts";
import { cachedAnswers } from "./http/response-cache.ts";
import { ApiError, fromClientError, toApiError } from "./http/errors.ts";
import { commonHeaders, limitHeaders, setHeaders } from "./http/response-headers.ts";
import { defaultLimits, type Limits, memoryCounters, RateLimiter } from "./http/rate-limit.ts";
import { collectOperations } from "./http/openapi.ts";
import { agentRoutes, BODY_BYTES_MAX } from "./routes/ingest.ts";
import { calendarRoutes } from "./routes/calendar.ts";
import { diagnosticRoutes } from "./routes/diagnostics.ts";
import { docsRoutes } from "./routes/docs.ts";
import { inventoryRoutes } from "./routes/inventory.ts";
import { patientRoutes } from "./routes/patients.ts";
import { soapRoutes } from "./routes/soap.ts";
import { type SharedCounters, storeCounters } from "./store/rate-limit-counters.ts";
import type { ApiKey } from "./store/keys.ts";
import type { Store } from "./store/types.ts";

export interface AppOptions {
  /** The secret of the key digests. */
  pepper: Buffer;
  logger?: Logger;
  /** Milliseconds since 1970. */
  now?: () => number;
  limits?: Limits;
  /** Where requests are counted; when not given in the database if other servers share it, else in this process. */
  counters?: SharedCounters;
  /** Addresses and CIDR ranges of reverse proxies: from these alone is X-Forwarded-For believed. */
  trustProxy?: readonly string[];
  /** A record of a patient that the clinic is not connected to is answered as one that does not exist (api.md, gap 13). */
  concealUnconnected?: boolean;
}

/** Longer than any fp, shorter than what Node takes for a request line and headers (16 KiB). */
const PARAMETER_LETTERS_MAX = 4096;

/** Headers come in one packet or two; a connection on which they trickle, or none come, is one that holds a place. */
const HEADERS_TIMEOUT_MS = 15_000;

/** Enough for a full body over a line of 700 kbit/s; one that trickles in for longer holds no connection. */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * How late those two may be noticed. Node's 30 s would triple the first, and all who are late by then are answered in one
 * go, during which nobody else is: 10 000 take half a second.
 */
const CONNECTIONS_CHECK_MS = 500;

/** A client that takes no byte of its answer for so long is gone, or means to hold the memory. */
const STALLED_MS = 60_000;

/**
 * Longer than a load balancer keeps its own connections to us (60 s commonly): it would send a request into one that we are
 * just closing. Clients that come every few minutes do not hold it in between.
 */
const KEEP_ALIVE_MS = 72_000;

/** Some 10 kB each, and fewer than the files that a service may commonly open; further ones are hung up on at once. */
const CONNECTIONS_MAX = 16_000;

/** For those who sent no request, to take the envelope and hang up; then we do. */
const LAST_WORD_MS = 2000;

/** The server's HTTP interface over a store; it does not listen. */
export function buildApp(
  store: Store,
  {
    pepper,
    logger = pino({ enabled: false }),
    now = Date.now,
    limits = defaultLimits,
    counters = store.shared ? storeCounters(store) : memoryCounters(),
    trustProxy = [],
    concealUnconnected = false,
  }: AppOptions,
): FastifyInstance {
  const app = fastify({
    genReqId: newUlid,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STALLED_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      // Node's own answer to a request without a Host has no body; ours is below.
      requireHostHeader: false,
    },
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    routerOptions: { maxParamLength: PARAMETER_LETTERS_MAX },
    // While closing, connections that are still open are served: the framework's own 503 is no envelope.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      setHeaders(reply, commonHeaders(request));
      void answerError(error, request, reply, logger);
    },
    clientErrorHandler: refuseBytes,
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  // An expectation we do not know may be ignored (RFC 9110, 10.1.1); Node would answer 417 without a body.
  app.server.on("checkExpectation", (request, response) => app.routing(request, response));
  const methods = collectMethods(app);
  const repeats = new Repeats();
  const operations = collectOperations(app);

  app.decorateRequest("apiKey", null);
  app.decorateRequest("refusedKey", null);
  app.decorateRequest("subject", null);
  app.decorateRequest("limitHeaders", null);
  app.decorateRequest("versions", null);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, logger));
  app.setNotFoundHandler((request) => {
    throw whyNotFound(request, methods);
  });
  // First of all hooks: what is refused here is refused before a key or a body is looked at (api.md 140).
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      throw new ApiError("REQUEST.MALFORMED", "The Host header is missing.");
    }
    // The router lets `/patients/` be the patient with the empty fp (api.md 13).
    if (request.is404 || Object.values(request.params as object).includes("")) throw whyNotFound(request, methods);
    done();
  });
  app.addHook("preHandler", async (request, reply) => {
    nameIgnoredParameters(request, reply);
  });
  // Not onResponse: for that the framework listens to every response, those out of the cache too.
  app.addHook("onSend", (request, reply, _payload, done) => {
    setHeaders(reply, [...commonHeaders(request), ...limitHeaders(request)]);
    if (reply.statusCode >= 400) logRefusal(request, reply, logger, repeats);
    done();
  });

  const audited = auditedRequests(startAudit(app, new AuditTrail(store, logger, now)), now);
  const limiter = new RateLimiter(limits, counters);
  const guarding = { store, findPresented: createKeyLookup(store, pepper), limiter, audited, now, logger };
  const context = { store, now, concealUnconnected };
  app.register(async (scope) => {
    const cached = { ...context, guard: createGuards(guarding, cachedAnswers(scope, limiter, now)) };
    patientRoutes(scope, cached);
    soapRoutes(scope, cached);
    diagnosticRoutes(scope, cached);
    calendarRoutes(scope, cached);
    inventoryRoutes(scope, cached);
  });
  app.register((scope) => agentRoutes(scope, { ...context, guard: createGuards(guarding) }));
  app.register((scope) => docsRoutes(scope, operations, limits));
  healthRoutes(app, store);
  return app;
}

function startAudit(app: FastifyInstance, audit: AuditTrail): AuditTrail {
  app.addHook("preSerialization", async (request, _reply, payload) => {
    request.setDecorator("subject", subjectOf(request, payload));
    return payload;
  });
  const timer = setInterval(() => void audit.flush(), FLUSH_MS).unref();
  app.addHook("onClose", async () => {
    clearInterval(timer);
    // A request whose connection was cut is over one turn of the event loop after the server.
    await sleep(1);
    await audit.close();
  });
  return audit;
}

function healthRoutes(app: FastifyInstance, store: Store): void {
  app.route({ method: "GET", url: "/healthz", handler: () => ({ status: "ok" }) });
  app.route({
    method: "GET",
    url: "/readyz",
    handler: async () => {
      await store.ping();
      return { status: "ready" };
    },
  });
}

function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply {
  const error = toApiError(thrown, request.id);
  // What we did wrong is logged whole, what a caller did wrong is a line of logRefusal.
  if (error.status >= 500) logger.error({ err: thrown, requestId: request.id }, error.message);
  // The response schema of the route is for its success; an envelope goes out as it is.
  return reply
    .code(error.status)
    .headers(error.headers)
    .type("application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send(error.envelope);
}

type Methods = Map<string, { pattern: RegExp; allowed: Set<string> }>;

// Fastify answers 404 to a wrong method; to tell it from a wrong path we keep the paths that were registered.
function collectMethods(app: FastifyInstance): Methods {
  const methods: Methods = new Map();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? {
      pattern: new RegExp(`^${url.replaceAll(/:\w+/g, "[^/]+")}$`),
      allowed: new Set(),
    };
    for (const name of [method].flat()) known.allowed.add(name);
    methods.set(url, known);
  });
  return methods;
}

function whyNotFound(request: FastifyRequest, methods: Methods): ApiError {
  const path = pathOf(request);
  for (const { pattern, allowed } of methods.values()) {
    if (!pattern.test(path) || allowed.has(request.method)) continue;
    const allow = [...allowed].join(", ");
    return new ApiError("ROUTE.METHOD_NOT_ALLOWED", request.method, { headers: { allow } });
  }
  return new ApiError("ROUTE.NOT_FOUND", path.slice(0, 200));
}

function pathOf(request: FastifyRequest): string {
  const { url } = request;
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

const IGNORED_NAMES_MAX = 20;

// A parameter that does nothing here is said so, once it was seen that it is not a misspelt filter of ours (api.md 57, 58).
function nameIgnoredParameters(request: FastifyRequest, reply: FastifyReply): void {
  const { parameters = {} } = request.routeOptions.config;
  const ignored = Object.keys(request.query as object).filter((name) => !Object.hasOwn(parameters, name));
  if (ignored.length === 0) return;
  const names = ignored.slice(0, IGNORED_NAMES_MAX).map((name) => encodeURIComponent(name).slice(0, 64));
  reply.header("x-ignored-parameters", names.join(", "));
}

// Who read what is in the audit; the log tells at once what was refused. No URL: a query string may carry a key or a name.
// The route and the request id tell enough.
function logRefusal(request: FastifyRequest, reply: FastifyReply, logger: Logger, repeats: Repeats): void {
  const { method } = request;
  const route = request.routeOptions.url ?? null;
  const status = reply.statusCode;
  const key = request.getDecorator<ApiKey | null>("apiKey")?.public_id ?? null;
  const sumUp = (times: number) => logger.info({ method, route, status, key, times }, "answered many times more");
  if (!repeats.isTold(`${method} ${route} ${status} ${key}`, sumUp)) return;
  logger.info({ requestId: request.id, method, route, status, key }, "answered");
}

// Bytes that are no request: there is no reply object, so the envelope is written by hand.
function refuseBytes(error: { code?: string; rawPacket?: unknown }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  socket.setTimeout(LAST_WORD_MS);
  const { status, envelope } = fromClientError(error);
  const body = JSON.stringify(envelope);
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `x-request-id: ${newUlid()}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      "cache-control: private, no-cache",
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
