import type { FastifyInstance } from "fastify";
import { userOf } from "../dashboard/auth/guard.ts";
import { passwordSignIn } from "../dashboard/auth/password-sign-in.ts";
import { clearSessionCookie } from "../dashboard/auth/session-cookie.ts";
import type { SessionState } from "../dashboard/types/settings/session.ts";
import { removeSession } from "../records/users/sessions.ts";
import type { OperatorContext } from "./context.ts";

// The session of an operator. It has the form of the dashboard's, and no clinics.

export function sessionRoutes(app: FastifyInstance, context: OperatorContext): void {
  const { store, singleSignOn } = context;
  const signIn = passwordSignIn(context);
  app.get("/operator/v1/session", { config: { access: "anyone" } }, async (request): Promise<SessionState> => {
    const { signedIn } = request.context;
    if (signedIn === null) return { state: "signed out", ...(singleSignOn !== null && { has_provider: true }) };
    const { userPublicId: id, name, hasSecondFactor: has_second_factor } = signedIn;
    return { state: "signed in", user: { id, name, has_second_factor, password_known_at: null }, clinics: [] };
  });
  app.post("/operator/v1/sign-in", { config: { access: "anyone" } }, (request, reply) =>
    signIn(request, reply, "operator"),
  );
  app.post("/operator/v1/sign-out", { config: { access: "signed in" } }, async (request, reply) => {
    const { sessionId } = userOf(request);
    await store.transaction((session) => removeSession(session, sessionId));
    clearSessionCookie(request, reply, "operator");
    return {};
  });
}
