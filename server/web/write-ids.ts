// The ids of writes. The server does a write once for each id, so a form can be sent again after a lost response.

/** Time from the first try in which an equal write counts as its repetition. Later it is a new write. */
const KEPT_MS = 5 * 60_000;

const ID_BYTES = 16;

/** The writes without a response, by method, path and body, each with its id and the time of its first try. */
const unanswered = new Map<string, { readonly id: string; readonly since: number }>();

/**
 * Returns the id of a write. Until a response arrives, an equal write has the same id: the second click of a double click, or a
 * retry.
 */
export function writeId(write: string, now = Date.now()): string {
  for (const [other, { since }] of unanswered) if (Math.abs(now - since) > KEPT_MS) unanswered.delete(other);
  const { id, since } = unanswered.get(write) ?? { id: newId(), since: now };
  unanswered.set(write, { id, since });
  return id;
}

/** The next equal write is a new one. */
export function wasAnswered(write: string): void {
  unanswered.delete(write);
}

/** 128 random bits. crypto.randomUUID() is missing on plain http. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(ID_BYTES)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
