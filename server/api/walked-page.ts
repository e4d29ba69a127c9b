import type { FastifyReply, FastifyRequest } from "fastify";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { linkChanges, linkNext, setSyncCursor, type Walk } from "../http/walk.ts";
import type { SyncPoint, SyncPoints } from "../records/changes/sync-point.ts";
import type { Page } from "../records/patients/patients.ts";
import { pageOf } from "./context.ts";

/** A page of patients or studies, by its number or by the walk that reached it. */
interface SyncedPage<Item> {
  readonly list: "patients" | "studies";
  readonly found: Page<Item>;
  /** The sort key of the last record. Null if none follows. */
  readonly last: Walk["key"] | null;
  readonly walk: Walk | null;
  readonly page: number;
  readonly pageSize: number;
  /** Read before the page. */
  readonly point: SyncPoint;
}

/**
 * Makes the page object of a list whose changes are listed too, and its headers. At its end a walk continues with what changed
 * since its start: a record that changed meanwhile is first of the list, where the walk has been.
 */
export async function syncedPage<Item>(
  syncPoints: SyncPoints,
  request: FastifyRequest,
  reply: FastifyReply,
  { list, found, last, walk, page, pageSize, point }: SyncedPage<Item>,
) {
  const number = walk?.page ?? page;
  // A page of a higher number does not know the start of its walk.
  const next = walk === null ? (page === 1 ? point.next : null) : walk.next;
  if (next !== null) setSyncCursor(reply, next);
  const made = pageOf(found, number, pageSize);
  if (last !== null) linkNext(request, reply, list, { key: last, page: number + 1, next });
  if (walk === null) return made;
  const hasChanges =
    last === null &&
    next !== null &&
    (await syncPoints.hasChangesSince(keyOf(request).clinic_id, next, versionsOf(request).answers));
  if (hasChanges) linkChanges(request, reply, next);
  return { ...made, has_more: last !== null || hasChanges };
}
