import { Secret, TOTP } from "otpauth";
import { expect, test } from "vitest";
import type { AccountState, NewSecondFactor } from "../../../../server/dashboard/types/settings/account.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, startServer, type TestServer } from "../../../server/harness.ts";
import { givePassword, makeUser, type Refused, type TestUser } from "../../harness.ts";

const PASSWORD = "four brown dogs";
const DAY_MS = 86_400_000;

/** Starts a server with a user who has a password. */
async function startWithUser() {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const user = await makeUser(server, "reader", fp);
  await givePassword(server, user.id, PASSWORD);
  return { fp, server, user };
}

async function signIn({ app }: TestServer, body: object) {
  const response = await app.inject({ method: "POST", url: "/clinic/v1/sign-in", payload: body });
  const cookie = response.headers["set-cookie"]?.toString().split(";")[0] ?? "";
  const json = response.json<{ error?: { code: string; message: string } }>();
  return { status: response.statusCode, code: json.error?.code, cookie };
}

/** The account of a cookie; undefined if its session is over. */
async function accountOf({ app }: TestServer, cookie: string): Promise<AccountState | undefined> {
  const response = await app.inject({ url: "/clinic/v1/account", headers: { cookie } });
  return response.statusCode === 200 ? response.json<AccountState>() : undefined;
}

async function switchOn(server: TestServer, user: TestUser): Promise<TOTP> {
  const { body } = await user.call<NewSecondFactor>("POST", "/clinic/v1/account/second-factor/secret", {});
  const totp = new TOTP({ secret: Secret.fromBase32(body.secret) });
  const code = totp.generate({ timestamp: server.clock.now });
  const on = await user.call("POST", "/clinic/v1/account/second-factor/on", {
    secret: body.secret,
    code,
    password: PASSWORD,
  });
  expect(on.status).toBe(200);
  return totp;
}

test("a new password needs the old one, ends the other sessions, and alone signs in", async () => {
  const { server, user } = await startWithUser();
  const other = (await signIn(server, { name: user.name, password: PASSWORD })).cookie;
  const change = (old_password: string) =>
    user.call("POST", "/clinic/v1/account/password", { old_password, new_password: "eight grey cats" });

  expect(await change("four brown cats")).toMatchObject({
    status: 403,
    body: { error: { code: "SESSION.WRONG_PASSWORD" } },
  });
  expect(await accountOf(server, other)).toBeDefined();
  expect((await change(PASSWORD)).status).toBe(200);

  expect(await accountOf(server, other)).toBeUndefined();
  expect(await accountOf(server, user.cookie)).toBeDefined();
  expect((await signIn(server, { name: user.name, password: PASSWORD })).code).toBe("SESSION.SIGN_IN_FAILED");
  expect((await signIn(server, { name: user.name, password: "eight grey cats" })).status).toBe(200);
});

test("a short new password is refused, and the response does not repeat it", async () => {
  const { user } = await startWithUser();
  const body = { old_password: PASSWORD, new_password: "xq-7" };
  const answer = await user.call<Refused>("POST", "/clinic/v1/account/password", body);
  expect(answer.status).toBe(400);
  expect(answer.body.error.details).toEqual({ code: "PASSWORD.LENGTH", values: ["10", "256"] });
  expect(answer.text).not.toContain("xq-7");
});

test("wrong passwords are counted for a signed-in user too", async () => {
  const { user } = await startWithUser();
  const off = () => user.call("POST", "/clinic/v1/account/second-factor/off", { password: "wrong", code: "1" });
  for (let attempt = 1; attempt <= 10; attempt += 1) expect((await off()).status).toBe(403);
  expect((await off()).status).toBe(429);
});

test("the list of sessions shows browser, address and last use, and one session is ended", async () => {
  const { server, user } = await startWithUser();
  const headers = { "user-agent": "<script>alert(1)</script>" };
  const payload = { name: user.name, password: PASSWORD };
  server.clock.now += 5000;
  const signedIn = await server.app.inject({ method: "POST", url: "/clinic/v1/sign-in", headers, payload });
  const cookie = signedIn.headers["set-cookie"]?.toString().split(";")[0] ?? "";
  const { sessions } = (await accountOf(server, cookie)) ?? { sessions: [] };
  expect(sessions).toMatchObject([
    { is_this: true, browser: headers["user-agent"], address: "127.0.0.1", last_used_at: "2026-11-21T12:00:05.000Z" },
    { is_this: false, browser: "a test", last_used_at: "2026-11-21T12:00:00.000Z" },
  ]);

  const end = (id?: string) => user.call("DELETE", `/clinic/v1/account/sessions/${id}`);
  expect((await end(sessions[0]?.id)).status).toBe(200);
  expect(await accountOf(server, cookie)).toBeUndefined();
  expect((await end(sessions[0]?.id)).status).toBe(404);

  const stranger = await startWithUser();
  const foreign = (await accountOf(stranger.server, stranger.user.cookie))?.sessions[0]?.id;
  expect((await end(foreign)).status).toBe(404);
});

test("signing out everywhere ends all sessions of the user alone", async () => {
  const { fp, server, user } = await startWithUser();
  const other = await makeUser(server, "reader", fp);
  const second = (await signIn(server, { name: user.name, password: PASSWORD })).cookie;
  expect((await user.call("POST", "/clinic/v1/account/sign-out-everywhere", {})).status).toBe(200);
  expect(await accountOf(server, user.cookie)).toBeUndefined();
  expect(await accountOf(server, second)).toBeUndefined();
  expect(await accountOf(server, other.cookie)).toBeDefined();
});

test("a session ends after 12 hours without use, and after 30 days with use", async () => {
  const { server, user } = await startWithUser();
  const start = server.clock.now;
  const { cookie } = await signIn(server, { name: user.name, password: PASSWORD });
  const idle = (await signIn(server, { name: user.name, password: PASSWORD })).cookie;
  for (let at = start; at < start + 30 * DAY_MS; at += DAY_MS / 2.5) {
    server.clock.now = at;
    expect(await accountOf(server, cookie), `at ${new Date(at).toISOString()}`).toBeDefined();
  }
  expect(await accountOf(server, idle)).toBeUndefined();
  server.clock.now = start + 30 * DAY_MS;
  expect(await accountOf(server, cookie)).toBeUndefined();
});

test("signing in again ends the session that the browser had", async () => {
  const { server, user } = await startWithUser();
  const payload = { name: user.name, password: PASSWORD };
  const headers = { cookie: user.cookie };
  const again = await server.app.inject({ method: "POST", url: "/clinic/v1/sign-in", headers, payload });
  expect(again.statusCode).toBe(200);
  expect(await accountOf(server, user.cookie)).toBeUndefined();
});

test("a second factor is on after a right code, and a code signs in once", async () => {
  const { server, user } = await startWithUser();
  const asked = await user.call<NewSecondFactor>("POST", "/clinic/v1/account/second-factor/secret", {});
  const { secret, uri } = asked.body;
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(uri).toMatch(/^otpauth:\/\/totp\/Vetwire:reader/);
  const wrong = await user.call("POST", "/clinic/v1/account/second-factor/on", {
    secret,
    code: "abc",
    password: PASSWORD,
  });
  expect(wrong.status).toBe(409);
  expect((await signIn(server, { name: user.name, password: PASSWORD })).status).toBe(200);

  // The limit of attempts starts again.
  server.clock.now += 15 * 60_000;
  const totp = await switchOn(server, user);
  const credentials = { name: user.name, password: PASSWORD };
  const codeNow = () => totp.generate({ timestamp: server.clock.now });
  expect((await signIn(server, credentials)).code).toBe("SESSION.SECOND_FACTOR");
  expect((await signIn(server, { ...credentials, password: "wrong" })).code).toBe("SESSION.SIGN_IN_FAILED");
  const used = codeNow();
  expect((await signIn(server, { ...credentials, totp: used })).code, "the code that switched it on").toBe(
    "SESSION.SECOND_FACTOR",
  );

  server.clock.now += 30_000;
  const next = codeNow();
  expect((await signIn(server, { ...credentials, password: "wrong", totp: next })).code).toBe("SESSION.SIGN_IN_FAILED");
  const both = await Promise.all([1, 2].map(() => signIn(server, { ...credentials, totp: next })));
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  expect((await signIn(server, { ...credentials, totp: next })).code).toBe("SESSION.SECOND_FACTOR");
  expect((await signIn(server, { ...credentials, totp: used })).code, "an older code").toBe("SESSION.SECOND_FACTOR");
});

test("a session without the password switches no second factor on, and its guesses are counted", async () => {
  const { server, user } = await startWithUser();
  const other = (await signIn(server, { name: user.name, password: PASSWORD })).cookie;
  const { secret } = (await user.call<NewSecondFactor>("POST", "/clinic/v1/account/second-factor/secret", {})).body;
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: server.clock.now });
  const on = (body: object) => user.call("POST", "/clinic/v1/account/second-factor/on", { secret, code, ...body });
  expect((await on({})).status).toBe(400);
  const wrong = await on({ password: "four brown cats" });
  expect(wrong).toMatchObject({ status: 403, body: { error: { code: "SESSION.WRONG_PASSWORD" } } });
  expect((await accountOf(server, user.cookie))?.has_second_factor).toBe(false);
  expect(await accountOf(server, other)).toBeDefined();
  for (let attempt = 2; attempt <= 10; attempt += 1) expect((await on({ password: "wrong" })).status).toBe(403);
  expect((await on({ password: PASSWORD })).status).toBe(429);
  expect((await accountOf(server, user.cookie))?.has_second_factor).toBe(false);
});

test("a second factor ends the sessions that the password alone started, but not this one", async () => {
  const { server, user } = await startWithUser();
  const other = (await signIn(server, { name: user.name, password: PASSWORD })).cookie;
  const guess = { secret: "A".repeat(32), code: "abc", password: PASSWORD };
  expect((await user.call("POST", "/clinic/v1/account/second-factor/on", guess)).status).toBe(409);
  expect(await accountOf(server, other)).toBeDefined();
  await switchOn(server, user);
  expect(await accountOf(server, other)).toBeUndefined();
  expect((await accountOf(server, user.cookie))?.has_second_factor).toBe(true);
});

test("a session and the password alone neither replace a second factor, nor its recovery codes, nor switch it off", async () => {
  const { server, user } = await startWithUser();
  const totp = await switchOn(server, user);
  const { secret } = (await user.call<NewSecondFactor>("POST", "/clinic/v1/account/second-factor/secret", {})).body;
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: server.clock.now });
  const again = await user.call("POST", "/clinic/v1/account/second-factor/on", { secret, code, password: PASSWORD });
  expect(again).toMatchObject({ status: 409, body: { error: { message: "Your second factor is on already." } } });

  server.clock.now += 30_000;
  const now = totp.generate({ timestamp: server.clock.now });
  const call = async (what: "off" | "recovery-codes", body: object) =>
    (await user.call("POST", `/clinic/v1/account/second-factor/${what}`, body)).status;
  for (const what of ["off", "recovery-codes"] as const) {
    expect(await call(what, { password: PASSWORD })).toBe(400);
    expect(await call(what, { password: "wrong", code: now })).toBe(403);
    expect(await call(what, { password: PASSWORD, code: "000000" })).toBe(401);
  }
  expect((await accountOf(server, user.cookie))?.has_second_factor).toBe(true);
  expect(await call("off", { password: PASSWORD, code: now })).toBe(200);
  expect((await signIn(server, { name: user.name, password: PASSWORD })).status).toBe(200);
  expect(await call("off", { password: PASSWORD, code: now })).toBe(409);
});
