import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import { onTestFinished } from "vitest";
import { RETURN_PATHS } from "../../../server/dashboard/types/settings/session.ts";

// A real OpenID Connect provider on a loopback port. It signs in the person that the test names, without a page of its own.

/** A person of the provider. `sub` is the subject. */
export interface Person {
  readonly sub: string;
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: unknown;
}

export const CLIENT_ID = "vetwire";
export const CLIENT_SECRET = "the secret of the client";

let keys: Promise<JWK[]> | undefined;

async function makeKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

type Row = Record<string, unknown>;

/** Keeps the sessions and tokens of a provider. Its own memory does so too, and warns at each start. */
function memoryOf() {
  const rows = new Map<string, Row>();
  return (model: string) => ({
    upsert: async (id: string, row: Row) => void rows.set(`${model} ${id}`, row),
    find: async (id: string) => rows.get(`${model} ${id}`),
    findByUid: async (uid: string) =>
      Array.from(rows).find(([key, row]) => key.startsWith(`${model} `) && row["uid"] === uid)?.[1],
    findByUserCode: async () => undefined,
    consume: async (id: string) =>
      void Object.assign(rows.get(`${model} ${id}`) ?? {}, { consumed: Date.now() / 1000 }),
    destroy: async (id: string) => void rows.delete(`${model} ${id}`),
    revokeByGrantId: async (grant: string) => {
      for (const [key, row] of rows) if (row["grantId"] === grant) rows.delete(key);
    },
  });
}

interface ProviderOptions {
  /** The address of the server. */
  readonly site: string;
  /** Receives the logout of the provider, with its body. @returns the status */
  readonly logout?: (body: string) => Promise<number>;
}

/** Starts a provider with one client. It ends with the test. */
export async function startProvider({ site, logout = async () => 200 }: ProviderOptions) {
  const [key, foreign] = await (keys ??= Promise.all([makeKey("own"), makeKey("foreign")]));
  if (key === undefined || foreign === undefined) throw new Error("expected two keys");
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = {
    person: { sub: "ayse" } as Person,
    /** Changes the claims of the next ID tokens, which are signed again. */
    change: null as ((claims: JWTPayload) => JWTPayload) | null,
    /** Signs the changed ones with a key that the provider does not have. */
    isForeign: false,
    /** Ends a sign-in with an error. */
    refuses: false,
    /** The parameters of the requests to authorize. */
    asked: [] as URLSearchParams[],
  };
  const people = new Map<string, Person>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: Object.values(RETURN_PATHS).map((path) => site + path),
        backchannel_logout_uri: "http://vetwire.invalid/clinic/v1/oidc/logout",
        backchannel_logout_session_required: true,
      },
    ],
    adapter: memoryOf(),
    // Times of its own: the provider announces each that it takes by default.
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    jwks: { keys: [key] as never },
    cookies: { keys: ["cookies of the test"] },
    claims: { openid: ["sub", "sid"], profile: ["name", "groups"], email: ["email", "email_verified"] },
    scopes: ["openid", "profile", "email"],
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    pkce: { required: () => true },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: async (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ ...people.get(id), sub: id }),
    }),
    // The client is the organisation's own, so that nobody is asked.
    async loadExistingGrant(context) {
      const { client, session } = context.oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new context.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
    fetch: async (_url: unknown, { body }: { body?: unknown }) =>
      new Response(null, { status: await logout(String(body)) }),
  } as ConstructorParameters<typeof Provider>[1]);

  /** Signs claims as the provider does, or with a key that it does not have. */
  async function sign(claims: JWTPayload, { isOwn = true, typ = "JWT" } = {}): Promise<string> {
    const jwk = isOwn ? key : foreign;
    const signer = new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "own", typ });
    return signer.sign(await importJWK(jwk as JWK, "RS256"));
  }

  provider.use(async (context, next) => {
    await next();
    const { id_token: token } = (context.body ?? {}) as { id_token?: string };
    if (token === undefined || state.change === null) return;
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as JWTPayload;
    const signed = await sign(state.change(claims), { isOwn: !state.isForeign });
    context.body = { ...(context.body as object), id_token: signed };
  });

  const callback = provider.callback();
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const url = new URL(request.url ?? "", issuer);
    if (url.pathname === "/auth") state.asked.push(url.searchParams);
    if (!url.pathname.startsWith("/interaction/")) return callback(request, response);
    const { sub } = state.person;
    people.set(sub, state.person);
    const result = state.refuses ? { error: "access_denied" } : { login: { accountId: sub } };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
  server.on("request", (request, response) => void handle(request, response));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Follows the redirects of a sign-in, as a new browser does, or the one of these cookies. @returns the query with which the provider sends it back */
  async function visit(start: string, jar = new Map<string, string>()): Promise<string> {
    let url = start;
    for (let hops = 0; hops < 10; hops += 1) {
      const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(url, { redirect: "manual", headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        jar.set(name, value);
      }
      url = new URL(response.headers.get("location") ?? "", url).href;
      if (Object.values(RETURN_PATHS).some((path) => url.startsWith(site + path))) return new URL(url).search;
      if (response.status >= 400) throw new Error(`the provider answers ${response.status}: ${await response.text()}`);
    }
    throw new Error(`too many redirects, the last one to ${url}`);
  }

  return {
    issuer,
    state,
    sign,
    visit,
    /** Ends a session of the provider, which sends its logout token. */
    async logOut(sub: string, sid: string): Promise<void> {
      const client = await provider.Client.find(CLIENT_ID);
      await (client as unknown as { backchannelLogout(sub: string, sid: string): Promise<void> }).backchannelLogout(
        sub,
        sid,
      );
    },
    /** Lets the server do what a provider that is away does. */
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
