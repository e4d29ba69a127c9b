import type { FastifyInstance, FastifyRequest } from "fastify";
import { includesRole, type Realm, type Role } from "../types/settings/session.ts";
import { ApiError } from "../../http/errors.ts";
import { limitSession, limitStranger } from "../../http/rate-limit/rate-limit.ts";
import type { SignedIn } from "../../http/request-context.ts";
import { isKnownBrowser } from "../../records/users/known-browsers.ts";
import { findSession, touchSession } from "../../records/users/sessions.ts";
import { clinicsOpenTo } from "../../records/users/users.ts";
import type { DashboardContext } from "../context.ts";
import { browserDigest } from "./known-browser.ts";
import { endOfSession, presentedDigest } from "./session-cookie.ts";
import { unitsOfUser } from "./units-cookie.ts";

// Plugin: finds the session of a request, and refuses what the user may not do.

/**
 * Needed to call a route: nothing, any session, or a role in the clinic `:clinic` of the path. A route with a role has the
 * parameter `:clinic`.
 */
export type Access = "anyone" | "signed in" | Role;

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
}

/** Header of the page: the id of the user whose name it shows. */
const PAGE_USER = "x-vetwire-user";

/** Interval at which the use of a session is stored. */
const TOUCH_MS = 60_000;

export function guardRoutes(scope: FastifyInstance, context: DashboardContext): void {
  const { store, now } = context;
  scope.addHook("onRoute", ({ url, config }) => {
    const access = config?.access;
    if (access === undefined) throw new Error(`route ${url}: expected access in its config`);
    const isOfClinic = url.includes("/:clinic/");
    const needsRole = access !== "anyone" && access !== "signed in";
    if (isOfClinic !== needsRole)
      throw new Error(`route ${url}: expected /:clinic/ in the path and a role, or neither`);
  });
  scope.addHook("onRequest", async (request) => {
    await findSignedIn(request, context, "clinic");
    const { access = "admin" } = request.context.route;
    if (access === "anyone") return;
    const signedIn = requireSession(request);
    if (access !== "signed in") await admitToClinic(request, signedIn, access);
  });
  // A body may take a minute, in which the session ends, or the clinic is suspended and erased.
  scope.addHook("preHandler", async (request) => {
    const { signedIn, route } = request.context;
    const { access = "admin" } = route;
    if (request.body == null || signedIn === null || access === "anyone" || access === "signed in") return;
    const digest = presentedDigest(request, "clinic");
    const isOver = digest === undefined || (await findSession(store, digest, now(), "clinic")) === undefined;
    if (isOver) throw new ApiError("SESSION.REQUIRED");
    await admitToClinic(request, signedIn, access);
  });

  async function admitToClinic(request: FastifyRequest, signedIn: SignedIn, access: Role): Promise<void> {
    // Both get the same response, so that nobody learns which clinics exist.
    const { clinic: fp } = request.params as { clinic: string };
    const membership = (await clinicsOpenTo(store, signedIn.userId, now())).find((clinic) => clinic.fp === fp);
    if (membership === undefined) throw new ApiError("RECORD.NOT_FOUND", "This clinic");
    if (membership.suspended_at !== null) throw new ApiError("CLINIC.SUSPENDED");
    const { clinic_id: id, role } = membership;
    const { time_zone: timeZone, language } = membership;
    signedIn.clinic = { id, fp, role, timeZone, language, units: unitsOfUser(request) ?? membership.units };
    if (!includesRole(role, access)) throw new ApiError("SESSION.FORBIDDEN", access);
  }
}

/** Finds the session of a request, and counts the request against the budget of the session, the known browser or the address. */
export async function findSignedIn(
  request: FastifyRequest,
  { store, now, limiter, pepper }: Pick<DashboardContext, "store" | "now" | "limiter" | "pepper">,
  realm: Realm,
): Promise<void> {
  const digest = presentedDigest(request, realm);
  const clock = now();
  const found = digest === undefined ? undefined : await findSession(store, digest, clock, realm);
  if (found === undefined) {
    // A known browser must be able to load the page and sign in, whatever a stranger at the same address sends.
    const browser = browserDigest(request, pepper);
    const isKnown = browser !== null && (await isKnownBrowser(store, browser, clock));
    await (isKnown ? limitSession(`browser ${browser}`, limiter, clock) : limitStranger(request, limiter, clock));
  } else {
    await limitSession(found.id, limiter, clock);
    // After a clock was set back, the end counts from now.
    if (Math.abs(clock - found.last_used_at) >= TOUCH_MS) {
      const end = endOfSession(found.created_at, clock);
      await store.transaction((session) => touchSession(session, found.id, clock, end));
    }
    request.context.signedIn = {
      sessionId: found.id,
      userId: found.user_id,
      userPublicId: found.user_public_id,
      name: found.user_name,
      hasSecondFactor: found.has_second_factor,
      clinic: null,
    };
  }
}

/** @throws ApiError without a session, and if the page shows the name of another user */
export function requireSession(request: FastifyRequest): SignedIn {
  const { signedIn } = request.context;
  if (signedIn === null) throw new ApiError("SESSION.REQUIRED");
  // Another tab may have signed in somebody else since the page was loaded: the cookie alone would write under that name.
  const { [PAGE_USER]: meant = signedIn.userPublicId } = request.headers;
  if (meant !== signedIn.userPublicId) throw new ApiError("SESSION.OTHER_USER", signedIn.name);
  return signedIn;
}

export function userOf({ context: { signedIn } }: FastifyRequest): SignedIn {
  if (signedIn === null) throw new Error("expected a guarded request, got one without a session");
  return signedIn;
}

/** The clinic of a request whose route needs a role. */
export function clinicOf(request: FastifyRequest): NonNullable<SignedIn["clinic"]> {
  const { clinic } = userOf(request);
  if (clinic === null) throw new Error("expected a route of a clinic, got one without");
  return clinic;
}
