import { expect, test } from "vitest";
import { defaultLimits } from "../../../../server/http/rate-limit/rate-limiter.ts";
import { setDisabled } from "../../../../server/records/users/users.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { allStored, clinic, startLimitedServer } from "../../harness.ts";
import { givePassword, makeUser } from "../../../dashboard/harness.ts";

// Goal: no stranger shuts a user out of a browser in which the user signed in before, and the cookie of such a browser helps nobody
// else to guess.

const PASSWORD = "four brown dogs";
const NAT = "192.0.2.1";

/** A server with two users, and a browser: it keeps its cookies as a browser does, but drops the session. */
async function start(limits = defaultLimits) {
  const fp = newFp("clinic");
  const server = await startLimitedServer(limits, clinic(fp));
  const [owner, other] = [await makeUser(server, "staff", fp), await makeUser(server, "admin", fp)];
  for (const { id } of [owner, other]) await givePassword(server, id, PASSWORD);

  async function signIn(name: string, password: string, cookie = "", remoteAddress = NAT) {
    const sent = { payload: { name, password }, remoteAddress, headers: { cookie } };
    const answer = await server.app.inject({ method: "POST", url: "/clinic/v1/sign-in", ...sent });
    const set = [answer.headers["set-cookie"] ?? []].flat().find((each) => each.startsWith("vetwire-browser="));
    return { status: answer.statusCode, body: answer.body, cookie: set?.split(";")[0] ?? "" };
  }
  const rightIn = async (name: string, cookie = "", address = NAT) =>
    (await signIn(name, PASSWORD, cookie, address)).status;
  /** Strangers spend all attempts of a name, from the same address and from others. */
  async function shut(name: string) {
    const addresses = Array.from({ length: 110 }, (_, index) => (index < 10 ? NAT : `203.0.113.${index}`));
    // As many as the server hashes and lets wait.
    while (addresses.length > 0)
      await Promise.all(addresses.splice(0, 20).map((address) => signIn(name, "wrong", "", address)));
    for (const address of [NAT, "198.51.100.7"]) expect(await rightIn(name, "", address)).toBe(429);
  }
  return { ...server, fp, owner, other, signIn, rightIn, shut };
}

test("a hundred wrong passwords of strangers, also at the same address, leave the browser used before open", async () => {
  const { owner, other, signIn, rightIn, shut } = await start();
  const { cookie } = await signIn(owner.name, PASSWORD);
  const others = (await signIn(other.name, PASSWORD)).cookie;
  await shut(owner.name);
  expect(await rightIn(owner.name, others), "another user's cookie").toBe(429);
  expect(await rightIn(owner.name, `${cookie.slice(0, -1)}${cookie.endsWith("A") ? "B" : "A"}`), "forged").toBe(429);
  expect(await rightIn(owner.name, cookie)).toBe(200);
});

test("the users of one browser are all known there, and a sign-in of one ends the cookie before", async () => {
  const { owner, other, signIn, rightIn, shut } = await start();
  const first = await signIn(owner.name, PASSWORD);
  const second = await signIn(other.name, PASSWORD, first.cookie);
  await shut(owner.name);
  expect(await rightIn(owner.name, first.cookie), "the cookie before").toBe(429);
  expect(await rightIn(owner.name, second.cookie)).toBe(200);
});

test("ten wrong tries end a stolen cookie for good, and the sign-in of another user renews none of them", async () => {
  const { clock, owner, other, signIn, rightIn, shut } = await start();
  let { cookie } = await signIn(other.name, PASSWORD, (await signIn(owner.name, PASSWORD)).cookie);
  for (let tries = 1; tries <= 10; tries += 1) expect((await signIn(owner.name, "wrong", cookie)).status).toBe(401);
  cookie = (await signIn(other.name, PASSWORD, cookie)).cookie;
  clock.now += 86_400_000;
  await shut(owner.name);
  expect(await rightIn(owner.name, cookie)).toBe(429);
});

test("a sign-in renews the tries of its user", async () => {
  const { owner, signIn } = await start();
  let { cookie } = await signIn(owner.name, PASSWORD);
  for (let day = 1; day <= 3; day += 1) {
    for (let tries = 1; tries <= 9; tries += 1) await signIn(owner.name, "wrong", cookie);
    const signedIn = await signIn(owner.name, PASSWORD, cookie);
    expect(signedIn.status).toBe(200);
    ({ cookie } = signedIn);
  }
});

test.each(["a new password", "a disabled account", "400 days"])("after %s a cookie gives nothing", async (change) => {
  const { store, clock, owner, signIn, shut } = await start();
  const { cookie } = await signIn(owner.name, PASSWORD);
  if (change === "400 days") clock.now += 400 * 86_400_000;
  else if (change === "a new password") await givePassword({ store }, owner.id, PASSWORD);
  else await store.transaction((session) => setDisabled(session, owner.id, clock.now));
  await shut(owner.name);
  expect((await signIn(owner.name, PASSWORD, cookie)).status).toBe(429);
});

test("the browser in which the password is changed stays known, with another cookie", async () => {
  const { app, owner, signIn, shut } = await start();
  const before = (await signIn(owner.name, PASSWORD)).cookie;
  await shut(owner.name);
  const answer = await app.inject({
    method: "POST",
    url: "/clinic/v1/account/password",
    headers: { cookie: `${owner.cookie}; ${before}` },
    payload: { old_password: PASSWORD, new_password: "eight grey cats" },
  });
  const after = answer.headers["set-cookie"]?.toString().split(";")[0] ?? "";
  expect((await signIn(owner.name, "eight grey cats", before)).status).toBe(429);
  expect((await signIn(owner.name, "eight grey cats", after)).status).toBe(200);
});

test("a wrong password gets the same response with and without a cookie, for an existing and a missing name", async () => {
  const { owner, other, signIn } = await start();
  const { cookie } = await signIn(owner.name, PASSWORD);
  const answers = [];
  for (const sent of [cookie, "", "vetwire-browser=x.y", "vetwire-browser="]) {
    for (const name of [owner.name, other.name]) answers.push(await signIn(name, "wrong", sent));
  }
  for (const sent of [cookie, ""]) answers.push(await signIn("nobody", "wrong", sent));
  expect(new Set(answers.map(({ status, body, cookie: set }) => `${status} ${body} ${set}`)).size).toBe(1);
});

test("requests of strangers at the same address do not keep a known browser from the page", async () => {
  const { app, owner, signIn, rightIn } = await start({ ...defaultLimits, addressMinute: 5 });
  const { cookie } = await signIn(owner.name, PASSWORD);
  const page = async (sent: string) =>
    (await app.inject({ url: "/clinic/v1/session", headers: { cookie: sent }, remoteAddress: NAT })).statusCode;
  for (let request = 1; request <= 5; request += 1) await page("");
  expect(await page("")).toBe(429);
  expect(await page(cookie)).toBe(200);
  expect(await rightIn(owner.name, cookie)).toBe(200);
});

test("wrong passwords of strangers do not keep a signed-in user from a change of the account", async () => {
  const { owner, shut } = await start();
  await shut(owner.name);
  const body = { old_password: PASSWORD, new_password: "eight grey cats" };
  expect((await owner.call("POST", "/clinic/v1/account/password", body)).status).toBe(200);
});

test("the store holds neither the cookie nor a part of it", async () => {
  const { database, owner, signIn } = await start();
  const [nonce = "", signature = ""] = (await signIn(owner.name, PASSWORD)).cookie.split("=")[1]?.split(".") ?? [];
  expect([nonce.length, signature.length]).toEqual([43, 43]);
  const stored = allStored(database);
  for (const part of [nonce, signature]) expect(stored.includes(part)).toBe(false);
});
