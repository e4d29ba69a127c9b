import { type Static, Type } from "typebox";
import { ClosedObject } from "../../schema/schema.ts";
import { fpPattern } from "../fp.ts";
import { textForm } from "../../schema/text-form.ts";

// The exchange in which the agent of a clinic PC gets its access. The agent makes its own key and sends it in X-API-Key with the
// code of the dashboard; from then on the server knows the key. A repeated request is the same request, so that a lost response
// locks nobody out.

/** Crockford's base32: no letter in it looks like a digit in it. A character has 5 bits. */
const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export const CODE_CHARS = 12;
export const CODE_MINUTES = 15;

/** Longest name of a clinic PC. */
export const PC_NAME_CHARS_MAX = 100;

/** A pin of a certificate (shared/network/public-key-pin.ts). */
export const PIN = "^sha256/[A-Za-z0-9+/]{43}=$";

/** Formats 12 numbers from 0 to 31 as a code. */
export function codeOf(numbers: readonly number[]): string {
  return numbers.map((number) => LETTERS.charAt(number)).join("");
}

/** Formats a code as a person reads it: `7KQM-X2HD-9FVT`. */
export function spacedCode(code: string): string {
  return code.replaceAll(/(.{4})(?=.)/g, "$1-");
}

/** Reads a typed code. Spaces, dashes and letter case do not count, and O is 0, I and L are 1. @returns null for another text */
export function readCode(text: string): string | null {
  const code = text.toUpperCase().replaceAll(/[\s-]/g, "").replaceAll("O", "0").replaceAll(/[IL]/g, "1");
  return code.length === CODE_CHARS && Array.from(code).every((letter) => LETTERS.includes(letter)) ? code : null;
}

/**
 * The body of `POST /agent/v1/pair`. An agent sends the code only to a known receiver: to a certificate that it trusts already,
 * or over plain http, which a person chose. To another certificate it sends the proof (shared/network/pairing-proof.ts).
 */
export const PairBody = ClosedObject({
  code: Type.Optional(Type.String({ maxLength: 40 })),
  proof: Type.Optional(
    ClosedObject({
      /** The certificate that the agent sees. */
      pin: Type.String({ pattern: PIN }),
      /** The agent's MAC over it and the key. */
      mac: Type.String({ maxLength: 44 }),
    }),
  ),
  /** The name by which people know the PC. */
  name: Type.String({ minLength: 1, maxLength: PC_NAME_CHARS_MAX, pattern: textForm("\\S", "text that is not blank") }),
});
export type PairBody = Static<typeof PairBody>;

/** The response: who the agent is from now on. */
export const Paired = Type.Object({
  agent: Type.String({ pattern: fpPattern("agent") }),
  clinic: Type.Object({ fp: Type.String({ pattern: fpPattern("clinic") }), name: Type.String() }),
  /** The server's MAC, if the agent sent one. */
  proof: Type.Optional(Type.String()),
});
export type Paired = Static<typeof Paired>;
