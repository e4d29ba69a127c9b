import { expect, test } from "vitest";
import type { ClinicErasure, HostedClinicPage } from "../../../server/dashboard/types/operator.ts";
import { query, uncachedWrite } from "../../../server/database/query.ts";
import { listRows } from "../../../server/records/audit/audit.ts";
import { findUserByName, setDisabled } from "../../../server/records/users/users.ts";
import { givePassword, makeOperator, makeUser } from "../../dashboard/harness.ts";
import { CLIENT_SECRET } from "../../support/peers/oidc.ts";
import { allStored } from "../harness.ts";
import { startClinics } from "./clinics.ts";

const ayse = { sub: "ayse", name: "Ayşe Yılmaz", groups: ["vets"] };
const clinicsOf = query((db) => db.selectFrom("clinic").select("fp"));

test("a person whose group has a role signs in as a new user, with PKCE, state and nonce", async () => {
  const { provider, signIn, ankara, izmir, server } = await startClinics();
  provider.state.person = { ...ayse, groups: ["vets", "heads", "unknown"] };
  const { browser, code } = await signIn();
  expect(code).toBeNull();
  expect(await browser.session()).toMatchObject({ state: "signed in", user: { name: "Ayşe Yılmaz" } });
  // The greatest role of several groups.
  expect(await browser.roles()).toEqual({ [ankara]: "admin", [izmir]: "reader" });
  const [asked] = provider.state.asked;
  expect(Object.fromEntries(asked ?? [])).toEqual({
    client_id: "vetwire",
    redirect_uri: "http://localhost/dashboard/oidc",
    response_type: "code",
    scope: "openid profile",
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect([...browser.cookies.keys()].toSorted()).toEqual(["vetwire", "vetwire-browser"]);
  const stored = allStored(server.database) + server.log.join("\n");
  for (const secret of [CLIENT_SECRET, asked?.get("state") ?? "", asked?.get("nonce") ?? ""])
    expect(stored).not.toContain(secret);
});

test("the second sign-in finds the user by the subject, whatever name and e-mail the person has by then", async () => {
  const { provider, signIn, server } = await startClinics();
  provider.state.person = ayse;
  const first = await (await signIn()).browser.session();
  provider.state.person = { ...ayse, name: "Ayşe Demir", email: "other@clinic.example" };
  const second = await (await signIn()).browser.session();
  expect(first).toMatchObject({ state: "signed in" });
  expect(second).toEqual(first);
  expect(await findUserByName(server.store, "Ayşe Demir")).toBeUndefined();
});

test("first sign-ins of a person at the same moment make one user", async () => {
  const { provider, browser, server } = await startClinics();
  provider.state.person = ayse;
  const begun = [];
  for (const each of Array.from({ length: 6 }, () => browser()))
    begun.push({ each, answer: await provider.visit(await each.start()) });
  const codes = await Promise.all(begun.map(({ each, answer }) => each.finish(answer)));
  expect(codes.filter((code) => code !== null)).toEqual([]);
  const [first, ...others] = await Promise.all(begun.map(({ each }) => each.session()));
  expect(first).toMatchObject({ state: "signed in", user: { name: ayse.name } });
  for (const other of others) expect(other).toEqual(first);
  expect(await findUserByName(server.store, `${ayse.name} (2)`)).toBeUndefined();
});

test("a person without a mapped group becomes no user", async () => {
  const { provider, signIn, server } = await startClinics();
  for (const groups of [[], ["unknown"], undefined, 7, { vets: true }, null]) {
    provider.state.person = { ...ayse, groups };
    const { browser, code } = await signIn();
    expect([groups, code, await browser.roles()]).toEqual([groups, "OIDC.NO_ROLE", null]);
  }
  expect(await findUserByName(server.store, "Ayşe Yılmaz")).toBeUndefined();
});

test("a group that maps no longer takes its role at the next sign-in, and the last one ends all sessions", async () => {
  const { provider, signIn, ankara, izmir, server } = await startClinics();
  provider.state.person = { ...ayse, groups: ["heads"] };
  const first = (await signIn()).browser;
  expect(await first.roles()).toEqual({ [ankara]: "admin", [izmir]: "reader" });
  provider.state.person = { ...ayse, groups: ["vets"] };
  const second = (await signIn()).browser;
  expect(await second.roles()).toEqual({ [ankara]: "staff" });
  // The sessions that ran lose it, too.
  expect(await first.roles()).toEqual({ [ankara]: "staff" });
  provider.state.person = { ...ayse, groups: [] };
  expect((await signIn()).code).toBe("OIDC.NO_ROLE");
  expect([await first.roles(), await second.roles()]).toEqual([null, null]);
  const commands = [];
  for await (const { route } of listRows(server.store, { since: 0, until: server.clock.now + 1 })) commands.push(route);
  expect(commands.filter((route) => route?.endsWith("by group"))).toEqual([
    ...["users role admin by group", "users role reader by group"],
    ...["users remove by group", "users role staff by group", "users remove by group"],
  ]);
});

test("a user with a password keeps account and roles when a person of the provider has the same name and e-mail", async () => {
  const { provider, signIn, server, izmir } = await startClinics();
  const owner = await makeUser(server, "admin", izmir);
  await givePassword(server, owner.id, "four brown dogs");
  for (const email_verified of [false, true]) {
    const sub = `thief ${email_verified}`;
    provider.state.person = { sub, name: owner.name, email: owner.name, email_verified, groups: ["vets"] };
    const { browser } = await signIn();
    const state = await browser.session();
    expect(state).toMatchObject({
      user: { name: `${owner.name} (${email_verified ? 3 : 2})` },
      clinics: [{ role: "staff" }],
    });
  }
  expect(await findUserByName(server.store, owner.name)).toMatchObject({ id: owner.id });
  expect((await owner.call("GET", "/users")).status).toBe(200);
  const { statusCode } = await server.app.inject({
    ...{ method: "POST", url: "/clinic/v1/sign-in" },
    payload: { name: owner.name, password: "four brown dogs" },
  });
  expect(statusCode).toBe(200);
});

test("a user of the provider has no password, and an admin gives none", async () => {
  const { provider, signIn, server, ankara, browser } = await startClinics();
  provider.state.person = ayse;
  await signIn();
  for (const password of ["none", "", ayse.name]) {
    const answer = await browser().send("POST", "/sign-in", { name: ayse.name, password });
    expect([password, answer.code]).toEqual([password, "SESSION.SIGN_IN_FAILED"]);
  }
  const account = (await (await signIn()).browser.send("GET", "/account")).body;
  expect(account).toMatchObject({ name: ayse.name, has_password: false, has_second_factor: false });
  const admin = await makeUser(server, "admin", ankara);
  const { users } = (await admin.call<{ users: { id: string; name: string }[] }>("GET", "/users")).body;
  const id = users.find(({ name }) => name === ayse.name)?.id ?? "";
  const reset = await admin.call("POST", `/users/${id}/reset`, {});
  expect([reset.status, reset.text.includes("USER.OF_PROVIDER")]).toEqual([409, true]);
});

test("a disabled user does not sign in", async () => {
  const { provider, signIn, server } = await startClinics();
  provider.state.person = ayse;
  await signIn();
  const user = await findUserByName(server.store, ayse.name);
  await server.store.transaction((session) => setDisabled(session, user?.id ?? 0, server.clock.now));
  const { browser, code } = await signIn();
  expect([code, await browser.roles()]).toEqual(["OIDC.DISABLED", null]);
});

test("a name of the provider that no column or line holds becomes text", async () => {
  const { provider, signIn } = await startClinics();
  provider.state.person = { ...ayse, name: `\u0000a\u202eb\nc${"x".repeat(200)}` };
  const state = await (await signIn()).browser.session();
  expect(state).toMatchObject({ user: { name: `\u{FFFD}a b c${"x".repeat(94)}` } });
});

test("the page learns of the provider only where one is set up, and without one the routes do not exist", async () => {
  const { browser, server } = await startClinics();
  await makeUser(server, "reader", (await server.store.all(clinicsOf, {}))[0]?.fp ?? "");
  expect(await browser().session()).toEqual({ state: "signed out", has_provider: true });
  const off = browser(server.app);
  expect(await off.session()).toEqual({ state: "signed out" });
  for (const path of ["/oidc/start", "/oidc/finish"]) {
    expect((await off.send("POST", path, { query: "" })).code).toBe("ROUTE.NOT_FOUND");
  }
});

test("a clinic whose erasure began gives no role, and its user is not made again", async () => {
  const { provider, signIn, server, ankara, izmir } = await startClinics();
  const operator = await makeOperator(server);
  await server.store.transaction((session) => session.all(beginErasure, { fp: izmir }));
  provider.state.person = { ...ayse, groups: ["heads"] };
  expect(await (await signIn()).browser.roles()).toEqual({ [ankara]: "admin" });
  provider.state.person = { ...ayse, groups: ["vets"] };
  const { browser } = await signIn();
  expect(await browser.roles()).toEqual({ [ankara]: "staff" });
  const { name } = (await operator.call<HostedClinicPage>("GET", `/clinics/${ankara}`)).body.clinic;
  await operator.call("POST", `/clinics/${ankara}/suspend`, {});
  const erased = await operator.call<ClinicErasure>("POST", `/clinics/${ankara}/erase`, { name });
  expect(erased.body).toMatchObject({ ended_at: expect.any(String) as string, counts: { users: 1 } });
  expect((await signIn()).code).toBe("OIDC.NO_ROLE");
  expect(await findUserByName(server.store, "Ayşe Yılmaz")).toBeUndefined();
});

test("a person whose groups the provider keeps elsewhere loses no role, and does not sign in", async () => {
  const { provider, signIn, server, ankara } = await startClinics();
  provider.state.person = { ...ayse, groups: ["vets"] };
  const { browser } = await signIn();
  provider.state.person = { sub: ayse.sub, name: ayse.name };
  provider.state.change = (claims) => ({ ...claims, _claim_names: { groups: "src1" } });
  expect((await signIn()).code).toBe("OIDC.PROVIDER");
  expect(await browser.roles()).toEqual({ [ankara]: "staff" });
  expect(server.log.join("\n")).toContain('"cause":"GROUPS_ELSEWHERE"');
});

/** Marks a clinic as one of which a first portion is erased. */
const beginErasure = uncachedWrite((db, p: { fp: string }) =>
  db
    .updateTable("clinic")
    .set({ erasure: JSON.stringify({ ended_at: null }) })
    .where("fp", "=", p.fp),
);
