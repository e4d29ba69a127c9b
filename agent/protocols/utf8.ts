// Text that is UTF-8 although something else is declared.

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Characters of two bytes or more that prove UTF-8 under a charset whose own characters have two bytes, or whose letters are a
 * lead and a trail byte of UTF-8: one Chinese character of seven looks like UTF-8, and so does one Thai or Katakana pair of
 * eight. In the other charsets such a pair is a letter followed by a sign, and one character is a proof.
 */
const PROOF = { ambiguous: 4, other: 1 };

/** Returns the text of bytes that are UTF-8 with characters beyond ASCII; null for other bytes, and in doubt. */
export function utf8Text(bytes: Uint8Array, isAmbiguous: boolean): string | null {
  if (!bytes.some((byte) => byte > 0x7f)) return null;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return null;
  }
  let beyond = 0;
  for (const char of text) if (char > "\x7f") beyond += 1;
  return beyond >= (isAmbiguous ? PROOF.ambiguous : PROOF.other) ? text : null;
}
