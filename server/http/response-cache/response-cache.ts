import crypto from "node:crypto";
import { promisify } from "node:util";
import zlib from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isPermitted } from "../auth/authorization.ts";
import type { CachedResponse, CacheHit } from "../cached-response.ts";
import type { RateLimiter } from "../rate-limit/rate-limiter.ts";
import { keyOf, versionsOf } from "../request-context.ts";
import { commonHeaders, type HeaderList } from "../response-headers.ts";
import { SecondChanceCache } from "./second-chance-cache.ts";

// Plugin: caches the 200 responses of a scope as bytes, and sends 304 to a matching If-None-Match. An entry is valid for one
// version of its clinic's data, so a write to that data invalidates it. A client that takes gzip has entries of its own, which hold the
// compressed bytes alone.

interface CacheEntry {
  readonly response: CachedResponse;
  /** The clinic's version before the data was read. */
  readonly version: number;
  /** UTC day, at which the default range of the calendar starts. */
  readonly day: number;
}

const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Below it, the bytes that are saved are fewer than one packet has. */
const GZIP_BYTES_MIN = 2048;
/** A tenth more bytes than level 6, for half of its time: 1 ms for a page of 100 studies (208 kB), which become 31 kB. */
const GZIP_LEVEL = 4;

/** Approximate memory of an entry without its body and name. */
const ENTRY_BYTES = 1000;

/** Counts of hits and misses so far. */
export interface CacheUse {
  /** Requests with a valid entry. */
  hits: number;
  /** Permitted requests without one. */
  misses: number;
  bytes: number;
}

/**
 * Register after authentication, and before the rate limit, which charges less for a 304. The lookup is an onRequest
 * hook; the hit is sent in preParsing, which runs after all onRequest hooks have admitted the request.
 */
export function cacheResponses(scope: FastifyInstance, limiter: RateLimiter, now: () => number, use: CacheUse): void {
  const entries = new SecondChanceCache<CacheEntry>(CACHE_BYTES_MAX);

  scope.addHook("onRequest", (request, _reply, done) => {
    if (isPermitted(request) && request.context.route.uncached !== true) {
      const entry = entries.get(entryName(request));
      if (entry?.version === versionsOf(request).answers && entry.day === utcDay(now())) {
        request.context.cacheHit = hitFor(request, entry.response);
        use.hits += 1;
      } else use.misses += 1;
    }
    done();
  });

  scope.addHook("preParsing", (request, reply, _payload, done) => {
    const { cacheHit } = request.context;
    if (cacheHit === null) done();
    else send(request, reply, cacheHit);
  });

  // Sends the response itself and skips further hooks: Fastify cannot end a HEAD request with 304.
  scope.addHook("onSend", (request, reply, payload, done) => {
    // The route compared the state of a file that it need not make.
    if (reply.statusCode === 304) {
      sendUnchanged(request, reply).catch((error: Error) => void reply.send(error));
      return;
    }
    if (reply.statusCode !== 200 || typeof payload !== "string") {
      done(null, payload);
      return;
    }
    store(request, reply, payload)
      .then(async (response) => sendNew(request, reply, hitFor(request, response)))
      .catch((error: Error) => void reply.send(error));
  });

  async function store(request: FastifyRequest, reply: FastifyReply, payload: string): Promise<CachedResponse> {
    const name = entryName(request);
    const day = utcDay(now());
    const response = await toCachedResponse(request, reply, payload);
    const entry = { response, version: versionsOf(request).answers, day };
    if (request.context.route.uncached !== true)
      entries.set(name, entry, response.body.length + name.length + ENTRY_BYTES);
    use.bytes = entries.bytes;
    return response;
  }

  /** Sends a response that the handler made. The rate limit has charged it as a 200. */
  async function sendNew(request: FastifyRequest, reply: FastifyReply, hit: CacheHit): Promise<void> {
    if (hit.status === 304) await refund(request);
    send(request, reply, hit);
  }

  async function sendUnchanged(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await refund(request);
    reply.hijack();
    const own = [...request.context.limitHeaders, "etag", String(reply.getHeader("etag"))];
    reply.raw.writeHead(304, [...commonHeaders(request), ...own]).end();
  }

  /** A 304 costs less than the 200 that the rate limit has charged. */
  async function refund(request: FastifyRequest): Promise<void> {
    const { headers } = await limiter.takeUnchanged(keyOf(request), now(), 1);
    request.context.limitHeaders = headers;
  }
}

function send(request: FastifyRequest, reply: FastifyReply, { status, response }: CacheHit): void {
  const { body, etag, headers, subject } = response;
  request.context.subject = subject;
  // Writes to the raw response, since Fastify's reply.send takes as long as the rest of the request.
  reply.hijack();
  const all = [...commonHeaders(request), ...request.context.limitHeaders, "etag", etag];
  // A position moves while its page stays the same, such as an empty one: RFC 9110 §15.4.5 lets a 304 have what a client needs.
  if (status === 304) reply.raw.writeHead(304, all.concat(positionsIn(headers))).end();
  else reply.raw.writeHead(200, all.concat(headers)).end(body, "latin1");
}

/** Returns the headers that name where a client goes on, of a list of names and values. */
function positionsIn(headers: HeaderList): HeaderList {
  return headers.flatMap((name, index) => {
    const value = headers[index + 1];
    return index % 2 === 0 && POSITIONS.includes(name) && value !== undefined ? [name, value] : [];
  });
}

const POSITIONS: readonly string[] = ["link", "sync-cursor"];

/** GET and HEAD share an entry. Clinics do not, nor keys whose permissions show them different records. */
function entryName(request: FastifyRequest): string {
  const { clinic_id, permissions } = keyOf(request);
  const name = `${clinic_id} ${takesGzip(request) ? "gzip " : ""}${request.url}`;
  const { route } = request.context;
  if (route.variesWithPermissions !== true) return name;
  return `${route.permissions?.filter((each) => permissions.includes(each)).join(" ")} ${name}`;
}

function utcDay(now: number): number {
  return Math.floor(now / 86_400_000);
}

function hitFor(request: FastifyRequest, response: CachedResponse): CacheHit {
  return { response, status: isUnchanged(request, response.etag) ? 304 : 200 };
}

/** Whether the client has the state with this ETag. */
export function isUnchanged(request: FastifyRequest, etag: string): boolean {
  return matches(etag.replace(/^W\//, ""), request.headers["if-none-match"]);
}

/** @returns an ETag of the facts that a file is made of, for a file whose bytes differ each time (RFC 9110 §8.8.1) */
export function weakEtag(facts: string): string {
  return `W/${etagOf(facts)}`;
}

function etagOf(payload: string): string {
  return `"${crypto.hash("sha256", payload, "base64url").slice(0, ETAG_CHARS)}"`;
}

async function toCachedResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: string,
): Promise<CachedResponse> {
  const { subject } = request.context;
  if (subject === null) throw new Error("expected the subject of a response, got none");
  const plain = Buffer.from(payload);
  const isPacked = plain.length >= GZIP_BYTES_MIN && takesGzip(request);
  const body = (isPacked ? await gzip(plain, { level: GZIP_LEVEL }) : plain).toString("latin1");
  // RFC 9110 §8.8.3: other bytes of the same content have another ETag.
  const etag = etagOf(isPacked ? `gzip ${payload}` : payload);
  const headers = ["content-type", "application/json; charset=utf-8", "content-length", String(body.length)];
  if (isPacked) headers.push("content-encoding", "gzip");
  for (const name of ["x-ignored-parameters", ...POSITIONS]) {
    const value = reply.getHeader(name);
    if (typeof value === "string") headers.push(name, value);
  }
  return { body, etag, subject, headers };
}

/** Whether the client takes gzip (RFC 9110 §12.5.3). */
function takesGzip({ headers }: FastifyRequest): boolean {
  const wanted = headers["accept-encoding"];
  if (wanted === undefined) return false;
  const weights = new Map<string, number>();
  for (const offer of wanted.toLowerCase().split(",")) {
    const [coding = "", weight = "q=1"] = offer.split(";");
    weights.set(coding.trim(), Number(weight.trim().replace("q=", "")));
  }
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}

const gzip = promisify(zlib.gzip);

/** 132 bits. */
const ETAG_CHARS = 22;

/** If-None-Match: a list of ETags with weak comparison, or `*` for any (RFC 9110 §13.1.2). */
function matches(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch === etag || ifNoneMatch.trim() === "*" || ifNoneMatch.match(/"[^"]*"/g)?.includes(etag) === true;
}
