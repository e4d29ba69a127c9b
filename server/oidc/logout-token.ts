import type { JWTVerifyGetKey } from "jose";
import { OidcFault } from "./faults.ts";

// The logout token of the provider (OpenID Connect Back-Channel Logout 1.0 §2.6). A session ends by the rules of this file alone, since
// anybody can send such a token.

/** A logout at the provider: of one of its sessions, or of all of a subject. */
export interface Logout {
  readonly issuer: string;
  readonly subject: string | null;
  /** The session of the provider. */
  readonly sid: string | null;
  /** The token's own id. Who obeys a token keeps it for `LOGOUT_MS`, and obeys it once. */
  readonly id: string;
}

/** Time for which a logout token is valid. */
export const LOGOUT_MS = 10 * 60_000;
const CLOCK_S = 60;

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** A shared secret signs none: anybody who knows the client's secret could end sessions. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/**
 * Codes of `jose` for keys that could not be read. The general one is a response with another status than 200 or without JSON, as a
 * provider that starts gives: the token may be valid, and the provider sends it again.
 */
const KEYS_NOT_READ = ["ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID", "ERR_JOSE_GENERIC"];

interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly keys: JWTVerifyGetKey;
}

/** Verifies a logout token. @throws OidcFault OIDC.NOT_VERIFIED, or OIDC.UNREACHABLE for the keys of the provider */
export async function verifyLogoutToken(token: string, { issuer, clientId, keys }: Expected): Promise<Logout> {
  const { payload, protectedHeader } = await verified(token, { issuer, clientId, keys });
  const { sub = null, sid = null, jti, events } = payload;
  const { typ = "JWT" } = protectedHeader;
  if (!["JWT", "logout+jwt"].includes(typ)) throw notVerified("typ");
  const event = isObject(events) ? events[EVENT] : undefined;
  if (!isObject(event)) throw notVerified("events");
  // §2.4: with a nonce it could be an ID token.
  if ("nonce" in payload) throw notVerified("nonce");
  if (!isText(jti)) throw notVerified("jti");
  if (sub === null && sid === null) throw notVerified("sub");
  if (sub !== null && !isText(sub)) throw notVerified("sub");
  if (sid !== null && !isText(sid)) throw notVerified("sid");
  return { issuer, subject: sub, sid, id: jti };
}

async function verified(token: string, { issuer, clientId, keys }: Expected) {
  const { jwtVerify, errors } = await import("jose");
  try {
    return await jwtVerify(token, keys, {
      ...{ issuer, audience: clientId, algorithms: ALGORITHMS },
      ...{ maxTokenAge: LOGOUT_MS / 1000, clockTolerance: CLOCK_S, requiredClaims: ["jti", "iat", "events"] },
    });
  } catch (error) {
    if (error instanceof OidcFault) throw error;
    if (error instanceof errors.JWTClaimValidationFailed) throw notVerified(error.claim);
    if (!(error instanceof errors.JOSEError)) throw notVerified("UNKNOWN");
    if (KEYS_NOT_READ.includes(error.code)) throw new OidcFault("OIDC.UNREACHABLE", error.code);
    throw notVerified(error.code);
  }
}

function notVerified(cause: string): OidcFault {
  return new OidcFault("OIDC.NOT_VERIFIED", cause);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 1000;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
