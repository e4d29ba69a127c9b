import { Secret, TOTP } from "otpauth";
import type { NewSecondFactor } from "../types/settings/account.ts";

// The second factor: time-based codes of six digits (RFC 6238), as authenticator apps make them.

const PERIOD_S = 30;

/** 160 bits, the length that RFC 4226 §4 recommends. */
const SECRET_BYTES = 20;

/** Steps before and after the present step with valid codes: the phone's clock may be wrong, and typing takes time. */
const STEPS_ASIDE = 1;

/** Makes a secret, with the address that an authenticator app reads from a QR code. */
export function newSecondFactor(userName: string): NewSecondFactor {
  const secret = new Secret({ size: SECRET_BYTES });
  const uri = new TOTP({ issuer: "Vetwire", label: userName, secret, period: PERIOD_S }).toString();
  return { secret: secret.base32, uri };
}

/** Finds the time step that a code belongs to; null for a wrong code. The caller keeps the step, so that no code works twice. */
export function stepOf(code: string, secret: string, now: number): number | null {
  const token = code.replaceAll(/\s/g, "");
  if (!/^\d{6}$/.test(token)) return null;
  const totp = new TOTP({ secret: Secret.fromBase32(secret), period: PERIOD_S });
  const aside = totp.validate({ token, timestamp: now, window: STEPS_ASIDE });
  return aside === null ? null : Math.floor(now / 1000 / PERIOD_S) + aside;
}
