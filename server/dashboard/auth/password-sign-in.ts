import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../http/errors.ts";
import { findUserByName } from "../../records/users/users.ts";
import { bodyReader } from "../body.ts";
import type { DashboardContext } from "../context.ts";
import type { Realm, SignedInAnswer } from "../types/settings/session.ts";
import { checkSecondFactor } from "./check-second-factor.ts";
import { isPassword } from "./password.ts";
import { startSession } from "./session-cookie.ts";
import { createSignInLimit } from "./sign-in-limit.ts";

const signInBody = bodyReader({
  name: Type.String({ maxLength: 100 }),
  password: Type.String(),
  totp: Type.Optional(Type.String({ maxLength: 20 })),
});

/** @returns a function that signs the person of a request in by name and password, at the dashboard or at the operator's console */
export function passwordSignIn(context: Pick<DashboardContext, "store" | "pepper" | "counters" | "now">) {
  const countAttempt = createSignInLimit(context);
  return async (request: FastifyRequest, reply: FastifyReply, realm: Realm): Promise<SignedInAnswer> => {
    const { name, password, totp } = signInBody(request.body);
    const attempt = await countAttempt(request, name);
    const user = await findUserByName(context.store, name);
    // An unknown name is checked like a wrong password, so that neither time nor response reveals which names exist.
    const who = { isGone: () => request.raw.socket.destroyed, isKnown: attempt.isKnown };
    const isRight = await isPassword(password, user?.password, who);
    const isOfRealm = (user?.is_operator === 1) === (realm === "operator");
    if (user === undefined || !isRight || user.disabled_at !== null || !isOfRealm) {
      throw new ApiError("SESSION.SIGN_IN_FAILED");
    }
    const recovery_codes_left = await checkSecondFactor(context, { request, user, code: totp, attempt });
    await startSession(context, { request, reply, user, realm });
    return { recovery_codes_left };
  };
}
