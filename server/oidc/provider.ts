import type { JWTVerifyGetKey } from "jose";
import type * as OpenidClient from "openid-client";
import type { ClientAuth, Configuration, IDToken } from "openid-client";
import { OidcFault } from "./faults.ts";
import { faultOf } from "./fault-of.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { type Logout, verifyLogoutToken } from "./logout-token.ts";

// Signs people in through an OpenID Connect provider: authorization code with PKCE (S256), state and nonce. It knows nothing of clinics.
// It returns a subject with groups, and the caller decides what these open.

export interface OidcSettings {
  readonly issuer: URL;
  readonly clientId: string;
  /** Reads the secret of the client. @throws Error with the remedy */
  readonly readSecret: () => string;
  /** The requested scope, such as `openid profile`. */
  readonly scope: string;
  /** The claim with the groups. */
  readonly groupsClaim: string;
}

/** The secrets of a sign-in under way. The browser that began it must bring them back. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** The subject that signed in, with its groups. */
export interface SignedInSubject {
  readonly issuer: string;
  /** Names a person for this issuer for ever. No other claim does: people choose names and e-mail addresses themselves. */
  readonly subject: string;
  /** The session of the provider, for its logout; null if it names none. */
  readonly sid: string | null;
  readonly name: string;
  readonly groups: readonly string[];
}

interface Found {
  readonly configuration: Configuration;
  readonly keys: JWTVerifyGetKey;
}

/** Time after which the provider's metadata are read again. */
const FOUND_MS = 3_600_000;
const TIMEOUT_S = 30;
/** OpenID Connect Core §2. */
const SUBJECT_CHARS_MAX = 255;

export class OidcProvider {
  readonly #settings: OidcSettings;
  readonly #fetch;
  #found: Promise<Found> | null = null;
  #foundAt = 0;

  constructor(settings: OidcSettings) {
    this.#settings = settings;
    this.#fetch = guardedFetch(settings.issuer);
  }

  /** Begins a sign-in. @returns the address to which the browser goes @throws OidcFault */
  async begin(redirectUri: string): Promise<{ readonly url: string; readonly attempt: Attempt }> {
    const { configuration } = await this.#provider();
    const client = await import("openid-client");
    const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()];
    const url = client.buildAuthorizationUrl(configuration, {
      ...{ redirect_uri: redirectUri, scope: this.#settings.scope, state, nonce },
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, attempt: { state, nonce, verifier, redirectUri } };
  }

  /** Ends a sign-in with the query that the browser brought back. @throws OidcFault */
  async finish({ state, nonce, verifier, redirectUri }: Attempt, query: string): Promise<SignedInSubject> {
    const { configuration } = await this.#provider();
    const client = await import("openid-client");
    const returned = new URL(redirectUri);
    returned.search = query;
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await client.authorizationCodeGrant(configuration, returned, checks);
      const claims = tokens.claims();
      if (claims === undefined) throw new OidcFault("OIDC.NOT_VERIFIED", "NO_ID_TOKEN");
      const isComplete = claims[this.#settings.groupsClaim] !== undefined;
      const { userinfo_endpoint: more } = configuration.serverMetadata();
      if (isComplete || more === undefined) return this.#subject(claims, claims);
      // Checks that it is about the same subject.
      const info = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return this.#subject(claims, { ...claims, ...info });
    } catch (error) {
      throw faultOf(error);
    }
  }

  /** Verifies a logout token of the provider. @throws OidcFault */
  async readLogout(token: string): Promise<Logout> {
    const { configuration, keys } = await this.#provider();
    const { issuer } = configuration.serverMetadata();
    return verifyLogoutToken(token, { issuer, clientId: this.#settings.clientId, keys });
  }

  #subject({ iss, sub, sid }: IDToken, told: Readonly<Record<string, unknown>>): SignedInSubject {
    if (sub.length > SUBJECT_CHARS_MAX) throw new OidcFault("OIDC.NOT_VERIFIED", "sub");
    const names = [told["name"], told["preferred_username"], sub];
    const { groupsClaim } = this.#settings;
    const { [groupsClaim]: given, _claim_names: elsewhere = {} } = told;
    // OpenID Connect Core §5.6.2. Entra ID sends no groups of a person who has more than 200: without them all roles would end.
    const isElsewhere = given === undefined && Object.hasOwn(Object(elsewhere) as object, groupsClaim);
    if (isElsewhere) throw new OidcFault("OIDC.PROVIDER", "GROUPS_ELSEWHERE");
    const groups = [given ?? []].flat();
    return {
      ...{ issuer: iss, subject: sub, sid: typeof sid === "string" ? sid : null },
      name: names.find((name) => typeof name === "string" && name.trim() !== "") as string,
      groups: groups.filter((group) => typeof group === "string"),
    };
  }

  /** Finds the provider, once for all who wait. A failure is tried again at the next sign-in. */
  #provider(): Promise<Found> {
    // The process's own clock is not set back.
    const now = performance.now();
    if (this.#found !== null && now - this.#foundAt < FOUND_MS) return this.#found;
    const found = this.#discover();
    this.#found = found;
    this.#foundAt = now;
    found.catch(() => {
      if (this.#found === found) this.#found = null;
    });
    return found;
  }

  async #discover(): Promise<Found> {
    const { issuer, clientId } = this.#settings;
    const [client, jose] = await Promise.all([import("openid-client"), import("jose")]);
    const isPlain = issuer.protocol === "http:";
    try {
      const configuration = await client.discovery(issuer, clientId, {}, this.#authentication(client), {
        [client.customFetch]: this.#fetch,
        timeout: TIMEOUT_S,
        // The guard of addresses lets plain http go to the local network alone.
        execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
      });
      const { jwks_uri: at } = configuration.serverMetadata();
      if (at === undefined) throw new OidcFault("OIDC.PROVIDER", "NO_KEYS");
      const keys = jose.createRemoteJWKSet(new URL(at), { [jose.customFetch]: this.#fetch });
      return { configuration, keys };
    } catch (error) {
      throw faultOf(error, "OIDC.PROVIDER");
    }
  }

  /** RFC 6749 §2.3.1 prefers the header, and a provider that names no way takes it (OpenID Connect Discovery §3). */
  #authentication(client: typeof OpenidClient): ClientAuth {
    return (server, known, body, headers) => {
      const { token_endpoint_auth_methods_supported: ways = ["client_secret_basic"] } = server;
      const way = ways.includes("client_secret_basic") ? client.ClientSecretBasic : client.ClientSecretPost;
      way(this.#secret())(server, known, body, headers);
    };
  }

  #secret(): string {
    try {
      return this.#settings.readSecret();
    } catch {
      throw new OidcFault("OIDC.PROVIDER", "NO_SECRET");
    }
  }
}
