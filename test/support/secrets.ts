/** How many letters of the key's secret stand in a row in the text, at most. */
export function longestSecretPart(key: string, text: string): number {
  const secret = key.slice("sk_live_".length);
  let longest = 0;
  for (let from = 0; from + longest < secret.length; from += 1) {
    while (from + longest < secret.length && text.includes(secret.slice(from, from + longest + 1))) longest += 1;
  }
  return longest;
}

/**
 * Whether the text holds more of the key's secret than chance explains: seven letters in a row at either end of it, or ten
 * anywhere. Much faster than longestSecretPart() in a text of many megabytes.
 */
export function holdsSecret(key: string, text: string): boolean {
  const secret = key.slice("sk_live_".length);
  const length = CHARS_BY_CHANCE + 1;
  for (let from = 0; from + length <= secret.length; from += 4) {
    if (text.includes(secret.slice(from, from + length))) return true;
  }
  return text.includes(secret.slice(-length));
}

/** Letters that the list of keys shows at the beginning of the secret, and again at its end. */
export const CHARS_SHOWN = 4;

/** Chance makes no longer run in some megabytes: 62 to the 7th power is 3.5 million millions. */
export const CHARS_BY_CHANCE = 6;
