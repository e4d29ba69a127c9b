import { advisedText } from "../../shared/runtime/advised.ts";
import { createServer, type Server, STATUS_CODES } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { fastify, type FastifyInstance } from "fastify";
import stringifierOf from "fast-json-stringify";
import type { Logger } from "pino";
import type { Certificate } from "./certificate.ts";
import { connectionShare, lackOfDescriptors } from "../../shared/files/descriptors.ts";
import { DATA_HEADERS } from "../../shared/network/data-headers.ts";
import { shareAmongHosts } from "../../shared/network/host-share.ts";
import { addressFinder } from "../../shared/network/network-address.ts";
import { newUlid } from "../../shared/api/fp.ts";
import { sendError } from "./error-handler.ts";
import { fromClientError } from "./errors.ts";
import { BODY_BYTES_MAX } from "./json-body.ts";
import { commonHeaders, setHeaders } from "./response-headers.ts";

// The HTTP server under the routes: its timeouts and limits, and its response to bytes that are not an HTTP request.

/** Timeouts in milliseconds. */
export interface HttpTimeouts {
  /** Time for the headers of a request. A connection that sends none is closed after it, with 408. */
  readonly headersMs: number;
  /** Time for a complete request. A body of 5 MB fits in at 700 kbit/s. */
  readonly requestMs: number;
  /** Interval of the check for both. Node's default of 30 s would triple the first. */
  readonly checkMs: number;
  /** Time without any byte in either direction, after which the connection is destroyed. */
  readonly idleMs: number;
  /** Idle time between two requests. It exceeds the 60 s of common load balancers, which must close first. */
  readonly keepAliveMs: number;
  /** Time for a client without a valid request to take the error and close. Then the server closes. */
  readonly lastResponseMs: number;
}

export const defaultTimeouts: HttpTimeouts = {
  headersMs: 15_000,
  requestMs: 60_000,
  checkMs: 500,
  idleMs: 60_000,
  keepAliveMs: 72_000,
  lastResponseMs: 2000,
};

/** Max length of a path parameter in characters. It exceeds any fp, and stays below Node's 16 KiB for the headers. */
const PARAMETER_CHARS_MAX = 4096;

/** Max open connections of a port, about 10 kB each. */
const CONNECTIONS_MAX = 12_000;
/** The port of the command line and that of the clinic's network. */
const PORTS = 2;
/** A server with fewer connections than that logs a warning. */
const CONNECTIONS_ENOUGH = 256;

/** Whether X-Forwarded-For of this address is believed. */
export type TrustedProxy = (address: string) => boolean;

interface HttpServerOptions {
  readonly logger: Logger;
  readonly timeouts: HttpTimeouts;
  /** Addresses and ranges of reverse proxies, or a function that knows them. */
  readonly trustProxy: readonly string[] | TrustedProxy;
  /** Undefined for plain HTTP. */
  readonly certificate: Certificate | undefined;
}

/** Creates the Fastify instance, without hooks and routes. */
export function createHttpServer({ logger, timeouts, trustProxy, certificate }: HttpServerOptions): FastifyInstance {
  const trusts = typeof trustProxy === "function" ? trustProxy : addressFinder(trustProxy);
  const limits = limitsOf(timeouts);
  const tls = { ...limits, ...certificate, handshakeTimeout: timeouts.headersMs };
  // The server of either kind has the same methods, so that the rest of the program knows one type.
  const transport = (certificate === undefined ? { http: limits } : { https: tls }) as { http: typeof limits };
  const app = fastify({
    ...transport,
    genReqId: newUlid,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: timeouts.requestMs,
    connectionTimeout: timeouts.idleMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    trustProxy: trusts,
    routerOptions: { maxParamLength: PARAMETER_CHARS_MAX },
    // Open connections are served while the server closes. Fastify's 503 has no envelope.
    return503OnClosing: false,
    // Fastify runs no hook for these errors, so the headers are set here.
    frameworkErrors: (error, request, reply) => {
      setHeaders(reply, commonHeaders(request));
      void sendError(error, request, reply, logger);
    },
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, timeouts.lastResponseMs),
  });
  app.setSerializerCompiler((route) => (data) => serialize(route.schema, data));
  const lack = lackOfDescriptors(PORTS, CONNECTIONS_ENOUGH);
  if (lack !== null) logger.warn({ reason: advisedText(lack) }, "the server can serve few connections");
  bound(app.server, app, trusts);
  return app;
}

/** Serializers of responses, by schema. Servers in one process share them. */
const serializers = new WeakMap<object, (data: unknown) => string>();

/** Serializes a response. Its schema is compiled at the first one, since a start would take longer with those of all routes. */
function serialize(schema: object, data: unknown): string {
  const compiled = serializers.get(schema) ?? stringifierOf(schema);
  serializers.set(schema, compiled);
  return compiled(data);
}

/** Creates a further server for the same routes, with the same limits. It does not listen. */
export function createFurtherServer(
  app: FastifyInstance,
  certificate: Certificate | undefined,
  trusts: TrustedProxy,
): Server {
  const limits = limitsOf(defaultTimeouts);
  const serve = app.routing.bind(app);
  const server =
    certificate === undefined
      ? createServer(limits, serve)
      : createTlsServer({ ...limits, ...certificate, handshakeTimeout: defaultTimeouts.headersMs }, serve);
  server.requestTimeout = defaultTimeouts.requestMs;
  server.keepAliveTimeout = defaultTimeouts.keepAliveMs;
  server.setTimeout(defaultTimeouts.idleMs);
  server.on("clientError", (error: Error & { code?: string }, socket) =>
    refuseConnection(error, socket as Socket, defaultTimeouts.lastResponseMs),
  );
  bound(server, app, trusts);
  return server;
}

function limitsOf(timeouts: HttpTimeouts) {
  return {
    headersTimeout: timeouts.headersMs,
    connectionsCheckingInterval: timeouts.checkMs,
    // Node's response to a missing Host has no body. refuseUnknownRoutes sends the envelope.
    requireHostHeader: false,
  };
}

function bound(server: Server, app: FastifyInstance, trusts: TrustedProxy): void {
  shareAmongHosts(server, connectionShare(PORTS, CONNECTIONS_MAX), trusts);
  // A server may ignore an unknown expectation (RFC 9110 §10.1.1). Node would respond 417 without a body.
  server.on("checkExpectation", (request, response) => app.routing(request, response));
}

/** Sends the envelope by hand, since there is no reply object before a valid request. */
function refuseConnection(error: { code?: string; rawPacket?: unknown }, socket: Socket, lastResponseMs: number): void {
  // After a failed handshake nothing can be written.
  const isHandshake = error.code?.startsWith("ERR_SSL_") || error.code?.startsWith("ERR_TLS_");
  if (!socket.writable || error.code === "ECONNRESET" || isHandshake) {
    socket.destroy();
    return;
  }
  socket.setTimeout(lastResponseMs);
  const { status, envelope } = fromClientError(error);
  const body = JSON.stringify(envelope);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `x-request-id: ${newUlid()}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "cache-control: private, no-cache",
    ...Object.entries(DATA_HEADERS).map(([name, value]) => `${name}: ${value}`),
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
