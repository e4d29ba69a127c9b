import { newFp } from "../../../../shared/api/fp.ts";
import type { Session } from "../../../database/query.ts";
import type { StoreContext } from "../batches.ts";
import { ownerId, storeOwnerFacts } from "../owners.ts";
import { findNamedOwner, nameOwner } from "../sources.ts";
import type { ReadOwner, RefusedItem, SyncedOwner } from "./items.ts";
import {
  auditItem,
  isOlder,
  laterOf,
  olderItem,
  storeEach,
  type StoredItem,
  type SyncRequest,
  type SyncResult,
  withBatch,
} from "./request.ts";

// Stores the owners of practice software under their names there.

/** Stores owners without their animals. Run it in a transaction. */
export async function syncOwners(session: Session, request: SyncRequest<ReadOwner | RefusedItem>): Promise<SyncResult> {
  return withBatch(session, request, async (batch) =>
    storeEach(request.items, async (item) => {
      if ("faults" in item) return { fp: null, outcome: "rejected", errors: [...item.faults] };
      const stored = await storeOwner(session, item, request, { batch });
      const { fp, outcome } = stored;
      if (outcome !== "unchanged" && fp !== null) await auditItem(session, `sync: owner ${outcome}`, fp, request);
      return stored;
    }),
  );
}

/** Stores an owner with the time of the item that names it. */
export async function storeOwner(
  session: Session,
  { owner, updatedAt }: { readonly owner: SyncedOwner; readonly updatedAt: number | null },
  { clinicId, source }: Pick<SyncRequest<unknown>, "clinicId" | "source">,
  context: Pick<StoreContext, "batch">,
): Promise<StoredItem & { readonly id: number; readonly fp: string }> {
  const name = { clinicId, source, externalId: owner.externalId };
  const before = await findNamedOwner(session, name);
  const fp = before?.fp ?? newFp("customer");
  const id = before?.customer_id ?? (await ownerId(session, fp, context));
  const storedAt = before?.source_updated_at ?? null;
  if (before !== undefined && storedAt !== null && isOlder(updatedAt, storedAt)) {
    return { id, ...olderItem(storedAt, fp, before), fp };
  }
  const isChanged = await storeOwnerFacts(session, id, owner, context);
  const time = laterOf(updatedAt, storedAt);
  if (before === undefined || time !== storedAt) {
    await nameOwner(session, { ...name, customerId: id, updatedAt: time }, context);
  }
  const outcome = before === undefined ? "created" : isChanged ? "updated" : "unchanged";
  return { id, fp, outcome, errors: [], before };
}
