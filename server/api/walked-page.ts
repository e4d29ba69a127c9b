import type { FastifyReply, FastifyRequest } from "fastify";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { linkChanges, linkNext, type ListName, setSyncCursor, type Walk } from "../http/walk.ts";
import type { SyncPoint, SyncPoints } from "../records/changes/sync-point.ts";
import type { Page } from "../records/patients/patients.ts";
import { pageOf } from "./context.ts";

/** Where a page of a list of changes is, by its number or by the walk that reached it. */
interface SyncedPlace {
  readonly list: ListName;
  /** The sort key of the last record. Null if none follows. */
  readonly last: Walk["key"] | null;
  readonly walk: Walk | null;
  readonly page: number;
  /** Read before the page. */
  readonly point: SyncPoint;
}

interface SyncedPage<Item> extends SyncedPlace {
  readonly found: Page<Item>;
  readonly pageSize: number;
}

/** Makes the page object of a list whose changes are listed too, and its headers. */
export async function syncedPage<Item>(
  syncPoints: SyncPoints,
  request: FastifyRequest,
  reply: FastifyReply,
  { found, pageSize, ...place }: SyncedPage<Item>,
) {
  const { walk, page } = place;
  const hasMore = await linkPage(syncPoints, request, reply, place);
  const made = pageOf(found, walk?.page ?? page, pageSize);
  return walk === null ? made : { ...made, has_more: hasMore };
}

/**
 * Makes the headers of a page. At its end a walk continues with what changed since its start: a record that changed meanwhile is
 * first of the list, where the walk has been. @returns whether a page follows
 */
export async function linkPage(
  syncPoints: SyncPoints,
  request: FastifyRequest,
  reply: FastifyReply,
  { list, last, walk, page, point }: SyncedPlace,
): Promise<boolean> {
  const number = walk?.page ?? page;
  // A page of a higher number does not know the start of its walk.
  const start = page === 1 ? point.next : null;
  const next = walk === null ? start : walk.next;
  if (next !== null) setSyncCursor(reply, next);
  if (last !== null) linkNext(request, reply, list, { key: last, page: number + 1, next });
  if (last !== null || walk === null || next === null) return last !== null;
  const { clinic_id } = keyOf(request);
  const hasChanges = await syncPoints.hasChangesSince(clinic_id, next, versionsOf(request).answers);
  if (hasChanges) linkChanges(request, reply, next);
  return hasChanges;
}
