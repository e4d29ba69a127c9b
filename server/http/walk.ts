import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { invalid, type Parameter, readInstantParameter } from "./query-parameters.ts";

// Walks over a list by keys: each page names the next one in its Link header, with the position of its last row in `after`.
// A row that leaves the list moves no other row across the border of a page, as it does with page numbers.

/** A position in a list, and the walk that reached it. */
export interface Walk {
  /** The sort key of the last row: a time, or a name in the list of items; and an fp. */
  readonly key: readonly [number | string, string];
  /** Number of the page after it. */
  readonly page: number;
  /** The Sync-Cursor of the walk: that of its first page, ms since 1970. Null for a list without one. */
  readonly next: number | null;
}

const KEY_TYPES = {
  ...({ patients: "number", studies: "number", soap: "number", removals: "number" } as const),
  // The items by name, and those that changed.
  ...({ items: "string", stock: "number", calendar: "number" } as const),
};

export type ListName = keyof typeof KEY_TYPES;

const DESCRIPTION =
  "Continues a walk: the value that the `Link` header of the page before has. Other parameters stay as they were, and " +
  "`page` is left out. No record that stays on the list is missing or comes twice, whatever leaves it meanwhile.";

/** `after` of a list that may have several orders. Null if it is absent. */
export function walkOf(...lists: readonly ListName[]): Parameter<Walk | null> {
  return {
    schema: Type.String({ description: DESCRIPTION }),
    read(given, name) {
      if (given === null) return null;
      const walk = lists.map((list) => parseWalk(list, given)).find((found) => found !== null);
      if (walk === undefined) throw invalid(name, given, "the value in the Link header of a page of this list");
      return walk;
    },
  };
}

/** `after` of a list that is read from a time on: that time, or the value of a Link header. Null if it is absent. */
export function walkOrTime(list: ListName, description: string): Parameter<Walk | number | null> {
  return {
    schema: Type.String({ description }),
    read(given, name) {
      if (given === null) return null;
      const read = parseWalk(list, given) ?? readInstantParameter(given);
      if (read === null)
        throw invalid(name, given, "a Sync-Cursor, or the value in the Link header of a page of this list");
      return read;
    },
  };
}

function parseWalk(list: ListName, given: string): Walk | null {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(given, "base64url").toString());
  } catch {
    return null;
  }
  if (!Array.isArray(parts) || parts.length !== 5 || parts[0] !== list) return null;
  const [, first, fp, page, next] = parts as unknown[];
  const isKey = typeof first === KEY_TYPES[list] && typeof fp === "string";
  const isTime = next === null || (isWhole(next) && !Number.isNaN(new Date(next).getTime()));
  if (!isKey || (typeof first === "number" && !Number.isSafeInteger(first)) || !isWhole(page) || !isTime) return null;
  return { key: [first as number | string, fp], page: Math.max(1, page), next };
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Names the next page in the Link header (RFC 8288). */
export function linkNext(request: FastifyRequest, reply: FastifyReply, list: ListName, walk: Walk): void {
  const after = Buffer.from(JSON.stringify([list, ...walk.key, walk.page, walk.next])).toString("base64url");
  link(request, reply, { after });
}

/** Names the changes since the start of the walk as the page after its last one. */
export function linkChanges(request: FastifyRequest, reply: FastifyReply, since: number): void {
  link(request, reply, { updated_since: new Date(since).toISOString() });
}

/** Names the page with changed parameters as the next one. */
export function link(request: FastifyRequest, reply: FastifyReply, changed: Readonly<Record<string, string>>): void {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  searchParams.delete("page");
  searchParams.delete("after");
  for (const [name, value] of Object.entries(changed)) searchParams.set(name, value);
  reply.header("link", `<${pathname}?${searchParams.toString()}>; rel="next"`);
}

/** Sends the start of the client's next list of changes. */
export function setSyncCursor(reply: FastifyReply, next: number): void {
  reply.header("sync-cursor", new Date(next).toISOString());
}
