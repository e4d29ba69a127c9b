// The ids of writes. The server does a write once for each id, so that a form may be sent again after a lost response.

/** Time for which the same write counts as a repetition, from its first try. Later the user means another one. */
const KEPT_MS = 5 * 60_000;

const ID_BYTES = 16;

/** The writes without a response: method, path and body of each, its id and the time of its first try. */
const unanswered = new Map<string, { readonly id: string; readonly since: number }>();

/**
 * Returns the id of a write. Until its response, the same write has the same id: the second click of a double click, or a retry.
 */
export function writeId(write: string, now = Date.now()): string {
  for (const [other, { since }] of unanswered) if (Math.abs(now - since) > KEPT_MS) unanswered.delete(other);
  const { id, since } = unanswered.get(write) ?? { id: newId(), since: now };
  unanswered.set(write, { id, since });
  return id;
}

/** The next write of the same content is another one. */
export function wasAnswered(write: string): void {
  unanswered.delete(write);
}

/** 128 random bits. crypto.randomUUID() lacks on a page of plain http. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(ID_BYTES)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
