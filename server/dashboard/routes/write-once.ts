import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { printable } from "../../../shared/runtime/printable.ts";
import { ApiError } from "../../http/errors.ts";
import type { Session } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";
import { findDone, keepDone } from "../../records/audit/done-writes.ts";
import { digestOf, seal, unseal } from "../../records/audit/sealed-text.ts";
import { refuse } from "../refuse.ts";
import { refusal } from "../types/refusals.ts";

// Plugin: a write of a clinic that is sent again with the id of its first request is not done again, and gets the first response.
// The handler runs in one transaction, which also keeps the response: a killed server leaves both or neither, and of equal
// requests under way the second waits for the first.

/** Header of the page (draft-ietf-httpapi-idempotency-key-header): an id of the request, the same when it is sent again. */
const ID_HEADER = "idempotency-key";

/** Header of a repeated response. */
const REPEATED_HEADER = "idempotency-replayed";

/** Random ids alone are long enough to seal a response: 22 characters of base64url have 128 bits. */
const ID = /^"?([\w-]{22,64})"?$/;

/** Longer responses are not kept. */
const ANSWER_CHARS_MAX = 100_000;

declare module "fastify" {
  interface FastifyContextConfig {
    /** The reason for which a write may run again when it is repeated. All other writes of a clinic run once for each id. */
    repeats?: string;
  }
}

/** The transaction in which a handler runs; null after its end. */
interface Writing {
  session: Session | null;
}

/**
 * Makes the writes that are registered after it run once for each id.
 * @returns the store for the handlers: in a write it is the transaction of the write
 */
export function writeOnce(scope: FastifyInstance, { store, now }: { store: Store; now: () => number }): Store {
  const writing = new AsyncLocalStorage<Writing>();
  const current = (): Session => writing.getStore()?.session ?? store;

  scope.addHook("onRoute", (route) => {
    if (!runsOnce(route)) return;
    const { handler } = route;
    route.handler = async function (request, reply) {
      const run = async (): Promise<unknown> => handler.call(this, request, reply);
      const id = idOf(request);
      const { signedIn } = request.context;
      if (id === undefined || signedIn === null) return run();
      const { userId } = signedIn;
      const work = async (session: Session): Promise<Answer> => {
        const state: Writing = { session };
        try {
          return await answerOnce(session, { request, userId, id, now: now() }, () => writing.run(state, run));
        } finally {
          state.session = null;
        }
      };
      return send(reply, await store.transaction(work, { repeatable: true }));
    };
  });

  return {
    ...store,
    all: (asked, parameters) => current().all(asked, parameters),
    first: (asked, parameters) => current().first(asked, parameters),
    each: (asked, list) => current().each(asked, list),
    transaction(work, options) {
      const session = writing.getStore()?.session ?? null;
      return session === null ? store.transaction(work, options) : work(session);
    },
  };
}

/** The account routes stay out: they change the user's own sign-in, and a password proves each. */
function runsOnce({ method, url, config }: RouteOptions): boolean {
  const isRead = [method].flat().every((name) => name === "GET" || name === "HEAD");
  return !isRead && url.includes("/:clinic/") && config?.repeats === undefined;
}

function idOf({ headers }: FastifyRequest): string | undefined {
  const { [ID_HEADER]: sent } = headers;
  if (sent === undefined) return undefined;
  const id = ID.exec(String(sent))?.[1];
  if (id !== undefined) return id;
  const got = printable(String(sent).slice(0, 64));
  throw new ApiError("REQUEST.MALFORMED", `Idempotency-Key is ${got}, expected 22 to 64 letters, digits, - or _.`);
}

interface Answer {
  readonly text: string;
  readonly isRepeated: boolean;
}

async function answerOnce(
  session: Session,
  { request, userId, id, now }: { request: FastifyRequest; userId: number; id: string; now: number },
  run: () => Promise<unknown>,
): Promise<Answer> {
  const idDigest = digestOf(id);
  const requestDigest = digestOf(request.method, request.url, JSON.stringify(request.body ?? null));
  const done = await findDone(session, { userId, idDigest, now });
  if (done !== undefined) {
    if (done.requestDigest !== requestDigest) throw new ApiError("REQUEST.ID_REUSED");
    if (done.answer === null) refuse(refusal("WRITE.DONE"));
    return { text: unseal(done.answer, id, "answer of a write"), isRepeated: true };
  }
  const text = JSON.stringify(await run());
  const answer = text.length > ANSWER_CHARS_MAX ? null : seal(text, id, "answer of a write");
  await keepDone(session, { userId, idDigest, requestDigest, answer }, now);
  return { text, isRepeated: false };
}

function send(reply: FastifyReply, { text, isRepeated }: Answer): FastifyReply {
  if (isRepeated) reply.header(REPEATED_HEADER, "true");
  return reply.type("application/json; charset=utf-8").send(text);
}
