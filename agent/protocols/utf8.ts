// Text that is UTF-8 although something else is declared, and Chinese text without a declaration.

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

/** Lead bytes of the signs and Greek letters of GB 2312: ×, ↑, μ. */
const SIGNS: readonly number[] = [0xa1, 0xa6];
/** The Turkish letters of Windows-1254, ÇĞİÖŞÜçğıöşü: ÇÖĞÜR has four in a row. */
const TURKISH: readonly number[] = [...[0xc7, 0xd0, 0xdd, 0xd6, 0xde, 0xdc], ...[0xe7, 0xf0, 0xfd, 0xf6, 0xfe, 0xfc]];

/**
 * Returns whether bytes that declare no charset, and are not UTF-8, are Chinese text: all beyond ASCII are pairs of GB 2312, with a
 * sign or two characters in a row, and some are not Turkish letters. Other Western letters rarely come in pairs.
 */
export function isChinese(bytes: Uint8Array): boolean {
  let isProven = false;
  let isTurkish = true;
  let row = 0;
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at]!;
    row = lead < 0x80 ? 0 : row + 1;
    if (row === 0) continue;
    at += 1;
    const trail = bytes[at] ?? 0;
    if (lead < 0xa1 || lead > 0xf7 || trail < 0xa1 || trail > 0xfe) return false;
    isProven ||= row > 1 || SIGNS.includes(lead);
    isTurkish &&= TURKISH.includes(lead) && TURKISH.includes(trail);
  }
  return isProven && !isTurkish;
}
