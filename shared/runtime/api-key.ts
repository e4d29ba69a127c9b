import { randomInt } from "node:crypto";
import zlib from "node:zlib";

// Format of an API key: the prefix, a secret of 32 random base62 characters, and a CRC32 of both in 6 base62 characters. The
// checksum detects typing errors and junk without a database query.

export const KEY_PREFIX = "sk_live_";

const SECRET_CHARS = 32;

const CHECKSUM_CHARS = 6;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const KEY = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`);

export function newKey(): string {
  let key = KEY_PREFIX;
  for (let count = 0; count < SECRET_CHARS; count += 1) key += BASE62.charAt(randomInt(BASE62.length));
  return key + checksum(key);
}

/** Whether the text has the format and the checksum of a key. */
export function isWellFormedKey(text: string): boolean {
  return KEY.test(text) && checksum(text.slice(0, -CHECKSUM_CHARS)) === text.slice(-CHECKSUM_CHARS);
}

function checksum(text: string): string {
  let rest = zlib.crc32(text);
  let chars = "";
  while (chars.length < CHECKSUM_CHARS) {
    chars = BASE62.charAt(rest % BASE62.length) + chars;
    rest = Math.floor(rest / BASE62.length);
  }
  return chars;
}
