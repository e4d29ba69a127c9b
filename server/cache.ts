import { hash } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type createGuards, keyOf, versionsOf } from "./auth.ts";
import type { RateLimiter } from "./limits.ts";

// The public answers, kept as bytes (api.md, section 5). One is served again only while its clinic's version is the one it
// was made under, so that no clinic gets what a write has changed.

/** A body and the headers that belong to it. */
export interface Answer {
  readonly body: Buffer;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Kept {
  readonly answer: Answer;
  readonly version: number;
  readonly day: number;
  readonly bytes: number;
}

const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** What keeping an answer takes beside its body and its URL, about. */
const ENTRY_BYTES = 1000;

/** Keeps what was used last, by bytes. */
export class AnswerCache {
  readonly #bytesMax: number;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(bytesMax = CACHE_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  find(name: string, version: number, now: number): Answer | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined || kept.version !== version || kept.day !== dayOf(now)) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    return kept.answer;
  }

  /** `version` must have been read before what the answer says. */
  keep(name: string, version: number, now: number, answer: Answer): void {
    this.#drop(name);
    const bytes = answer.body.length + name.length + ENTRY_BYTES;
    this.#kept.set(name, { answer, version, day: dayOf(now), bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    this.#bytes -= this.#kept.get(name)?.bytes ?? 0;
    this.#kept.delete(name);
  }
}

// The calendar's default range begins with the UTC day; that all else is made anew at midnight too costs nothing.
function dayOf(now: number): number {
  return Math.floor(now / 86_400_000);
}

/**
 * The guards of the routes in the scope: they answer from the cache what they let through. What the handlers answer instead
 * is kept, and has an ETag.
 */
export function cachedGuards(
  scope: FastifyInstance,
  guards: ReturnType<typeof createGuards>,
  limiter: RateLimiter,
  now: () => number,
): typeof guards {
  const cache = new AnswerCache();

  async function send(request: FastifyRequest, reply: FastifyReply, { body, etag, headers }: Answer): Promise<void> {
    const unchanged = isNamed(etag, request.headers["if-none-match"]);
    if (unchanged) reply.removeHeader("content-type").headers(await limiter.giveBack(keyOf(request), now()));
    // Past the framework, whose way of sending takes as long as all before it; its onResponse hooks see this answer too.
    reply.hijack();
    const common = reply.getHeaders() as OutgoingHttpHeaders;
    if (unchanged) reply.raw.writeHead(304, { ...common, etag }).end();
    else reply.raw.writeHead(200, { ...common, ...headers }).end(body);
  }

  scope.addHook("onSend", (request, reply, payload, done) => {
    if (reply.statusCode !== 200 || typeof payload !== "string") {
      done(null, payload);
      return;
    }
    const answer = toAnswer(reply, payload);
    cache.keep(nameOf(request), versionsOf(request).answers, now(), answer);
    send(request, reply, answer).catch(done);
  });

  return (...args) => {
    const guard = guards(...args);
    return async (request, reply) => {
      await guard(request, reply);
      const answer = cache.find(nameOf(request), versionsOf(request).answers, now());
      if (answer !== undefined) await send(request, reply, answer);
    };
  };
}

/** GET and HEAD share an answer; what a permission does not open, its guard has refused. */
function nameOf(request: FastifyRequest): string {
  return `${keyOf(request).clinic_id} ${request.url}`;
}

function toAnswer(reply: FastifyReply, payload: string): Answer {
  const body = Buffer.from(payload);
  const etag = `"${hash("sha256", body, "base64url").slice(0, ETAG_LETTERS)}"`;
  const ignored = reply.getHeader("x-ignored-parameters");
  return {
    body,
    etag,
    headers: {
      etag,
      "content-type": "application/json; charset=utf-8",
      "content-length": String(body.length),
      ...(typeof ignored === "string" && { "x-ignored-parameters": ignored }),
    },
  };
}

/** 132 bits. */
const ETAG_LETTERS = 22;

/** If-None-Match: a list, compared weakly, or `*` for any (RFC 9110, 13.1.2). */
function isNamed(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch === etag || ifNoneMatch.trim() === "*" || ifNoneMatch.match(/"[^"]*"/g)?.includes(etag) === true;
}
