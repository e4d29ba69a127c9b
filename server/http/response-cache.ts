import crypto from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Subject } from "./audit-trail.ts";
import { commonHeaders, type HeaderList, limitHeaders } from "./response-headers.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { type FoundKey, keyOf, versionsOf } from "./request-context.ts";
import type { ApiKey } from "../store/keys.ts";

// The public answers, kept as bytes (api.md, section 5). One is served again only while its clinic's version is the one it
// was made under, so that no clinic gets what a write has changed.

/** A body and the headers that belong to it. */
export interface Answer {
  /** Each letter stands for a byte (latin1): Node writes a string together with the headers, and a Buffer behind them, at more cost. */
  readonly body: string;
  readonly etag: string;
  /** But for the ETag. */
  readonly headers: HeaderList;
  /** For the audit. */
  readonly subject: Subject;
}

interface Kept {
  readonly answer: Answer;
  readonly version: number;
  readonly day: number;
  readonly bytes: number;
  /** Asked for since it was kept, or was last spared. */
  isUsed: boolean;
}

const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** What keeping an answer takes beside its body and its URL, about. */
const ENTRY_BYTES = 1000;

/** Keeps what is used, by bytes: what is to go next is spared once if it was asked for, which costs a hit nothing. */
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
    kept.isUsed = true;
    return kept.answer;
  }

  /** `version` must have been read before what the answer says. */
  keep(name: string, version: number, now: number, answer: Answer): void {
    this.#drop(name);
    const bytes = answer.body.length + name.length + ENTRY_BYTES;
    this.#put(name, { answer, version, day: dayOf(now), bytes, isUsed: false });
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
      if (kept.isUsed) this.#put(oldest, { ...kept, isUsed: false });
    }
  }

  #put(name: string, kept: Kept): void {
    this.#kept.set(name, kept);
    this.#bytes += kept.bytes;
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

/** An answer as a request gets it: 304 when it has it already. */
interface Found {
  readonly answer: Answer;
  readonly status: 200 | 304;
}

export type CachedAnswers = ReturnType<typeof cachedAnswers>;

/** The answers of the routes in the scope: what their handlers answer is kept, and has an ETag. */
export function cachedAnswers(scope: FastifyInstance, limiter: RateLimiter, now: () => number) {
  const cache = new AnswerCache();

  // Ends with an answer of ours, and calls on no further hook: the framework has no way to end a HEAD with 304.
  scope.addHook("onSend", (request, reply, payload, done) => {
    if (reply.statusCode !== 200 || typeof payload !== "string") {
      done(null, payload);
      return;
    }
    const answer = toAnswer(request, reply, payload);
    cache.keep(nameOf(request, keyOf(request)), versionsOf(request).answers, now(), answer);
    answerNew(request, reply, answer).catch((error: Error) => void reply.send(error));
  });

  async function answerNew(request: FastifyRequest, reply: FastifyReply, answer: Answer): Promise<void> {
    const found = asFound(request, answer);
    const isFree = found.status === 304;
    const limits = isFree ? (await limiter.takeUnchanged(keyOf(request), now(), 1)).headers : limitHeaders(request);
    send(request, reply, found, limits);
  }

  return {
    find(request: FastifyRequest, { key, versions }: FoundKey, at: number): Found | undefined {
      const answer = cache.find(nameOf(request, key), versions.answers, at);
      return answer && asFound(request, answer);
    },
    send,
  };
}

function asFound(request: FastifyRequest, answer: Answer): Found {
  return { answer, status: isNamed(answer.etag, request.headers["if-none-match"]) ? 304 : 200 };
}

function send(request: FastifyRequest, reply: FastifyReply, { status, answer }: Found, limits: HeaderList): void {
  const { body, etag, headers, subject } = answer;
  request.setDecorator("subject", subject);
  // Past the framework, whose way of sending takes as long as all before it.
  reply.hijack();
  const common = [...commonHeaders(request), ...limits, "etag", etag];
  if (status === 304) reply.raw.writeHead(304, common).end();
  else reply.raw.writeHead(200, common.concat(headers)).end(body, "latin1");
}

/** GET and HEAD share an answer; what a permission does not open, its guard has refused. */
function nameOf(request: FastifyRequest, { clinic_id }: ApiKey): string {
  return `${clinic_id} ${request.url}`;
}

function toAnswer(request: FastifyRequest, reply: FastifyReply, payload: string): Answer {
  const body = Buffer.from(payload).toString("latin1");
  const etag = `"${crypto.hash("sha256", payload, "base64url").slice(0, ETAG_LETTERS)}"`;
  const ignored = reply.getHeader("x-ignored-parameters");
  return {
    body,
    etag,
    subject: request.getDecorator<Subject>("subject"),
    headers: [
      ...["content-type", "application/json; charset=utf-8"],
      ...["content-length", String(body.length)],
      ...(typeof ignored === "string" ? ["x-ignored-parameters", ignored] : []),
    ],
  };
}

/** 132 bits. */
const ETAG_LETTERS = 22;

/** If-None-Match: a list, compared weakly, or `*` for any (RFC 9110, 13.1.2). */
function isNamed(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch === etag || ifNoneMatch.trim() === "*" || ifNoneMatch.match(/"[^"]*"/g)?.includes(etag) === true;
}
