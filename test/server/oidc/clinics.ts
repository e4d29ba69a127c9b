import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { buildApp } from "../../../server/app.ts";
import type { GroupRole } from "../../../server/dashboard/context.ts";
import type { Realm, SessionState } from "../../../server/dashboard/types/settings/session.ts";
import { OidcProvider } from "../../../server/oidc/provider.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "../../support/peers/oidc.ts";
import { clinic, startServer } from "../harness.ts";

// A server with two clinics whose users sign in through a real provider.

/** A browser: it keeps the cookies of the server. */
class TestBrowser {
  readonly #app: FastifyInstance;
  readonly #realm: Realm;
  readonly cookies = new Map<string, string>();

  constructor(app: FastifyInstance, realm: Realm) {
    this.#app = app;
    this.#realm = realm;
  }

  async send(method: "GET" | "POST", path: string, body?: object, realm = this.#realm) {
    const cookie = Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join("; ");
    const response = await this.#app.inject({
      ...{ method, url: `/${realm}/v1${path}` },
      headers: { cookie, "sec-fetch-site": "same-origin" },
      ...(body && { payload: body }),
    });
    for (const { name, value } of response.cookies) {
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, encodeURIComponent(value));
    }
    const parsed = response.json<{ url?: string; error?: { code: string; details?: { code: string } } }>();
    return {
      status: response.statusCode,
      body: parsed,
      code: parsed.error?.details?.code ?? parsed.error?.code ?? null,
    };
  }

  /** @returns the address of the provider */
  async start(): Promise<string> {
    const { body, code } = await this.send("POST", "/oidc/start", {});
    if (body.url === undefined) throw new Error(`the sign-in does not start: ${code}`);
    return body.url;
  }

  /** Brings an answer of the provider back. @returns the code of the refusal; null for a session */
  async finish(query: string): Promise<string | null> {
    return (await this.send("POST", "/oidc/finish", { query })).code;
  }

  async session(): Promise<SessionState> {
    return (await this.send("GET", "/session")).body as unknown as SessionState;
  }

  /** The clinics of the signed-in user with the roles; null without a session. */
  async roles(): Promise<Record<string, string> | null> {
    const state = await this.session();
    return state.state === "signed in" ? Object.fromEntries(state.clinics.map(({ fp, role }) => [fp, role])) : null;
  }
}

export async function startClinics() {
  const [ankara, izmir] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(ankara), clinic(izmir));
  const logouts: number[] = [];
  const provider = await startProvider({
    site: "http://localhost",
    logout: async (body) => {
      logouts.push(await logout(body));
      return logouts.at(-1) ?? 0;
    },
  });
  const rows: GroupRole[] = [
    { group: "vets", clinic: ankara, role: "staff" },
    { group: "heads", clinic: ankara, role: "admin" },
    { group: "heads", clinic: izmir, role: "reader" },
    { group: "hosts", role: "operator" },
  ];
  const makeApp = (issuer: string, { clientSecret = CLIENT_SECRET, hasConsole = true } = {}) => {
    const settings = { issuer: new URL(issuer), clientId: CLIENT_ID, scope: "openid profile", groupsClaim: "groups" };
    const oidc = new OidcProvider({ ...settings, readSecret: () => clientSecret });
    const logger = pino({ level: "debug" }, { write: (line) => server.log.push(line) });
    const app = buildApp(server.store, {
      ...{ pepper: server.pepper, now: () => server.clock.now, logger },
      ...{
        singleSignOn: { provider: oidc, readRoles: () => rows },
        hosting: hasConsole ? { backups: () => null, isLeader: () => true } : null,
      },
    });
    onTestFinished(() => app.close());
    return app;
  };
  const app = makeApp(provider.issuer);
  async function logout(body: string): Promise<number> {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await app.inject({ method: "POST", url: "/clinic/v1/oidc/logout", headers, payload: body });
    return answer.statusCode;
  }
  const browser = (from = app, realm: Realm = "clinic") => new TestBrowser(from, realm);

  /** Signs the person of the provider in with a new browser. */
  async function signIn(realm?: Realm) {
    const visitor = browser(app, realm);
    const code = await visitor.finish(await provider.visit(await visitor.start()));
    return { browser: visitor, code };
  }

  return { server, provider, app, makeApp, ankara, izmir, rows, browser, signIn, logout, logouts };
}
