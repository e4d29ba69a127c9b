import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { SessionState } from "../types/settings/session.ts";
import { ApiError } from "../../http/errors.ts";
import { insertClinic, listClinics } from "../../records/clinics/clinics.ts";
import { removeSession } from "../../records/users/sessions.ts";
import { clinicsOpenTo, countUsers, findUser, insertUser, setRole } from "../../records/users/users.ts";
import { userOf } from "../auth/guard.ts";
import { hashPassword } from "../auth/password.ts";
import { clearSessionCookie, startSession } from "../auth/session-cookie.ts";
import { passwordSignIn } from "../auth/password-sign-in.ts";
import { bodyReader, Name } from "../body.ts";
import type { DashboardContext } from "../context.ts";

// Set-up by the first admin, signing in and out, and the state of the session.

const setUpBody = bodyReader({
  code: Type.String({ maxLength: 100 }),
  name: Name,
  password: Type.String(),
  clinic_name: Type.Optional(Name),
});

export function sessionRoutes(app: FastifyInstance, context: DashboardContext): void {
  stateRoute(app, context);
  setUpRoute(app, context);
  signInRoutes(app, context);
}

function stateRoute(app: FastifyInstance, context: DashboardContext): void {
  app.get("/clinic/v1/session", { config: { access: "anyone" } }, (request) => sessionState(request, context));
}

async function sessionState(
  request: FastifyRequest,
  { store, now, singleSignOn }: DashboardContext,
): Promise<SessionState> {
  const { signedIn } = request.context;
  if (signedIn === null) {
    if ((await countUsers(store)) > 0)
      return { state: "signed out", ...(singleSignOn !== null && { has_provider: true }) };
    return { state: "set-up", has_clinics: (await listClinics(store)).length > 0 };
  }
  const clinics = await clinicsOpenTo(store, signedIn.userId, now());
  const endedAt = (await findUser(store, signedIn.userId))?.factors_ended_at ?? null;
  const user = {
    id: signedIn.userPublicId,
    name: signedIn.name,
    has_second_factor: signedIn.hasSecondFactor,
    password_known_at: timestampOrNull(endedAt),
  };
  return {
    state: "signed in",
    user,
    clinics: clinics.map(({ clinic_id: _id, suspended_at: _at, ...clinic }) => clinic),
  };
}

/** The first admin gets all clinics of the server. A server without clinics gets its first one. */
function setUpRoute(app: FastifyInstance, context: DashboardContext): void {
  const { store, now, setupCode } = context;
  app.post("/clinic/v1/set-up", { config: { access: "anyone" } }, async (request, reply) => {
    const { code, name, password, clinic_name } = setUpBody(request.body);
    if (setupCode?.matches(code) !== true) throw new ApiError("SESSION.SETUP_CODE");
    const hash = await hashPassword(password);
    const user = await store.transaction(async (session) => {
      if ((await countUsers(session)) > 0) throw new ApiError("SESSION.SETUP_CODE");
      const clinics = await listClinics(session);
      if (clinics.length === 0) {
        if (clinic_name === undefined) throw new ApiError("REQUEST.INVALID_BODY", "clinic_name is missing.");
        clinics.push(await insertClinic(session, { fp: newFp("clinic"), name: clinic_name.trim() }));
      }
      const added = await insertUser(session, { name, password: hash, now: now() });
      if (added === undefined) throw new ApiError("SESSION.SETUP_CODE");
      for (const clinic of clinics) await setRole(session, added.id, clinic.id, "admin");
      return { ...added, name, password: hash, totp_secret: null };
    });
    setupCode.end();
    await startSession(context, { request, reply, user });
    return {};
  });
}

function signInRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store } = context;
  const signIn = passwordSignIn(context);
  app.post("/clinic/v1/sign-in", { config: { access: "anyone" } }, (request, reply) =>
    signIn(request, reply, "clinic"),
  );
  app.post("/clinic/v1/sign-out", { config: { access: "signed in" } }, async (request, reply) => {
    const { sessionId } = userOf(request);
    await store.transaction((session) => removeSession(session, sessionId));
    clearSessionCookie(request, reply);
    return {};
  });
}
