// The position in a list that a next link carries. Clients pass it on as it is.

/** The last match of a page. */
export interface Position {
  /** When it changed, ms since 1970. */
  readonly changedAt: number;
  /** In a list of records by their numbers: the id of the resource. */
  readonly fp: string;
  /** In a list of results: how many of this study the pages so far have. 0 in other lists. */
  readonly results: number;
  /** The Sync-Cursor of the first page, ms since 1970. */
  readonly cursor: number;
}

export function encodePosition(type: string, { changedAt, fp, results, cursor }: Position): string {
  return Buffer.from(JSON.stringify([type, changedAt, fp, results, cursor])).toString("base64url");
}

/** @returns null for a text that no next link of this type has */
export function readPosition(type: string, text: string): Position | null {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return null;
  }
  if (!Array.isArray(parts) || parts.length !== 5 || parts[0] !== type) return null;
  const [, changedAt, fp, results, cursor] = parts as unknown[];
  if (typeof fp !== "string" || !isTime(changedAt) || !isWhole(results) || !isTime(cursor)) return null;
  return { changedAt, fp, results, cursor };
}

/** Whether a Date can hold it. */
function isTime(value: unknown): value is number {
  return isWhole(value) && value <= 8_640_000_000_000_000;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
