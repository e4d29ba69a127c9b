import type { FeedPosition } from "../../records/webhooks/feed.ts";

// The opaque text of a position in the feed of events.

const MARK = "events";

export function writeCursor({ version, id, at }: FeedPosition): string {
  return Buffer.from(JSON.stringify([MARK, version, id, at])).toString("base64url");
}

/** @returns null for a text that is not a cursor */
export function readCursor(text: string): FeedPosition | null {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return null;
  }
  if (!Array.isArray(parts) || parts.length !== 4 || parts[0] !== MARK) return null;
  const [, version, id, at] = parts as unknown[];
  return isWhole(version) && isWhole(id) && isWhole(at) ? { version, id, at } : null;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
