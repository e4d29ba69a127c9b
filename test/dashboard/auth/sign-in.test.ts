import { expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { hashPassword } from "../../../server/dashboard/auth/password.ts";
import { listRows } from "../../../server/records/audit/audit.ts";
import { setDisabled, setPassword } from "../../../server/records/users/users.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { allStored, clinic, noon, startServer, type TestServer } from "../../server/harness.ts";
import { givePassword, makeUser } from "../harness.ts";

const PASSWORD = "four brown dogs";
const MINUTE_MS = 60_000;

/** Starts a server with the users Ayşe, and Can who is disabled. */
async function start() {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const [ayse, can] = [await makeUser(server, "staff", fp), await makeUser(server, "staff", fp)];
  for (const { id } of [ayse, can]) await givePassword(server, id, PASSWORD);
  await server.store.transaction((session) => setDisabled(session, can.id, noon));
  return { server, ayse: ayse.name, can: can.name };
}

function cookiesOf({ headers }: { headers: { "set-cookie"?: string | string[] | undefined } }): string[] {
  return [headers["set-cookie"] ?? []].flat();
}

async function signIn({ app }: TestServer, name: string, password: string, remoteAddress = "127.0.0.1") {
  return app.inject({ method: "POST", url: "/clinic/v1/sign-in", payload: { name, password }, remoteAddress });
}

test("an unknown name, a wrong password and a disabled user get the same response", async () => {
  const { server, ayse, can } = await start();
  const answers = [
    await signIn(server, ayse, "wrong"),
    await signIn(server, "nobody", PASSWORD),
    await signIn(server, can, PASSWORD),
    await signIn(server, can, "wrong"),
  ];
  for (const { statusCode, headers, body } of answers) {
    expect({ statusCode, body }).toEqual({ statusCode: 401, body: answers[0]?.body });
    expect(headers["set-cookie"]).toBeUndefined();
  }
});

test("an unknown name costs as much work as a wrong password", async () => {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const user = await makeUser(server, "staff", fp);
  const hash = await hashPassword(PASSWORD);
  await server.store.transaction((session) => setPassword(session, user.id, hash));
  // The processor time of all threads, since the clock also counts the work of other programs.
  const costOf = async (name: string) => {
    const before = process.cpuUsage();
    await signIn(server, name, "wrong");
    return process.cpuUsage(before).user;
  };
  await costOf("nobody");
  const known = Math.min(await costOf(user.name), await costOf(user.name));
  expect(Math.max(await costOf("nobody"), await costOf("nobody else"))).toBeGreaterThan(known / 2);
});

test("the eleventh attempt of a name from an address waits 15 minutes; another address does not", async () => {
  const { server, ayse } = await start();
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    expect((await signIn(server, ayse, "wrong")).statusCode).toBe(401);
  }
  const refused = await signIn(server, ayse.toUpperCase(), PASSWORD);
  expect(refused.statusCode).toBe(429);
  expect(refused.body).toContain("SESSION.TOO_MANY_ATTEMPTS");
  expect((await signIn(server, ayse, PASSWORD, "192.0.2.7")).statusCode).toBe(200);
  server.clock.now += 15 * MINUTE_MS;
  expect((await signIn(server, ayse, PASSWORD)).statusCode).toBe(200);
});

test("the cookie is HttpOnly and SameSite=Strict; __Host- and Secure come with TLS of a trusted proxy", async () => {
  const { server, ayse } = await start();
  const plain = cookiesOf(await signIn(server, ayse, PASSWORD));
  expect(plain).toEqual([
    expect.stringMatching(/^vetwire=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    expect.stringMatching(
      /^vetwire-browser=[\w-]{43}\.[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Strict$/,
    ),
  ]);

  const proxied = buildApp(server.store, { pepper: server.pepper, trustProxy: ["127.0.0.1"] });
  onTestFinished(() => proxied.close());
  const payload = { name: ayse, password: PASSWORD };
  const headers = { "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7" };
  const signInThrough = async (app: typeof proxied, remoteAddress: string) =>
    cookiesOf(await app.inject({ method: "POST", url: "/clinic/v1/sign-in", payload, headers, remoteAddress }));
  const [secure = "", browser = ""] = await signInThrough(proxied, "127.0.0.1");
  expect(secure).toMatch(/^__Host-vetwire=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  expect(browser).toMatch(/^__Host-vetwire-browser=.*; HttpOnly; Secure; SameSite=Strict$/);
  expect((await signInThrough(proxied, "192.0.2.9"))[0], "from an address that is no proxy").toMatch(/^vetwire=/);
  expect((await signInThrough(server.app, "127.0.0.1"))[0], "without a trusted proxy").toMatch(/^vetwire=/);

  const account = async (cookie: string, sent: object) => {
    const answer = await proxied.inject({ url: "/clinic/v1/account", headers: { cookie, ...sent } });
    return answer.statusCode;
  };
  const [token] = secure.split(";");
  expect(await account(token ?? "", headers)).toBe(200);
  // A page of plain http could plant a cookie without the prefix.
  expect(await account((token ?? "").replace("__Host-", ""), headers)).toBe(401);
});

test("signing out ends the session in the database and removes the cookie", async () => {
  const { server, ayse } = await start();
  const cookie = (await signIn(server, ayse, PASSWORD)).headers["set-cookie"]?.toString().split(";")[0] ?? "";
  const out = await server.app.inject({
    method: "POST",
    url: "/clinic/v1/sign-out",
    headers: { cookie },
    payload: {},
  });
  expect(out.headers["set-cookie"]).toMatch(/^vetwire=; .*Expires=Thu, 01 Jan 1970/);
  const after = await server.app.inject({ url: "/clinic/v1/account", headers: { cookie } });
  expect(after.statusCode).toBe(401);
});

test("the store, the log and the audit hold no password, cookie or set-up code", async () => {
  const { server, ayse } = await start();
  const { app, database, log, setupCode, store } = server;
  const signedIn = await signIn(server, ayse, PASSWORD);
  const cookie = signedIn.headers["set-cookie"]?.toString().split(";")[0] ?? "";
  await signIn(server, ayse, "a wrong password");
  // A user may type the password into the field of the name.
  await signIn(server, "a misplaced password", "x");
  await app.inject({
    method: "POST",
    url: "/clinic/v1/set-up",
    payload: { code: setupCode, name: "x", password: PASSWORD },
  });
  await app.inject({ url: "/clinic/v1/account", headers: { cookie } });
  await expect
    .poll(async () => {
      const rows = [];
      for await (const row of listRows(store, { since: 0, until: Number.MAX_SAFE_INTEGER })) rows.push(row.route);
      return rows;
    })
    .toEqual(expect.arrayContaining(["/clinic/v1/sign-in", "/clinic/v1/set-up", "/clinic/v1/account"]));
  const everything = allStored(database) + log.join("");
  expect(everything).toContain("/clinic/v1/sign-in");
  const secrets = [PASSWORD, cookie.split("=")[1] ?? "", "a wrong password", "a misplaced password", setupCode];
  for (const secret of secrets) expect(everything.includes(secret)).toBe(false);
});
