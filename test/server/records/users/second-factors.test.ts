import { Secret, TOTP } from "otpauth";
import { expect, test } from "vitest";
import type {
  AccountState,
  NewSecondFactor,
  RecoveryCodes,
} from "../../../../server/dashboard/types/settings/account.ts";
import type { Role, SessionState } from "../../../../server/dashboard/types/settings/session.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { findUser, resetUser } from "../../../../server/records/users/users.ts";
import { givePassword, makeUser } from "../../../dashboard/harness.ts";
import { allStored, clinic, startServer } from "../../harness.ts";

// Goal: whoever has a password cannot guess the second factor and is noticed, and a user without the phone is not shut out.

const PASSWORD = "four brown dogs";
const STEP_MS = 30_000;
const QUARTER_MS = 15 * 60_000;

async function start() {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const user = await makeUser(server, "staff", fp);
  await givePassword(server, user.id, PASSWORD);
  const FACTOR = "/clinic/v1/account/second-factor";
  const { secret } = (await user.call<NewSecondFactor>("POST", `${FACTOR}/secret`, {})).body;
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  /** A code that was not used before. */
  const codeNow = () => {
    server.clock.now += STEP_MS;
    return totp.generate({ timestamp: server.clock.now });
  };
  const on = await user.call<RecoveryCodes>("POST", `${FACTOR}/on`, { secret, code: codeNow(), password: PASSWORD });
  expect(on.status).toBe(200);

  let address = 0;
  /** Signs in from a new address, unless a browser sends its cookie. */
  async function signIn(code: string | undefined, { cookie = "", password = PASSWORD } = {}) {
    address += 1;
    const sent = { payload: { name: user.name, password, totp: code }, headers: { cookie } };
    const remoteAddress = `192.0.2.${address}`;
    const answer = await server.app.inject({ method: "POST", url: "/clinic/v1/sign-in", remoteAddress, ...sent });
    const cookies = [answer.headers["set-cookie"] ?? []].flat().map((each) => each.split(";")[0] ?? "");
    const body = answer.json<{ error?: { code: string }; recovery_codes_left?: number | null }>();
    return { is: body.error?.code ?? answer.statusCode, left: body.recovery_codes_left, cookies };
  }
  const wrongCodes = async (times: number, sent = {}) => {
    const tries = Array.from({ length: times }, () => signIn("000000", sent));
    return (await Promise.all(tries)).map(({ is }) => is);
  };
  const account = async () => (await user.call<AccountState>("GET", "/clinic/v1/account")).body;
  const state = async (cookie: string) => {
    const answer = await server.app.inject({ url: "/clinic/v1/session", headers: { cookie } });
    return answer.json<SessionState & { state: "signed in" }>();
  };
  const today = async (role: Role) => {
    const { body } = await (await makeUser(server, role, fp)).call<TodayState>("GET", "/today");
    return body.alerts.map(({ kind, subject }) => [kind, subject]);
  };
  return { ...server, today, FACTOR, user, codes: on.body.recovery_codes, codeNow, signIn, wrongCodes, account, state };
}

test("each of ten recovery codes signs in once in place of the app, and the number left is shown", async () => {
  const { codes, signIn, account, database } = await start();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^[A-Z2-9]{4}(-[A-Z2-9]{4}){2}$/);
  const stored = allStored(database);
  for (const code of codes) {
    expect([stored.includes(code), stored.includes(code.replaceAll("-", ""))]).toEqual([false, false]);
  }
  const [first = "", second = "", third = ""] = codes;
  expect(await signIn(first)).toMatchObject({ is: 200, left: 9 });
  expect((await signIn(first)).is).toBe("SESSION.SECOND_FACTOR");
  expect(await signIn(` ${second.toLowerCase().replaceAll("-", " ")}`)).toMatchObject({ is: 200, left: 8 });
  expect((await account()).recovery_codes_left).toBe(8);
  const both = await Promise.all([signIn(third), signIn(third)]);
  expect(new Set(both.map(({ is }) => is))).toEqual(new Set([200, "SESSION.SECOND_FACTOR"]));
});

test("a sign-in with a code of the app mentions no recovery code", async () => {
  const { codeNow, signIn, account } = await start();
  expect(await signIn(codeNow())).toMatchObject({ is: 200, left: null });
  expect((await account()).recovery_codes_left).toBe(10);
});

test("new recovery codes end the previous ones, and those of another user do not work", async () => {
  const { FACTOR, codes, codeNow, signIn, user } = await start();
  const foreign = await start();
  const again = await user.call<RecoveryCodes>("POST", `${FACTOR}/recovery-codes`, {
    ...{ password: PASSWORD, code: codeNow() },
  });
  expect(again.body.recovery_codes).toHaveLength(10);
  for (const code of [codes[0], foreign.codes[0]]) expect((await signIn(code)).is).toBe("SESSION.SECOND_FACTOR");
  expect(await signIn(again.body.recovery_codes[0])).toMatchObject({ is: 200, left: 9 });
});

test("a recovery code switches the second factor off, and the others end with it", async () => {
  const { FACTOR, codes, signIn, user, account } = await start();
  const off = await user.call("POST", `${FACTOR}/off`, { password: PASSWORD, code: codes[0] });
  expect(off.status).toBe(200);
  expect(await account()).toMatchObject({ has_second_factor: false, recovery_codes_left: 0 });
  expect((await signIn(undefined)).is).toBe(200);
});

test("ten wrong codes after the right password, also simultaneous ones, end the app's codes; user and audit learn of it", async () => {
  const { alerts, store, user, codes, codeNow, signIn, wrongCodes, state, today } = await start();
  const tries = [...(await wrongCodes(5)), ...(await wrongCodes(8))];
  expect(tries.filter((is) => is === "SESSION.SECOND_FACTOR")).toHaveLength(10);
  expect(tries.filter((is) => is === "SESSION.SECOND_FACTOR_ENDED")).toHaveLength(3);
  expect((await signIn(codeNow())).is).toBe("SESSION.SECOND_FACTOR_ENDED");
  const { public_id } = (await findUser(store, user.id)) ?? { public_id: "" };
  expect((await listRowsOf(store, public_id)).map(({ route }) => route)).toEqual(["users second-factor-ended"]);
  await alerts.check();
  expect(await today("admin")).toEqual([["password-known", user.name]]);
  expect(await today("staff")).toEqual([]);

  const recovered = await signIn(codes[0]);
  expect(recovered).toMatchObject({ is: 200, left: 9 });
  const told = (await state(recovered.cookies[0] ?? "")).user.password_known_at;
  expect(told).toMatch(/^\d{4}-.*Z$/);
  expect((await signIn(codeNow())).is, "a sign-in with a recovery code opens nothing").toBe(
    "SESSION.SECOND_FACTOR_ENDED",
  );
});

test("wrong codes without the right password end nothing", async () => {
  const { codeNow, signIn, wrongCodes } = await start();
  await wrongCodes(15, { password: "wrong" });
  expect((await signIn(codeNow())).is).toBe(200);
});

type Started = Awaited<ReturnType<typeof start>>;
const NEW = "eight grey cats";
const openings: [string, (started: Started) => Promise<unknown>][] = [
  ["a new password of the user", ({ store, user }) => givePassword({ store }, user.id, NEW)],
  [
    "a reset by an admin",
    async ({ store, user }) => {
      await store.transaction((session) => resetUser(session, user.id, "none"));
      await givePassword({ store }, user.id, NEW);
    },
  ],
];

test.each(openings)("%s opens the sign-ins again", async (_change, open) => {
  const started = await start();
  const { codeNow, signIn, wrongCodes, state, clock } = started;
  await wrongCodes(10);
  clock.now += QUARTER_MS;
  await open(started);
  const { is, cookies } = await signIn(codeNow(), { password: NEW });
  expect(is).toBe(200);
  expect((await state(cookies[0] ?? "")).user.password_known_at).toBeNull();
});

test("a browser used before signs in with the app's code while strangers are shut, until ten tries of its own", async () => {
  const { codeNow, signIn, wrongCodes } = await start();
  const [, cookie = ""] = (await signIn(codeNow())).cookies;
  await wrongCodes(12);
  expect((await signIn(codeNow())).is).toBe("SESSION.SECOND_FACTOR_ENDED");
  const again = await signIn(codeNow(), { cookie });
  expect(again.is).toBe(200);
  const [, next = ""] = again.cookies;
  expect(await wrongCodes(10, { cookie: next })).toEqual(Array.from({ length: 10 }, () => "SESSION.SECOND_FACTOR"));
  expect((await signIn(codeNow(), { cookie: next })).is).toBe("SESSION.SECOND_FACTOR_ENDED");
});

test("ten wrong codes in the user's own browser end the codes too", async () => {
  const { codeNow, signIn, wrongCodes } = await start();
  const [, cookie = ""] = (await signIn(codeNow())).cookies;
  await wrongCodes(10, { cookie });
  expect((await signIn(codeNow(), { cookie })).is).toBe("SESSION.SECOND_FACTOR_ENDED");
});

test("a sign-in in a known browser takes back its own wrong codes, not those of strangers", async () => {
  const { codeNow, signIn, wrongCodes } = await start();
  let [, cookie = ""] = (await signIn(codeNow())).cookies;
  await wrongCodes(6);
  for (let day = 1; day <= 3; day += 1) {
    await wrongCodes(2, { cookie });
    const signedIn = await signIn(codeNow(), { cookie });
    expect(signedIn.is).toBe(200);
    [, cookie = ""] = signedIn.cookies;
  }
  expect(await wrongCodes(4)).toEqual(Array.from({ length: 4 }, () => "SESSION.SECOND_FACTOR"));
  expect((await signIn(codeNow())).is).toBe("SESSION.SECOND_FACTOR_ENDED");
});
