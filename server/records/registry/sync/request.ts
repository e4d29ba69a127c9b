import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Session } from "../../../database/query.ts";
import type { Door } from "../../../database/schema.ts";
import { insertRow } from "../../audit/audit.ts";
import { type Batch, inBatch } from "../batches.ts";
import type { SyncAnswer, SyncFault, SyncOutcome } from "./messages.ts";

// A request of practice software: its items one after the other, each with an outcome.

/** Items that are stored in one turn of the event loop. */
export const ITEMS_PER_TURN = 10;

export interface SyncRequest<Item> {
  readonly clinicId: number;
  readonly source: string;
  readonly items: readonly Item[];
  /** The external ids of all patients of the source; null if others than those of the request stay. */
  readonly full: ReadonlySet<string> | null;
  readonly now: number;
  readonly clock: () => number;
  readonly by: SyncActor;
  /** Gets the changes, null for none. Undefined for a batch of the request's own. */
  readonly batch?: Batch | null;
  /** Whether the caller has looked for animals of other doors by their microchips. */
  readonly isMatchedByChip?: boolean;
}

/** Who sends the items, for the audit: a key, or a user or a command with a file. */
export interface SyncActor {
  readonly requestId: string;
  readonly keyId?: number;
  readonly userId?: number;
  readonly address: string;
}

/** Runs the work with the batch of a request. */
export async function withBatch<T>(
  session: Session,
  { clinicId, source, by, now, batch }: Omit<SyncRequest<unknown>, "items" | "full">,
  work: (batch: Batch | null) => Promise<T>,
  door: Door = "sync",
): Promise<T> {
  if (batch !== undefined) return work(batch);
  return (await inBatch(session, { clinicId, door, source, by: keyOf(by), now }, work)).result;
}

/** Returns the key that sends the items. A file has none. */
export function keyOf({ keyId }: SyncActor): { readonly keyId: number } {
  if (keyId === undefined) throw new Error("expected items that a key sends");
  return { keyId };
}

/** The outcome of an item. */
export interface StoredItem {
  readonly fp: string | null;
  /** Present for an order. */
  readonly accession?: string | null;
  readonly outcome: SyncOutcome;
  readonly errors: SyncFault[];
  /** The record that was stored before, on which the outcome depends. */
  readonly before?: object | undefined;
}

/** The outcomes of a request, and a digest that is the same while they would be the same. */
export interface SyncResult {
  readonly items: SyncAnswer["items"];
  readonly stateDigest: string;
  /** The records that a full list removed. */
  readonly absence?: Absence;
}

export interface Absence {
  readonly of: "patients" | "appointments";
  readonly removed: readonly { readonly external_id: string; readonly fp: string }[];
  /** Number of patients, or of coming appointments, that the source had before. */
  readonly known: number;
}

/** Stores the items in their order. */
export async function storeEach<Item extends { readonly externalId: string | null }>(
  items: readonly Item[],
  storeItem: (item: Item) => Promise<StoredItem>,
): Promise<SyncResult> {
  const answers: SyncAnswer["items"] = [];
  const state = createHash("sha256");
  for (const [index, item] of items.entries()) {
    const { before, ...stored } = await storeItem(item);
    answers.push({ index, external_id: item.externalId, ...stored });
    const fp = stored.outcome === "created" ? null : stored.fp;
    state.update(JSON.stringify([item.externalId, stored.outcome, fp, before ?? null]));
    // On SQLite no query gives up the turn, and other requests would wait for all items.
    if (index % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
  }
  return { items: answers, stateDigest: state.digest("hex") };
}

/** The outcome of an item that is older than what is stored. */
export function olderItem(stored: number, fp: string | null, before: object): StoredItem {
  const message = `updated_at is older than the stored ${new Date(stored).toISOString()}`;
  return { fp, outcome: "unchanged", errors: [{ field: "updated_at", code: "older", message }], before };
}

/** Whether an item is older than what is stored. One without a time is never older: it counts when it arrives. */
export function isOlder(updatedAt: number | null, stored: number | null): boolean {
  return updatedAt !== null && stored !== null && updatedAt < stored;
}

export function laterOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

/** Adds what the key changed to the audit. */
export async function auditItem(
  session: Session,
  route: string,
  fp: string,
  { now, by, clinicId }: Pick<SyncRequest<unknown>, "now" | "by" | "clinicId">,
): Promise<void> {
  const request = { request_id: by.requestId, api_key_id: by.keyId ?? null, address: by.address };
  const user = { user_id: by.userId ?? null, clinic_id: by.userId === undefined ? null : clinicId };
  await insertRow(session, {
    ...{ at: now, method: "COMMAND", route, fp, count: null, status: null, times: 1, ...request, ...user },
  });
}
