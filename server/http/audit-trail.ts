import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isAnyFp } from "../../shared/api/fp.ts";
import type { AuditRow } from "../records/audit/audit.ts";
import { type AuditQueue, isRefusal } from "../records/audit/audit-queue.ts";
import type { Subject } from "./cached-response.ts";

// Plugin: one audit row for each request with a key or of a signed-in user, and for each refusal of a request without one. A routine
// request has none.

declare module "fastify" {
  interface FastifyContextConfig {
    /**
     * Whether a success of the route has no audit row: agents or open pages call it all day, and it names no record. The waits for news
     * and the heartbeats of 10 000 agents would write 34 million rows a day. What a heartbeat changes has a row of its own.
     */
    isRoutine?: boolean;
  }
}

const FLUSH_MS = 500;

/** Max time that closing waits for requests that are not admitted or refused yet. */
const ADMISSION_MS_MAX = 5_000;

export interface AuditTrail {
  readonly queue: AuditQueue;
  /** Requests that are neither admitted nor refused yet. Their client may be gone already. */
  pendingAdmissions: number;
}

/** Flushes the queue at intervals, and for the last time when the app closes. */
export function startAuditTrail(app: FastifyInstance, queue: AuditQueue): AuditTrail {
  const trail: AuditTrail = { queue, pendingAdmissions: 0 };
  const timer = setInterval(() => void queue.flush(), FLUSH_MS).unref();
  app.addHook("onClose", async () => {
    clearInterval(timer);
    // The close event of a cut connection comes one event-loop turn after the server's.
    await sleep(1);
    for (let waitedMs = 0; trail.pendingAdmissions > 0 && waitedMs < ADMISSION_MS_MAX; waitedMs += 1) await sleep(1);
    await queue.close();
  });
  return trail;
}

/** Register before authentication. The row is added when the request is admitted or refused and its connection is done. */
export function auditRequests(scope: FastifyInstance, trail: AuditTrail, now: () => number): void {
  function add(request: FastifyRequest, reply: FastifyReply): void {
    const row = rowOf(request, reply, now());
    if (row !== undefined) trail.queue.add(row);
  }

  function endAdmission(request: FastifyRequest, reply: FastifyReply): void {
    if (!request.context.isAwaitingAdmission) return;
    request.context.isAwaitingAdmission = false;
    trail.pendingAdmissions -= 1;
    // A cached response is sent later in this microtask. A closed response emits no further event.
    if (request.context.cacheHit !== null || reply.raw.closed) queueMicrotask(() => add(request, reply));
    // The onResponse hook does not run if the client disconnects first. Its push may be stored nevertheless.
    else reply.raw.on("close", () => add(request, reply));
  }

  scope.addHook("onRequest", (request, _reply, done) => {
    // Caches the address, which is unknown once the socket is closed.
    void request.ip;
    request.context.isAwaitingAdmission = true;
    trail.pendingAdmissions += 1;
    done();
  });
  scope.addHook("preParsing", (request, reply, _payload, done) => {
    endAdmission(request, reply);
    done();
  });
  scope.addHook("onError", (request, reply, _error, done) => {
    endAdmission(request, reply);
    done();
  });
  scope.addHook("preSerialization", (request, _reply, payload, done) => {
    request.context.subject = subjectOf(request, payload);
    done(null, payload);
  });
}

/** The audit row of a finished request. Undefined for a request of an unknown caller that was not refused. */
function rowOf(request: FastifyRequest, reply: FastifyReply, at: number): AuditRow | undefined {
  const { key, inactiveKey, signedIn, subject } = request.context;
  const keyId = (key ?? inactiveKey)?.id ?? null;
  // The raw status, since Fastify has one even if the client left before any response.
  const status = reply.raw.headersSent ? reply.raw.statusCode : null;
  if (keyId === null && signedIn === null && !isRefusal(status)) return undefined;
  if (request.context.route.isRoutine === true && (status ?? 200) === 200) return undefined;
  return {
    at,
    request_id: request.id,
    api_key_id: keyId,
    method: request.method,
    ...(subject ?? subjectOf(request)),
    status,
    address: request.ip,
    times: 1,
    user_id: signedIn?.userId ?? null,
    clinic_id: signedIn?.clinic?.id ?? null,
  };
}

function subjectOf(request: FastifyRequest, payload: unknown = {}): Subject {
  const { fp } = request.params as { fp?: string };
  return {
    route: request.routeOptions.url ?? null,
    // Any other text in the path may be a name, which the audit must not hold.
    fp: fp !== undefined && isAnyFp(fp) ? fp : null,
    count: countItems(payload),
  };
}

/** Number of records in a list response: items of a page or a sync, a bare array, outcomes of a push, or entries of a Bundle. Null for other responses. */
function countItems(payload: unknown): number | null {
  if (Array.isArray(payload)) return payload.length;
  const { data, outcomes, items, entry } = payload as {
    data?: { items?: unknown[] };
    outcomes?: unknown[];
    items?: unknown[];
    entry?: unknown[];
  };
  return (data?.items ?? outcomes ?? items ?? entry)?.length ?? null;
}
