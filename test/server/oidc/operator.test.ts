import { expect, test } from "vitest";
import { listRows } from "../../../server/records/audit/audit.ts";
import { clinicsOfUser, findUserByName, listOperators } from "../../../server/records/users/users.ts";
import { RETURN_PATHS } from "../../../server/dashboard/types/settings/session.ts";
import { startClinics } from "./clinics.ts";

// Operators sign in at the console through the same provider. No sign-in crosses from one realm to the other.

const host = { sub: "deniz", name: "Deniz", groups: ["hosts"] };

test("a person whose group makes an operator signs in at the console alone", async () => {
  const { provider, browser, signIn, server, app } = await startClinics();
  provider.state.person = host;
  const visitor = browser(app, "operator");
  expect(await visitor.session()).toEqual({ state: "signed out", has_provider: true });
  expect(await visitor.finish(await provider.visit(await visitor.start()))).toBeNull();
  expect(provider.state.asked[0]?.get("redirect_uri")).toBe(`http://localhost${RETURN_PATHS.operator}`);
  expect([...visitor.cookies.keys()].toSorted()).toEqual(["vetwire-browser", "vetwire-operator"]);
  expect((await visitor.send("GET", "/clinics")).status).toBe(200);
  expect((await visitor.send("GET", "/session", undefined, "clinic")).body).toMatchObject({ state: "set-up" });
  // The second sign-in is that of the same operator.
  expect(await (await signIn("operator")).browser.session()).toEqual(await visitor.session());
  expect(await listOperators(server.store)).toMatchObject([{ name: "Deniz", disabled_at: null }]);
  const commands = [];
  for await (const { route } of listRows(server.store, { since: 0, until: server.clock.now + 1 })) commands.push(route);
  expect(commands.filter((route) => route?.endsWith("by group"))).toEqual(["operators add by group"]);
});

test("a sign-in at one realm makes no user of the other, and who may enter both has two users", async () => {
  const { provider, signIn, server, ankara } = await startClinics();
  provider.state.person = host;
  expect((await signIn("clinic")).code).toBe("OIDC.NO_ROLE");
  provider.state.person = { ...host, groups: ["vets"] };
  expect((await signIn("operator")).code).toBe("OIDC.NO_OPERATOR");
  expect(await findUserByName(server.store, "Deniz")).toBeUndefined();
  provider.state.person = { ...host, groups: ["vets", "hosts"] };
  const [console, dashboard] = [await signIn("operator"), await signIn("clinic")];
  expect(await dashboard.browser.roles()).toEqual({ [ankara]: "staff" });
  expect((await console.browser.send("GET", "/clinics")).status).toBe(200);
  const operator = await findUserByName(server.store, "Deniz");
  const user = await findUserByName(server.store, "Deniz (2)");
  expect([operator?.is_operator, user?.is_operator]).toEqual([1, 0]);
  expect(await clinicsOfUser(server.store, operator?.id ?? 0)).toEqual([]);
});

test("a sign-in that began at one realm does not end at the other", async () => {
  const { provider, browser, app } = await startClinics();
  provider.state.person = { ...host, groups: ["vets", "hosts"] };
  const names = { clinic: "vetwire-oidc", operator: "vetwire-operator-oidc" };
  for (const [from, to] of [
    ["clinic", "operator"],
    ["operator", "clinic"],
  ] as const) {
    const [begun, other] = [browser(app, from), browser(app, to)];
    const query = await provider.visit(await begun.start());
    expect(await other.finish(query)).toBe("OIDC.ENDED");
    other.cookies.set(names[to], begun.cookies.get(names[from]) ?? "");
    expect(await other.finish(query)).toBe("OIDC.ENDED");
    expect((await other.session()).state).not.toBe("signed in");
  }
});

test("a lost group ends the operator's sessions at the next sign-in in either realm, and those at clinics stay", async () => {
  const { provider, signIn, ankara } = await startClinics();
  for (const realm of ["operator", "clinic"] as const) {
    provider.state.person = { ...host, groups: ["vets", "hosts"] };
    const [console, dashboard] = [(await signIn("operator")).browser, (await signIn("clinic")).browser];
    const looked = await console.send("POST", `/clinics/${ankara}/support`, { reason: "ticket 7: nothing arrives" });
    expect([looked.code, await console.send("GET", "/session", undefined, "clinic")]).toMatchObject([
      null,
      { body: { state: "signed in", clinics: [{ fp: ankara, role: "reader" }] } },
    ]);
    provider.state.person = { ...host, groups: ["vets"] };
    expect((await signIn(realm)).code).toBe(realm === "operator" ? "OIDC.NO_OPERATOR" : null);
    expect((await console.send("GET", "/clinics")).status).toBe(401);
    expect((await console.send("GET", "/session", undefined, "clinic")).body).toMatchObject({ state: "signed out" });
    expect(await dashboard.roles()).toEqual({ [ankara]: "staff" });
  }
});

test("the groups that a sign-in at the console brings take roles in clinics, and give none", async () => {
  const { provider, signIn, ankara } = await startClinics();
  provider.state.person = { ...host, groups: ["vets", "hosts"] };
  const { browser } = await signIn("clinic");
  expect(await browser.roles()).toEqual({ [ankara]: "staff" });
  provider.state.person = host;
  expect((await signIn("operator")).code).toBeNull();
  expect(await browser.roles()).toBeNull();
});

test("the logout at the provider ends the sessions of both realms, a look into a clinic too", async () => {
  const { provider, browser, app, logouts, ankara } = await startClinics();
  const sids: unknown[] = [];
  provider.state.change = (claims) => {
    sids.push(claims["sid"]);
    return claims;
  };
  provider.state.person = { ...host, groups: ["vets", "hosts"] };
  const [console, dashboard] = [browser(app, "operator"), browser(app)];
  // One browser has one session at the provider.
  const jar = new Map<string, string>();
  for (const each of [console, dashboard])
    expect(await each.finish(await provider.visit(await each.start(), jar))).toBeNull();
  await console.send("POST", `/clinics/${ankara}/support`, { reason: "ticket 7: nothing arrives" });
  expect(await console.send("GET", "/session", undefined, "clinic")).toMatchObject({ body: { state: "signed in" } });
  expect(sids[1]).toBe(sids[0]);
  await provider.logOut(host.sub, String(sids[0]));
  expect(logouts).toEqual([200]);
  expect((await console.session()).state).toBe("signed out");
  expect(await console.send("GET", "/session", undefined, "clinic")).toMatchObject({ body: { state: "signed out" } });
  expect(await dashboard.roles()).toBeNull();
});

test("without the console no sign-in at it exists, and its rows of the roles make nobody a user", async () => {
  const { provider, browser, makeApp, server } = await startClinics();
  provider.state.person = host;
  const app = makeApp(provider.issuer, { hasConsole: false });
  for (const path of ["/oidc/start", "/oidc/finish"])
    expect((await browser(app, "operator").send("POST", path, { query: "" })).status).toBe(404);
  const visitor = browser(app);
  expect(await visitor.finish(await provider.visit(await visitor.start()))).toBe("OIDC.NO_ROLE");
  expect(await listOperators(server.store)).toEqual([]);
});
