import type { Session } from "../../../database/query.ts";
import { unknownTests } from "../../orders/order-tests.ts";
import { cancelOrder, findPlacedOrder, placeOrder, type StoredOrder } from "../../orders/orders.ts";
import { findPatient } from "../../patients/patients.ts";
import { ownNameOf } from "../sources.ts";
import type { RefusedItem } from "./items.ts";
import type { SyncFault } from "./messages.ts";
import type { ReadOrder } from "./order-items.ts";
import { auditItem, keyOf, storeEach, type StoredItem, type SyncRequest, type SyncResult } from "./request.ts";

// Stores the orders of practice software under their numbers there.

/** Stores the items. Run it in a transaction. */
export async function syncOrders(session: Session, request: SyncRequest<ReadOrder | RefusedItem>): Promise<SyncResult> {
  return storeEach(request.items, async (item) => {
    if ("faults" in item) return rejected(...item.faults);
    const placer = { source: request.source, number: item.externalId };
    const stored = await findPlacedOrder(session, { clinicId: request.clinicId, ...placer });
    const done = await (stored === undefined ? place(session, item, request) : change(session, stored, item, request));
    const { fp, outcome } = done;
    if ((outcome === "created" || outcome === "updated") && fp !== null) {
      await auditItem(session, `sync: order ${outcome}`, fp, request);
    }
    return { ...done, before: stored };
  });
}

type Request = SyncRequest<unknown>;

/** Places an order. One that is cancelled before it came is stored cancelled, so that an item that comes late does not open it. */
async function place(
  session: Session,
  { externalId, patient, tests, device, panel = null, orderedAt, isCancelled }: ReadOrder,
  { clinicId, source, now, by }: Request,
): Promise<StoredItem> {
  const [unknown] = device === null ? unknownTests(tests) : [];
  if (unknown !== undefined) {
    const advice = unknown.near.length === 0 ? "an analyte such as ALT, or a device" : unknown.near.join(" or ");
    return rejected(fault("tests", "unknown_test", `tests has ${JSON.stringify(unknown.test)}, expected ${advice}`));
  }
  const patientId = await patientOf(session, { clinicId, source, externalId: patient });
  if (patientId === null) {
    const message = `patient is ${JSON.stringify(patient)}, expected the external_id of a patient of this source`;
    return rejected(fault("patient", "unknown_patient", message));
  }
  const placer = { source, number: externalId };
  const order = { clinicId, patientId, device, panel, tests, placer, orderedAt, by: keyOf(by) };
  const placed = await placeOrder(session, order, now);
  if (isCancelled) {
    const stored = await findPlacedOrder(session, { clinicId, ...placer });
    if (stored !== undefined) await cancelOrder(session, stored, keyOf(by), now);
  }
  return { ...placed, outcome: "created", errors: [] };
}

/** Cancels a stored order. Any other change is refused, because its label may be on a tube and a device may have it. */
async function change(
  session: Session,
  stored: StoredOrder,
  { patient, tests, device, isCancelled }: ReadOrder,
  { clinicId, source, now, by }: Request,
): Promise<StoredItem> {
  const { fp, accession } = stored;
  const unchanged = (...errors: SyncFault[]): StoredItem => ({ fp, accession, outcome: "unchanged", errors });
  // Not patientOf(): a software that removes a patient cancels its orders after it.
  const { before: named } = await ownNameOf(session, { clinicId, source, externalId: patient });
  const isSame =
    named?.patient_id === stored.patient_id && device === stored.device_id && JSON.stringify(tests) === stored.tests;
  if (!isSame) {
    const message =
      "the order has another patient, device or tests, expected them unchanged: cancel it and send a new one";
    return rejected(fault("", "changed", message));
  }
  if (!isCancelled) {
    const message = "cancelled is not true, but this order is cancelled: send a new one";
    return stored.cancelled_at === null ? unchanged() : unchanged(fault("cancelled", "cancelled", message));
  }
  switch (await cancelOrder(session, stored, keyOf(by), now)) {
    case "cancelled":
      return { fp, accession, outcome: "updated", errors: [] };
    case "unchanged":
      return unchanged();
    case "has results":
      return unchanged(fault("cancelled", "has_results", "cancelled is true, but this order has results, which stay"));
  }
}

/** @returns the id of a patient that the clinic sees, or null */
export async function patientOf(session: Session, name: Parameters<typeof ownNameOf>[1]): Promise<number | null> {
  const fp = (await ownNameOf(session, name)).before?.fp ?? null;
  const found = fp === null ? undefined : await findPatient(session, name.clinicId, fp);
  return found?.connected === true ? found.id : null;
}

function rejected(...errors: readonly SyncFault[]): StoredItem {
  return { fp: null, accession: null, outcome: "rejected", errors: [...errors] };
}

function fault(field: string, code: string, message: string): SyncFault {
  return { field, code, message };
}
