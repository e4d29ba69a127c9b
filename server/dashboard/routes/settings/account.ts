import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { AccountState, NewSecondFactor, RecoveryCodes } from "../../types/settings/account.ts";
import { ApiError } from "../../../http/errors.ts";
import { listSessionsOf, removeSessionOf, removeSessionsOf } from "../../../records/users/sessions.ts";
import { countRecoveryCodes, setSecondFactor } from "../../../records/users/second-factors.ts";
import { findUser, NO_PASSWORD, setPassword, type StoredUser } from "../../../records/users/users.ts";
import { checkSecondFactor, makeRecoveryCodes } from "../../auth/check-second-factor.ts";
import { userOf } from "../../auth/guard.ts";
import { nextBrowserCookie } from "../../auth/known-browser.ts";
import { hashPassword, isPassword } from "../../auth/password.ts";
import { newSecondFactor, stepOf } from "../../auth/second-factor.ts";
import { clearSessionCookie } from "../../auth/session-cookie.ts";
import { createSessionLimit } from "../../auth/sign-in-limit.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import type { Realm } from "../../types/settings/session.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// The signed-in user's own account: password, sessions, second factor.

const passwordBody = bodyReader({ old_password: Type.String(), new_password: Type.String() });
const provenBody = bodyReader({ password: Type.String(), code: Type.String({ maxLength: 20 }) });
const onBody = bodyReader({
  secret: Type.String({ pattern: textForm("^[A-Z2-7]{32}$", "32 letters A to Z and digits 2 to 7") }),
  code: Type.String({ minLength: 1, maxLength: 20 }),
  password: Type.String(),
});

type AccountContext = Pick<DashboardContext, "store" | "now" | "pepper" | "counters">;

/** Adds the account of a user of a clinic, or that of an operator to the console. */
export function accountRoutes(app: FastifyInstance, context: AccountContext, realm: Realm = "clinic"): void {
  const account = `/${realm}/v1/account`;
  sessionListRoutes(app, context, { account, realm });
  passwordRoute(app, context, account);
  secondFactorRoutes(app, context, `${account}/second-factor`);
}

function sessionListRoutes(
  app: FastifyInstance,
  { store, now }: AccountContext,
  { account, realm }: { readonly account: string; readonly realm: Realm },
): void {
  app.get(account, { config: { access: "signed in" } }, async (request): Promise<AccountState> => {
    const { userId, sessionId, name, hasSecondFactor } = userOf(request);
    const sessions = await listSessionsOf(store, userId, now());
    return {
      name,
      has_password: (await findUser(store, userId))?.password !== NO_PASSWORD,
      has_second_factor: hasSecondFactor,
      recovery_codes_left: await countRecoveryCodes(store, userId),
      sessions: sessions.map(({ id, public_id, browser, address, created_at, last_used_at }) => ({
        id: public_id,
        is_this: id === sessionId,
        browser,
        address,
        started_at: new Date(created_at).toISOString(),
        last_used_at: new Date(last_used_at).toISOString(),
      })),
    };
  });
  app.delete<{ Params: { session: string } }>(
    `${account}/sessions/:session`,
    { config: { access: "signed in" } },
    async (request, reply) => {
      const { userId, sessionId } = userOf(request);
      const { session: publicId } = request.params;
      const removed = await store.transaction((session) => removeSessionOf(session, userId, publicId));
      if (removed === undefined) throw new ApiError("RECORD.NOT_FOUND", "This session");
      if (removed === sessionId) clearSessionCookie(request, reply, realm);
      return {};
    },
  );
  app.post(`${account}/sign-out-everywhere`, { config: { access: "signed in" } }, async (request, reply) => {
    const { userId } = userOf(request);
    await store.transaction((session) => removeSessionsOf(session, userId));
    clearSessionCookie(request, reply, realm);
    return {};
  });
}

/** A stolen session must not suffice. @returns a function that returns the user, if the password is right */
function proving(context: AccountContext) {
  const { store } = context;
  const countTry = createSessionLimit(context);
  return async (request: FastifyRequest, password: string): Promise<StoredUser> => {
    const { userId, sessionId } = userOf(request);
    await countTry(sessionId);
    const user = await findUser(store, userId);
    if (user === undefined || !(await isPassword(password, user.password)))
      throw new ApiError("SESSION.WRONG_PASSWORD");
    return user;
  };
}

function passwordRoute(app: FastifyInstance, context: AccountContext, account: string): void {
  const { store, now, pepper } = context;
  const provenUser = proving(context);
  app.post(`${account}/password`, { config: { access: "signed in" } }, async (request, reply) => {
    const { old_password, new_password } = passwordBody(request.body);
    const { id } = await provenUser(request, old_password);
    const hash = await hashPassword(new_password);
    const known = nextBrowserCookie(request, pepper);
    await store.transaction(async (session) => {
      await setPassword(session, id, hash);
      await removeSessionsOf(session, id, userOf(request).sessionId);
      await known.store(session, id, now());
    });
    known.set(reply);
    return {};
  });
}

function secondFactorRoutes(app: FastifyInstance, context: AccountContext, factor: string): void {
  const { store, now, pepper } = context;
  const provenUser = proving(context);
  app.route({
    method: "POST",
    url: `${factor}/secret`,
    config: { access: "signed in" },
    // The page sends the secret back with its first code, so the server keeps none that is not in use.
    handler: (request): NewSecondFactor => newSecondFactor(userOf(request).name),
  });
  app.post(`${factor}/on`, { config: { access: "signed in" } }, async (request): Promise<RecoveryCodes> => {
    const { secret, code, password } = onBody(request.body);
    const { id } = await provenUser(request, password);
    const step = stepOf(code, secret, now());
    if (step === null) refuse(refusal("FACTOR.WRONG_CODE"));
    return store.transaction(async (session) => {
      const user = await findUser(session, id);
      if (user?.totp_secret !== null) refuse(refusal("FACTOR.ON"));
      await setSecondFactor(session, id, { secret, step });
      // They were started by the password alone.
      await removeSessionsOf(session, id, userOf(request).sessionId);
      return { recovery_codes: await makeRecoveryCodes(session, pepper, id) };
    });
  });
  /** A stolen session and the password must not suffice either. @returns the id of the user */
  async function provenTwice(request: FastifyRequest): Promise<number> {
    const { password, code } = provenBody(request.body);
    const user = await provenUser(request, password);
    if (user.totp_secret === null) refuse(refusal("FACTOR.OFF"));
    await checkSecondFactor(context, { request, user, code });
    return user.id;
  }
  app.post(`${factor}/off`, { config: { access: "signed in" } }, async (request) => {
    const id = await provenTwice(request);
    await store.transaction((session) => setSecondFactor(session, id, null));
    return {};
  });
  app.post(`${factor}/recovery-codes`, { config: { access: "signed in" } }, async (request): Promise<RecoveryCodes> => {
    const id = await provenTwice(request);
    return { recovery_codes: await store.transaction((session) => makeRecoveryCodes(session, pepper, id)) };
  });
}
