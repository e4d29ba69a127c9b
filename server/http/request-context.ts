import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";
import { continueTrace, inTrace, type Trace } from "../../shared/network/trace.ts";
import type { Language } from "../../shared/api/language.ts";
import type { UnitChoice } from "../../shared/clinical/units/unit-choice.ts";
import type { Role } from "../dashboard/types/settings/session.ts";
import type { Versions } from "../database/cache-versions.ts";
import type { ApiKey } from "../records/clinics/keys.ts";
import type { CacheHit, Subject } from "./cached-response.ts";
import { Drain } from "./drain.ts";
import type { HeaderList } from "./response-headers.ts";

/** The config of a route, with its pattern. A request without a route has none. */
export type RouteConfig = FastifyContextConfig & { readonly url?: string };

/** The state of one request. Each plugin fills in its own fields, in the order in which app.ts registers the plugins. */
interface RequestContext {
  /** The config of the route. Fastify builds `routeOptions` at each access, so it is read once. */
  readonly route: RouteConfig;
  /** The step of the trace that `traceparent` names, or of a new one. */
  readonly trace: Trace;
  /** The active key of the request, set by authentication. Null without one. */
  key: ApiKey | null;
  /** Whether the operator suspended the clinic of `key`. */
  isClinicSuspended: boolean;
  /** Studies that the clinic of `key` may store; null for the limit of the server. */
  studiesMax: number | null;
  /** The presented key, if it is revoked or expired. The audit trail names it. */
  inactiveKey: ApiKey | null;
  /** The user of the dashboard, set by the guard of its routes. Null for all other requests. */
  signedIn: SignedIn | null;
  /** Versions of the key's clinic, set together with `key`. They are read before any data. */
  versions: Versions | null;
  /** The cached response to this request, set by the response cache. */
  cacheHit: CacheHit | null;
  /** Rate-limit headers of the response, set by the rate limit. Empty without an active key. */
  limitHeaders: HeaderList;
  /** The requested records, for the audit trail. Null until a response exists. */
  subject: Subject | null;
  /** Whether the audit trail still waits for the request to be admitted or refused. */
  isAwaitingAdmission: boolean;
}

/** A user with a session, and the clinic in which the user acts. */
export interface SignedIn {
  readonly sessionId: number;
  readonly userId: number;
  readonly userPublicId: string;
  readonly name: string;
  readonly hasSecondFactor: boolean;
  clinic: {
    readonly id: number;
    readonly fp: string;
    readonly role: Role;
    readonly timeZone: string | null;
    readonly language: Language | null;
    /** The units in which the user reads results: the clinic's, or the user's own. */
    readonly units: UnitChoice;
  } | null;
}

declare module "fastify" {
  interface FastifyRequest {
    context: RequestContext;
  }
}

/**
 * Gives each request its context and runs it in its trace. During a drain each response ends its connection. Register it before all
 * other hooks.
 */
export function startRequestContext(app: FastifyInstance, drain = new Drain()): void {
  app.decorateRequest("context");
  app.addHook("onRequest", (request, reply, done) => {
    if (drain.hasBegun) reply.raw.setHeader("connection", "close");
    request.context = {
      route: request.routeOptions.config,
      trace: continueTrace(request.headers.traceparent),
      key: null,
      isClinicSuspended: false,
      studiesMax: null,
      inactiveKey: null,
      signedIn: null,
      versions: null,
      cacheHit: null,
      limitHeaders: [],
      subject: null,
      isAwaitingAdmission: false,
    };
    // Fastify keeps it over the events of a body, which belong to the connection.
    inTrace(request.context.trace, done);
  });
}

/** The active key of an authorized request. */
export function keyOf({ context }: FastifyRequest): ApiKey {
  return authorized(context.key);
}

/** The versions of the key's clinic, for an authorized request. They were read before any data. */
export function versionsOf({ context }: FastifyRequest): Versions {
  return authorized(context.versions);
}

function authorized<T>(value: T | null): T {
  if (value === null) throw new Error("expected an authorized request, got one without a key");
  return value;
}
