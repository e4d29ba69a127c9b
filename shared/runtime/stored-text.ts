// Text that a database gives back as it was stored. SQLite and PostgreSQL hold UTF-8, which has no half of a surrogate pair, and
// PostgreSQL has no NUL. Both engines treat both alike, so that a database can be moved from one to the other.

const NUL_OR_HALF_PAIR = /[\0\p{Surrogate}]/gu;
const HALF_PAIR = /\p{Surrogate}/gu;
const REPLACEMENT = "\u{FFFD}";

/** Replaces NUL and each half of a surrogate pair by U+FFFD: the text that a column of text holds. */
export function storedText(text: string): string {
  return text.replaceAll(NUL_OR_HALF_PAIR, REPLACEMENT);
}

/**
 * Replaces each half of a surrogate pair in the texts and names of a JSON value. NUL stays, because a column holds such a value as
 * JSON, which escapes it. The escape of half a pair would be stored too, and then break the programs that read it.
 */
export function wellFormed<T>(value: T): T {
  return mend(value) as T;
}

function mend(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(HALF_PAIR, REPLACEMENT);
  if (Array.isArray(value)) return value.map(mend);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [mend(name), mend(inner)]));
}
