import { CODE_MINUTES, WRONG_TRIES_MAX } from "../../shared/api/pairing.ts";

// Judges a presented pairing code.
//
// A code has 8 characters of 5 bits. The first three find the one code of the server that a try is aimed at; the other five are
// its secret. A wrong try thus counts against that code alone, and nobody ends the codes of other clinics by guessing.

const SELECTOR_CHARS = 3;

/** Difference of the clocks of servers that share a database. */
const CLOCKS_MS = 60_000;

/** The part of a code by which the server finds it. No two clinics have the same. */
export function selectorOf(code: string): string {
  return code.slice(0, SELECTOR_CHARS);
}

/** The stored part of the code that a try is aimed at. */
export interface StoredCode {
  readonly expires_at: number;
  readonly wrong_tries: number;
  /** Digest of the key that the code was exchanged for; null for an unused code. */
  readonly keyDigest: string | null;
}

/** A try: whether the whole code is right, and the digest of the key that came with it. */
export interface PairingTry {
  readonly isRight: boolean;
  readonly keyDigest: string;
  readonly now: number;
}

/** `repeated`: the same agent asks again, because it never saw the answer. `counts`: the try is one of the five wrong ones. */
export type Verdict =
  | { readonly is: "right" | "repeated" | "ended" }
  | { readonly is: "wrong"; readonly counts: boolean };

export function judge(stored: StoredCode | undefined, { isRight, keyDigest, now }: PairingTry): Verdict {
  if (stored === undefined) return { is: "wrong", counts: false };
  // A clock that was set back must not lengthen the life of a code.
  const isInTime = stored.expires_at > now && stored.expires_at <= now + CODE_MINUTES * 60_000 + CLOCKS_MS;
  const isOpen = stored.keyDigest === null && isInTime && stored.wrong_tries < WRONG_TRIES_MAX;
  if (!isRight) return { is: "wrong", counts: isOpen };
  // The key itself proves that it is the same agent, so that a repeat may also come late.
  if (stored.keyDigest === keyDigest) return { is: "repeated" };
  return { is: isOpen ? "right" : "ended" };
}
