import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { ApiError } from "../../http/errors.ts";
import { originOf } from "../../network/origin.ts";
import { OidcFault } from "../../oidc/faults.ts";
import { LOGOUT_MS } from "../../oidc/logout-token.ts";
import { digestOf } from "../../records/audit/sealed-text.ts";
import { removeSessionsOfProvider, spend } from "../../records/users/oidc.ts";
import { startSession } from "../auth/session-cookie.ts";
import { bodyReader } from "../body.ts";
import type { DashboardContext, GroupRole, SingleSignOn } from "../context.ts";
import { refuse } from "../refuse.ts";
import { refusal } from "../types/refusals.ts";
import { type OidcStart, type Realm, RETURN_PATHS } from "../types/settings/session.ts";
import { ATTEMPT_MS, keepAttempt, takeAttempt } from "./attempt-cookie.ts";
import { admitSubject } from "./sign-in.ts";

// Signing in through a provider, at the clinics or at the operator's console. The page asks for the provider's address, goes there, and
// brings the answer back.

const finishBody = bodyReader({ query: Type.String({ maxLength: 8000 }) });

/** A logout token has 1 kB. */
const LOGOUT_BYTES_MAX = 20_000;

type OidcContext = Pick<DashboardContext, "store" | "pepper" | "now" | "network" | "logger" | "singleSignOn">;

export function oidcRoutes(app: FastifyInstance, context: OidcContext, realm: Realm): void {
  startRoute(app, context, realm);
  finishRoute(app, context, realm);
}

/** The logout of both realms. Its body is a form. */
export function oidcLogout(app: FastifyInstance, context: OidcContext): void {
  app.register(async (form) => logoutRoute(form, context));
}

function startRoute(app: FastifyInstance, context: OidcContext, realm: Realm): void {
  const { pepper, now, network } = context;
  app.post(`/${realm}/v1/oidc/start`, { config: { access: "anyone" } }, async (request, reply): Promise<OidcStart> => {
    const { provider } = setUp(context);
    const redirectUri = `${originOf(request, network)}${RETURN_PATHS[realm]}`;
    const { url, attempt } = await orRefuse(context, provider.begin(redirectUri));
    keepAttempt({ request, reply, realm }, attempt, pepper, now());
    return { url };
  });
}

function finishRoute(app: FastifyInstance, context: OidcContext, realm: Realm): void {
  const { store, pepper, now } = context;
  app.post(`/${realm}/v1/oidc/finish`, { config: { access: "anyone" } }, async (request, reply) => {
    const { provider, readRoles } = setUp(context);
    const { query } = finishBody(request.body);
    const attempt = takeAttempt({ request, reply, realm }, pepper, now());
    if (attempt === null) refuse(refusal("OIDC.ENDED"));
    const digest = digestOf("oidc state", attempt.state);
    const isNew = await store.transaction((session) => spend(session, digest, now(), now() + 2 * ATTEMPT_MS));
    if (!isNew) refuse(refusal("OIDC.ENDED"));
    const subject = await orRefuse(context, provider.finish(attempt, query));
    const given = { realm, rows: rowsOf(context, readRoles), now: now(), address: request.ip };
    const outcome = await store.transaction((session) => admitSubject(session, subject, given));
    if ("refused" in outcome) refuse(refusal(outcome.refused));
    const { issuer, sid } = subject;
    await startSession(context, { request, reply, user: outcome.user, realm, oidc: { issuer, sid } });
    return {};
  });
}

/** Back-channel logout: the provider itself calls it, and proves it by a signed token. */
function logoutRoute(form: FastifyInstance, context: OidcContext): void {
  const { store, now, logger } = context;
  form.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: LOGOUT_BYTES_MAX },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  );
  form.post("/clinic/v1/oidc/logout", { config: { access: "anyone" } }, async (request) => {
    const { provider } = setUp(context);
    const token = request.body instanceof URLSearchParams ? request.body.get("logout_token") : null;
    if (token === null) throw new ApiError("REQUEST.INVALID_BODY", "logout_token is missing.");
    const logout = await provider.readLogout(token).catch((error: unknown) => {
      logFault(context, error);
      const isAway = error instanceof OidcFault && error.code !== "OIDC.NOT_VERIFIED";
      if (isAway) throw new ApiError("SERVER.UNAVAILABLE", "", { headers: { "retry-after": "30" } });
      throw new ApiError("REQUEST.INVALID_BODY", "The logout token is not valid.");
    });
    const digest = digestOf("oidc logout", logout.issuer, logout.id);
    const ended = await store.transaction(async (session) => {
      const isNew = await spend(session, digest, now(), now() + 2 * LOGOUT_MS);
      return isNew ? removeSessionsOfProvider(session, logout) : null;
    });
    if (ended === null) throw new ApiError("REQUEST.INVALID_BODY", "The logout token was used before.");
    logger.info({ sessions: ended }, "the sign-in provider ended sessions");
    return {};
  });
}

function setUp({ singleSignOn }: OidcContext): SingleSignOn {
  if (singleSignOn === null) throw new ApiError("ROUTE.NOT_FOUND", "this path, because no sign-in provider is set up");
  return singleSignOn;
}

function rowsOf({ logger }: OidcContext, readRoles: () => readonly GroupRole[]): readonly GroupRole[] {
  try {
    return readRoles();
  } catch (error) {
    logger.error({ reason: errorMessage(error) }, "the roles of groups cannot be read: nobody signs in by them");
    refuse(refusal("OIDC.PROVIDER"));
  }
}

/** Turns a fault of the sign-in into a refusal with words. */
async function orRefuse<T>(context: OidcContext, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof OidcFault)) throw error;
    logFault(context, error);
    refuse(refusal(error.code));
  }
}

function logFault({ logger }: OidcContext, error: unknown): void {
  if (error instanceof OidcFault) {
    logger.warn({ code: error.code, cause: error.cause }, "the sign-in provider did not sign a user in or out");
  }
}
