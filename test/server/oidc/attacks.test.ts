import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { JWTPayload } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { OidcProvider } from "../../../server/oidc/provider.ts";
import { startProvider } from "../../support/peers/oidc.ts";
import { startClinics } from "./clinics.ts";

// Strangers, other providers and damaged ones send something in place of the answer to a sign-in.

const ayse = { sub: "ayse", name: "Ayşe Yılmaz", groups: ["vets"] };

async function startWithAyse() {
  const clinics = await startClinics();
  clinics.provider.state.person = ayse;
  return clinics;
}

/** Changes a parameter of a query or an address; null removes it. */
function withParameter(text: string, name: string, value: string | null): string {
  const [start = "", query = ""] = text.split("?");
  const parameters = new URLSearchParams(query);
  if (value === null) parameters.delete(name);
  else parameters.set(name, value);
  return `${start}?${parameters.toString()}`;
}

test("an answer with another state, without one, or of a sign-in in another browser signs nobody in", async () => {
  const { browser, provider } = await startWithAyse();
  for (const state of ["another", null]) {
    const visitor = browser();
    const query = await provider.visit(await visitor.start());
    expect(await visitor.finish(withParameter(query, "state", state))).toBe("OIDC.NOT_VERIFIED");
    expect(await visitor.roles()).toBeNull();
  }
  // The thief sends the own answer to a victim, who would work in the thief's account (login CSRF).
  const [thief, victim, bystander] = [browser(), browser(), browser()];
  const query = await provider.visit(await thief.start());
  await victim.start();
  expect(await victim.finish(query)).toBe("OIDC.NOT_VERIFIED");
  expect(await bystander.finish(query)).toBe("OIDC.ENDED");
});

test("an ID token that was asked for with another nonce signs nobody in", async () => {
  const { browser, provider } = await startWithAyse();
  const visitor = browser();
  const query = await provider.visit(withParameter(await visitor.start(), "nonce", "another"));
  expect(await visitor.finish(query)).toBe("OIDC.NOT_VERIFIED");
  expect(await visitor.roles()).toBeNull();
});

test("a code that was asked for with another PKCE challenge is of no use", async () => {
  const { browser, provider } = await startWithAyse();
  const visitor = browser();
  const query = await provider.visit(withParameter(await visitor.start(), "code_challenge", "a".repeat(43)));
  expect(await visitor.finish(query)).toBe("OIDC.ENDED");
});

test("an answer works once: neither the same browser nor one with its cookies uses it again", async () => {
  const { browser, provider, server } = await startWithAyse();
  const visitor = browser();
  const query = await provider.visit(await visitor.start());
  const copy = browser();
  for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
  expect(await visitor.finish(query)).toBeNull();
  expect(await visitor.finish(query)).toBe("OIDC.ENDED");
  expect(await copy.finish(query)).toBe("OIDC.ENDED");
  expect(await copy.roles()).toBeNull();
  // The server itself refused, and asked the provider nothing.
  expect(server.log.join("\n")).not.toContain("invalid_grant");
});

test("the provider refuses a code that was used, which is a sign-in that has ended", async () => {
  const { browser, provider } = await startWithAyse();
  const [first, second] = [browser(), browser()];
  const used = await provider.visit(await first.start());
  expect(await first.finish(used)).toBeNull();
  const code = new URLSearchParams(used).get("code");
  const own = await provider.visit(await second.start());
  expect(await second.finish(withParameter(own, "code", code))).toBe("OIDC.ENDED");
});

test("a sign-in that takes longer than 15 minutes has ended, and so has one with a changed cookie", async () => {
  const { browser, provider, server } = await startWithAyse();
  const late = browser();
  const query = await provider.visit(await late.start());
  server.clock.now += 15 * 60_000;
  expect(await late.finish(query)).toBe("OIDC.ENDED");
  const forger = browser();
  const own = await provider.visit(await forger.start());
  const sealed = forger.cookies.get("vetwire-oidc") ?? "";
  forger.cookies.set("vetwire-oidc", `${sealed.startsWith("A") ? "B" : "A"}${sealed.slice(1)}`);
  expect(await forger.finish(own)).toBe("OIDC.ENDED");
});

test("a sign-in that began at a server whose clock is ahead ends at another one, once", async () => {
  const { browser, provider, server } = await startWithAyse();
  const visitor = browser();
  const query = await provider.visit(await visitor.start());
  const copy = browser();
  for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
  server.clock.now -= 2000;
  expect(await visitor.finish(query)).toBeNull();
  // The cookie is valid for 15 minutes after its own time.
  server.clock.now += 15 * 60_000 + 1000;
  expect(await copy.finish(query)).toBe("OIDC.ENDED");
  expect(server.log.join("\n")).not.toContain("invalid_grant");
});

test("the answer of another provider is not taken (mix-up)", async () => {
  const { browser, provider } = await startWithAyse();
  const other = await startProvider({ site: "http://localhost" });
  other.state.person = { sub: "ayse", groups: ["heads"] };
  const visitor = browser();
  const start = await visitor.start();
  const foreign = start.replace(provider.issuer, other.issuer);
  expect(await visitor.finish(await other.visit(foreign))).toBe("OIDC.NOT_VERIFIED");
  const again = browser();
  const query = await provider.visit(await again.start());
  expect(await again.finish(withParameter(query, "iss", other.issuer))).toBe("OIDC.NOT_VERIFIED");
  const without = browser();
  const stripped = withParameter(await provider.visit(await without.start()), "iss", null);
  expect(await without.finish(stripped)).toBe("OIDC.NOT_VERIFIED");
});

test("ID tokens that are expired, of another issuer, for another client or signed by others sign nobody in", async () => {
  const { signIn, provider } = await startWithAyse();
  const now = Math.floor(Date.now() / 1000);
  const changes: Record<string, (claims: JWTPayload) => JWTPayload> = {
    expired: (claims) => ({ ...claims, iat: now - 7200, exp: now - 3600 }),
    "of another issuer": (claims) => ({ ...claims, iss: "https://login.example" }),
    "for another client": (claims) => ({ ...claims, aud: "another" }),
    "for several clients, and another one asked": (claims) => ({ ...claims, aud: ["vetwire", "b"], azp: "b" }),
    "without a subject": ({ sub: _sub, ...claims }) => claims,
    "without a nonce": ({ nonce: _nonce, ...claims }) => claims,
    "of a subject that is too long": (claims) => ({ ...claims, sub: "s".repeat(256), groups: ["vets"] }),
  };
  for (const [name, change] of Object.entries(changes)) {
    provider.state.change = change;
    const { browser, code } = await signIn();
    expect([name, code, await browser.roles()]).toEqual([name, "OIDC.NOT_VERIFIED", null]);
  }
  provider.state.change = (claims) => claims;
  provider.state.isForeign = true;
  expect((await signIn()).code).toBe("OIDC.NOT_VERIFIED");
  provider.state.isForeign = false;
  expect((await signIn()).code).toBeNull();
});

test("facts of another subject beside the ID token are not taken", async () => {
  const { signIn, provider } = await startWithAyse();
  // The token names Can, and the access token opens the facts of Ayşe.
  provider.state.change = (claims) => ({ ...claims, sub: "can" });
  const { browser, code } = await signIn();
  expect([code, await browser.roles()]).toEqual(["OIDC.NOT_VERIFIED", null]);
});

test("a sign-in that the provider refuses is denied, and any other word of it names the settings", async () => {
  const { signIn, provider, browser, server } = await startWithAyse();
  provider.state.refuses = true;
  expect((await signIn()).code).toBe("OIDC.DENIED");
  const visitor = browser();
  const query = await provider.visit(await visitor.start());
  const state = new URLSearchParams(query).get("state");
  const secret = "a-secret-in-an-error";
  const broken = new URLSearchParams({ error: secret, state: state ?? "", iss: provider.issuer });
  expect(await visitor.finish(`?${broken.toString()}`)).toBe("OIDC.PROVIDER");
  expect(server.log.join("\n")).not.toContain(secret);
});

test("a wrong client secret and a missing provider are codes, and the server serves passwords meanwhile", async () => {
  const { makeApp, browser, provider, server } = await startWithAyse();
  const visitor = browser(makeApp(provider.issuer, { clientSecret: "not the secret" }));
  expect(await visitor.finish(await provider.visit(await visitor.start()))).toBe("OIDC.PROVIDER");
  // Nothing was asked at the start, so that a server starts without its provider.
  provider.stop();
  const away = browser(makeApp(provider.issuer));
  expect((await away.send("POST", "/oidc/start", {})).code).toBe("OIDC.UNREACHABLE");
  const password = await away.send("POST", "/sign-in", { name: "nobody", password: "wrong" });
  expect(password.code).toBe("SESSION.SIGN_IN_FAILED");
  expect(server.log.join("\n")).toContain('"cause":"ECONNREFUSED"');
});

test("a provider that was away is found at the next sign-in", async () => {
  const { makeApp, browser, provider } = await startWithAyse();
  const metadata = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json();
  const state = { isAway: true };
  const { url } = await serve(() => (state.isAway ? null : { ...(metadata as object), issuer: url }));
  const visitor = browser(makeApp(url));
  expect((await visitor.send("POST", "/oidc/start", {})).code).toBe("OIDC.PROVIDER");
  state.isAway = false;
  expect(new URL(await visitor.start()).origin).toBe(provider.issuer);
});

test("people who wait for a provider that is away wait for one request", async () => {
  const asked: string[] = [];
  const { url } = await serve((path) => {
    asked.push(path);
    return null;
  });
  const settings = { issuer: new URL(url), clientId: "vetwire", scope: "openid", groupsClaim: "groups" };
  const provider = new OidcProvider({ ...settings, readSecret: () => "a secret" });
  const waiting = Array.from({ length: 5 }, () => provider.begin("http://localhost/dashboard/oidc"));
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.map(({ status }) => status)).toEqual(Array<string>(5).fill("rejected"));
  expect(asked).toHaveLength(1);
});

test("metadata of another issuer, a redirect, endless metadata and forbidden addresses find no provider", async () => {
  const { makeApp, browser, provider } = await startWithAyse();
  const metadata = (await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json()) as object;
  const foreign = await serve(() => metadata);
  const endless = await serve(() => ({ ...metadata, padding: "x".repeat(2_000_000) }));
  const moved = await serve(() => provider.issuer);
  const codes = [];
  for (const issuer of [
    foreign.url,
    endless.url,
    moved.url,
    "http://169.254.169.254",
    "http://8.8.8.8",
    "https://u:p@x.example",
  ])
    codes.push((await browser(makeApp(issuer)).send("POST", "/oidc/start", {})).code);
  expect(codes).toEqual([
    ...["OIDC.PROVIDER", "OIDC.UNREACHABLE", "OIDC.PROVIDER"],
    ...["OIDC.UNREACHABLE", "OIDC.UNREACHABLE", "OIDC.UNREACHABLE"],
  ]);
});

test("metadata lead no request to another host of the local network", async () => {
  const { makeApp, browser, provider } = await startWithAyse();
  const asked: string[] = [];
  const inner = await serve((path) => {
    asked.push(path);
    return null;
  });
  const metadata = (await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json()) as object;
  const places = { token_endpoint: `${inner.url}/token`, jwks_uri: `${inner.url}/keys` };
  const leading = await serve(() => ({ ...metadata, issuer: leading.url, ...places }));
  const visitor = browser(makeApp(leading.url));
  const start = await visitor.start();
  const query = withParameter(await provider.visit(start), "iss", leading.url);
  expect(await visitor.finish(query)).toBe("OIDC.UNREACHABLE");
  expect(asked).toEqual([]);
});

/** Serves JSON at each path: an address to redirect to, or 503 for null. */
async function serve(answer: (path: string) => object | string | null): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const body = answer(request.url ?? "");
    if (typeof body === "string") response.writeHead(302, { location: body + request.url }).end();
    else if (body === null) response.writeHead(503).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
