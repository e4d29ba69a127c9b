import { CODE_MINUTES } from "../../../shared/api/agent/pairing.ts";

// Judges the try of a pairing code.
//
// A code has 12 characters of 5 bits. The first three find the one code of the server that a try is aimed at; the other nine are
// its secret. No wrong try ends a code, so that no stranger can; server/http/auth/pairing-limit.ts has the odds.

const SELECTOR_CHARS = 3;

/** Difference of the clocks of servers that share a database. */
const CLOCKS_MS = 60_000;

/** The part of a code by which the server finds it. No two clinics have the same. */
export function selectorOf(code: string): string {
  return code.slice(0, SELECTOR_CHARS);
}

export interface StoredCode {
  readonly expires_at: number;
  /** Digest of the key that the code was exchanged for; null for an unused code. */
  readonly keyDigest: string | null;
}

/** A try with the right code, and the digest of the key that came with it. */
export interface PairingTry {
  readonly keyDigest: string;
  readonly now: number;
}

/** `repeated`: the same agent sends again, because it never received the response. */
export type Verdict = "right" | "repeated" | "ended";

export function judge(stored: StoredCode, { keyDigest, now }: PairingTry): Verdict {
  // The key itself proves that it is the same agent, so that a repeat may also come late.
  if (stored.keyDigest === keyDigest) return "repeated";
  // A clock that was set back must not lengthen the life of a code.
  const isInTime = stored.expires_at > now && stored.expires_at <= now + CODE_MINUTES * 60_000 + CLOCKS_MS;
  return stored.keyDigest === null && isInTime ? "right" : "ended";
}
