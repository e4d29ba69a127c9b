/** @returns the length of the longest part of the key's secret in the text, in characters */
export function longestSecretPart(key: string, text: string): number {
  const secret = key.slice("sk_live_".length);
  let longest = 0;
  for (let from = 0; from + longest < secret.length; from += 1) {
    while (from + longest < secret.length && text.includes(secret.slice(from, from + longest + 1))) longest += 1;
  }
  return longest;
}

/**
 * @returns whether the text contains more of the key's secret than chance explains: its first or last seven characters, or any
 * ten in a row. It is much faster than longestSecretPart() in a text of many megabytes.
 */
export function holdsSecret(key: string, text: string): boolean {
  const secret = key.slice("sk_live_".length);
  const length = CHARS_BY_CHANCE + 1;
  for (let from = 0; from + length <= secret.length; from += 4) {
    if (text.includes(secret.slice(from, from + length))) return true;
  }
  return text.includes(secret.slice(-length));
}

/** Number of characters that the list of keys shows of the secret, at its start and at its end. */
export const CHARS_SHOWN = 4;

/** Longest common part that chance explains in a few megabytes of text, since 62^7 is 3.5e12. */
export const CHARS_BY_CHANCE = 6;
