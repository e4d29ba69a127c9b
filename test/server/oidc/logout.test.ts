import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeJwt, type JWTPayload } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { findUserByName } from "../../../server/records/users/users.ts";
import { givePassword, makeUser } from "../../dashboard/harness.ts";
import { startClinics } from "./clinics.ts";

// Back-channel logout: OpenID Connect Back-Channel Logout 1.0.

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Signs a person in whose session of the provider is known. */
async function startSignedIn() {
  const clinics = await startClinics();
  const { provider, signIn } = clinics;
  const sids: string[] = [];
  provider.state.change = (claims) => {
    sids.push(String(claims["sid"]));
    return claims;
  };
  const enter = async (sub: string) => {
    provider.state.person = { sub, name: sub, groups: ["vets"] };
    const { browser } = await signIn();
    return { browser, sid: sids.at(-1) ?? "" };
  };
  const now = Math.floor(Date.now() / 1000);
  let count = 0;
  /** Claims of a logout token that ends all sessions of ayse. */
  const claims = (more: JWTPayload = {}): JWTPayload => ({
    ...{ iss: provider.issuer, aud: "vetwire", iat: now, exp: now + 120, jti: `token ${(count += 1)}` },
    ...{ events: { [EVENT]: {} }, sub: "ayse" },
    ...more,
  });
  const send = async (given: JWTPayload, how?: { isOwn?: boolean; typ?: string }) =>
    clinics.logout(`logout_token=${await provider.sign(given, { typ: "logout+jwt", ...how })}`);
  return { ...clinics, enter, claims, send };
}

test("the provider ends one session by its logout, and the others of the user stay", async () => {
  const { enter, provider, logouts } = await startSignedIn();
  const [here, there, other] = [await enter("ayse"), await enter("ayse"), await enter("can")];
  expect(here.sid).not.toBe(there.sid);
  await provider.logOut("ayse", here.sid);
  expect(logouts).toEqual([200]);
  expect(await here.browser.roles()).toBeNull();
  expect(await there.browser.roles()).not.toBeNull();
  expect(await other.browser.roles()).not.toBeNull();
});

test("a logout token with a subject alone ends all sessions of the subject that the provider began", async () => {
  const { enter, claims, send, server, browser } = await startSignedIn();
  const [here, there, other] = [await enter("ayse"), await enter("ayse"), await enter("can")];
  // The operator gave her a password, whose session is not the provider's.
  const { id = 0 } = (await findUserByName(server.store, "ayse")) ?? {};
  await givePassword(server, id, "four brown dogs");
  const own = browser();
  await own.send("POST", "/sign-in", { name: "ayse", password: "four brown dogs" });
  expect(await send(claims())).toBe(200);
  expect([await here.browser.roles(), await there.browser.roles()]).toEqual([null, null]);
  expect(await own.roles()).not.toBeNull();
  expect(await other.browser.roles()).not.toBeNull();
  // A person with a password who is called as the subject is somebody else.
  const user = await makeUser(server, "staff", Object.keys((await other.browser.roles()) ?? {})[0] ?? "");
  await givePassword(server, user.id, "four brown dogs");
  const visitor = browser();
  await visitor.send("POST", "/sign-in", { name: user.name, password: "four brown dogs" });
  expect(await send(claims({ sub: user.name }))).toBe(200);
  expect(await visitor.roles()).not.toBeNull();
});

test("a logout token with the provider's session alone ends it", async () => {
  const { enter, claims, send } = await startSignedIn();
  const [here, there] = [await enter("ayse"), await enter("can")];
  const { sub: _sub, ...nameless } = claims({ sid: here.sid });
  expect(await send(nameless)).toBe(200);
  expect([await here.browser.roles(), await there.browser.roles()]).toEqual([null, expect.anything()]);
});

test("a session and a subject that do not belong together end nothing", async () => {
  const { enter, claims, send } = await startSignedIn();
  const { browser, sid } = await enter("ayse");
  await enter("can");
  expect(await send(claims({ sub: "can", sid }))).toBe(200);
  expect(await browser.roles()).not.toBeNull();
});

test("forged logout tokens end nothing", async () => {
  const { enter, claims, send, logout, provider } = await startSignedIn();
  const { browser } = await enter("ayse");
  const { iat = 0, ...timeless } = claims();
  const { jti: _jti, ...unnamed } = claims();
  const { events: _events, ...eventless } = claims();
  const { sub: _sub, ...aboutNobody } = claims();
  const forged: Record<string, JWTPayload> = {
    "of another issuer": claims({ iss: "https://login.example" }),
    "for another client": claims({ aud: "another" }),
    expired: claims({ iat: iat - 300, exp: iat - 200 }),
    old: claims({ iat: iat - 3600, exp: iat + 3600 }),
    "of the future": claims({ iat: iat + 3600, exp: iat + 7200 }),
    "without a time": timeless,
    "without an id": unnamed,
    "with an id that is no text": claims({ jti: 7 as unknown as string }),
    "without the event": eventless,
    "with another event": claims({ events: { "https://example.com/event": {} } }),
    "with an event that is no object": claims({ events: { [EVENT]: true } }),
    "with a list of events": claims({ events: [EVENT] }),
    "with a nonce, as an ID token has": claims({ nonce: "n" }),
    "with a nonce of null": claims({ nonce: null }),
    "without subject and session": aboutNobody,
    "with a subject that is no text": claims({ sub: ["ayse"] as unknown as string }),
    "with an empty session": claims({ sid: "" }),
  };
  for (const [name, given] of Object.entries(forged)) expect([name, await send(given)]).toEqual([name, 400]);
  expect(await send(claims(), { isOwn: false })).toBe(400);
  expect(await send(claims(), { typ: "at+jwt" })).toBe(400);
  // Without a signature, or signed with what the client knows too.
  const [, payload = "", signature = ""] = (await provider.sign(claims())).split(".");
  for (const header of [{ alg: "none" }, { alg: "HS256", kid: "own" }]) {
    const encoded = Buffer.from(JSON.stringify(header)).toString("base64url");
    expect(await logout(`logout_token=${encoded}.${payload}.`)).toBe(400);
    expect(await logout(`logout_token=${encoded}.${payload}.${signature}`)).toBe(400);
  }
  for (const body of ["", "logout_token=", "logout_token=x.y.z", "another=1", `logout_token=${"a".repeat(30_000)}`])
    expect((await logout(body)) >= 400).toBe(true);
  expect(await browser.roles()).not.toBeNull();
});

test("an ID token ends no session", async () => {
  const { enter, provider, logout, signIn } = await startSignedIn();
  const { browser } = await enter("ayse");
  let idToken: JWTPayload = {};
  provider.state.change = (claims) => (idToken = claims);
  await signIn();
  expect(await logout(`logout_token=${await provider.sign(idToken)}`)).toBe(400);
  expect(await browser.roles()).not.toBeNull();
});

test("a logout token works once, also at another server of the database", async () => {
  const { enter, claims, provider, logout, makeApp } = await startSignedIn();
  await enter("ayse");
  const token = await provider.sign(claims(), { typ: "logout+jwt" });
  expect(decodeJwt(token).sub).toBe("ayse");
  expect(await logout(`logout_token=${token}`)).toBe(200);
  const { browser } = await enter("ayse");
  expect(await logout(`logout_token=${token}`)).toBe(400);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const second = makeApp(provider.issuer);
  const asked = { method: "POST" as const, url: "/clinic/v1/oidc/logout", headers, payload: `logout_token=${token}` };
  expect((await second.inject(asked)).statusCode).toBe(400);
  expect(await browser.roles()).not.toBeNull();
});

test("while the provider's keys cannot be read, a logout is answered 503 and ends nothing", async () => {
  const { enter, claims, provider, makeApp } = await startSignedIn();
  const { browser } = await enter("ayse");
  const token = await provider.sign(claims(), { typ: "logout+jwt" });
  const fresh = makeApp(provider.issuer);
  provider.stop();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const asked = { method: "POST" as const, url: "/clinic/v1/oidc/logout", headers, payload: `logout_token=${token}` };
  expect((await fresh.inject(asked)).statusCode).toBe(503);
  expect(await browser.roles()).not.toBeNull();
});

test("a logout gets 503 while the place of the provider's keys sends an error or a page, and 200 afterwards", async () => {
  const { enter, claims, provider, makeApp } = await startSignedIn();
  const { browser } = await enter("ayse");
  const metadata = (await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json()) as object;
  const keys = await (await fetch(`${provider.issuer}/jwks`)).text();
  let answer = { status: 502, body: "" };
  const front = createServer((request, response) => {
    const isOfKeys = request.url === "/keys";
    response.writeHead(isOfKeys ? answer.status : 200, { "content-type": "application/json" });
    response.end(isOfKeys ? answer.body : JSON.stringify({ ...metadata, issuer: url, jwks_uri: `${url}/keys` }));
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  onTestFinished(() => void front.close());
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const token = await provider.sign(claims({ iss: url }), { typ: "logout+jwt" });
  const app = makeApp(url);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const statuses = [];
  for (const given of [
    answer,
    { status: 200, body: "<html>" },
    { status: 200, body: "{}" },
    { status: 200, body: keys },
  ]) {
    answer = given;
    const asked = { method: "POST" as const, url: "/clinic/v1/oidc/logout", headers, payload: `logout_token=${token}` };
    statuses.push((await app.inject(asked)).statusCode);
  }
  expect(statuses).toEqual([503, 503, 503, 200]);
  // The session is of another issuer.
  expect(await browser.roles()).not.toBeNull();
});
