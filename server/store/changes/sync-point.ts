import { syncBounds } from "../database/stamps.ts";
import type { Store } from "../database/store.ts";

/** What a client's list of changes must hold, and how it asks for the next one. */
export interface SyncPoint {
  /** Lowest stamp of the list, ms since 1970; null lists all. */
  readonly from: number | null;
  /** The time that the client sends next time: all that this list lacks became visible at it or later. */
  readonly next: number;
  /** Whether a change became visible at or after the time. */
  readonly hasChanges: boolean;
}

/**
 * Finds the stamps of what became visible to a clinic at or after a time, which are often a little older. Call it before
 * reading the list.
 * @param since ms since 1970; null for everything
 */
export async function syncPoint(
  store: Pick<Store, "first" | "noteVisible">,
  clinicId: number,
  since: number | null,
): Promise<SyncPoint> {
  const bounds = await store.first(syncBounds, { clinicId, since: since ?? Number.MAX_SAFE_INTEGER });
  if (bounds === undefined) throw new Error("expected one row of bounds, got none");
  const { oldest, next, unnoted } = bounds;
  // A server may have ended between its commit and the note.
  if (unnoted !== 0) void store.noteVisible(clinicId);
  const from = since === null ? null : Math.min(since, oldest ?? since);
  return { from, next: next ?? 0, hasChanges: oldest !== null };
}
