import { setImmediate as nextTurn } from "node:timers/promises";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Session } from "../../../database/query.ts";
import {
  findNamedAppointment,
  listOpenAppointments,
  memberOf,
  type NamedAppointment,
  nameAppointment,
  storeAppointment,
} from "../appointments.ts";
import type { StoreContext } from "../batches.ts";
import type { SourceName } from "../sources.ts";
import type { ReadAppointment, SyncedAppointment } from "./appointment-items.ts";
import type { RefusedItem } from "./items.ts";
import type { SyncFault } from "./messages.ts";
import { patientOf } from "./orders.ts";
import {
  type Absence,
  auditItem,
  isOlder,
  ITEMS_PER_TURN,
  laterOf,
  olderItem,
  storeEach,
  type StoredItem,
  type SyncRequest,
  type SyncResult,
  withBatch,
} from "./request.ts";

// Stores the appointments of practice software as events of the clinic's calendar. The software decides all but the status.

type Context = Pick<StoreContext, "batch" | "now">;

/** Stores the items. Run it in a transaction. */
export async function syncAppointments(
  session: Session,
  request: SyncRequest<ReadAppointment | RefusedItem>,
): Promise<SyncResult> {
  return withBatch(session, request, async (batch) => {
    const context = { batch, now: request.now };
    const stored = await storeEach(request.items, async (item) => storeItem(session, item, request, context));
    const { full } = request;
    return full === null ? stored : { ...stored, absence: await cancelAbsent(session, full, request, context) };
  });
}

async function storeItem(
  session: Session,
  item: ReadAppointment | RefusedItem,
  request: SyncRequest<unknown>,
  context: Context,
): Promise<StoredItem> {
  if ("faults" in item) return rejected(...item.faults);
  const name = { clinicId: request.clinicId, source: request.source, externalId: item.externalId };
  const before = await findNamedAppointment(session, name);
  const storedAt = before?.source_updated_at ?? null;
  if (before !== undefined && storedAt !== null && isOlder(item.updatedAt, storedAt)) {
    return olderItem(storedAt, before.event?.fp ?? null, before);
  }
  const updatedAt = laterOf(item.updatedAt, storedAt);
  const done =
    item.appointment === null
      ? await cancel(session, name, { before, updatedAt }, context)
      : await store(session, name, { before, updatedAt, appointment: item.appointment }, context);
  const { fp, outcome } = done;
  const isStored = outcome === "created" || outcome === "updated" || outcome === "deleted";
  if (isStored && fp !== null) await auditItem(session, `sync: appointment ${outcome}`, fp, request);
  return { ...done, before };
}

interface Known {
  readonly before: NamedAppointment | undefined;
  readonly updatedAt: number | null;
}

async function store(
  session: Session,
  name: SourceName,
  { before, updatedAt, appointment }: Known & { readonly appointment: SyncedAppointment },
  context: Context,
): Promise<StoredItem> {
  const { title, type, startAt, endAt, patient, assigned } = appointment;
  const patientId = patient === null ? null : await patientOf(session, { ...name, externalId: patient });
  if (patient !== null && patientId === null) {
    const message = `patient is ${JSON.stringify(patient)}, expected the external_id of a patient of this source`;
    return rejected(fault("patient", "unknown_patient", message));
  }
  const userId = assigned === null ? null : await memberOf(session, name.clinicId, assigned, context);
  const errors: SyncFault[] = [];
  if (assigned !== null && userId === null) {
    errors.push(
      fault("assigned", "unknown_member", "assigned is unknown, expected the name of a member of the clinic"),
    );
  }
  // CANCELLED is a final status, so that an appointment that comes back is another event.
  const known = before?.removed === 1 ? null : (before?.event ?? null);
  if (known?.status === "CANCELLED") {
    errors.push(fault("", "cancelled", "the clinic cancelled the event, expected none or a new external_id"));
  }
  const fp = known?.fp ?? newFp("calevt");
  const change = await storeAppointment(
    session,
    {
      ...{ fp, clinic_id: name.clinicId, title, type, status: known?.status ?? "SCHEDULED" },
      ...{ start_at: startAt, end_at: endAt, patient_id: patientId, assigned_user_id: userId },
    },
    context,
  );
  if (known === null || updatedAt !== before?.source_updated_at) {
    await nameAppointment(session, { ...name, fp, updatedAt, removed: false }, context);
  }
  const outcome = change === "new" ? "created" : change === "changed" ? "updated" : "unchanged";
  return { fp, outcome, errors };
}

/** Cancels the event. The name of an unknown one stays, so that an older item that comes later does not bring it back. */
async function cancel(
  session: Session,
  name: SourceName,
  { before, updatedAt }: Known,
  context: Context,
): Promise<StoredItem> {
  const event = before?.event ?? null;
  const fp = event?.fp ?? null;
  const unchanged: StoredItem = { fp, outcome: "unchanged", errors: [] };
  const isClosed = event?.status === "CLOSED";
  const isNews =
    before === undefined ? updatedAt !== null : before.removed === 0 || updatedAt !== before.source_updated_at;
  if (isNews) await nameAppointment(session, { ...name, fp, updatedAt, removed: !isClosed }, context);
  if (isClosed) {
    const message = "deleted is true, but the event is CLOSED, expected one that is not over";
    return { ...unchanged, errors: [fault("deleted", "closed", message)] };
  }
  if (event === null || event.status === "CANCELLED") return unchanged;
  await storeAppointment(session, { ...event, status: "CANCELLED" }, context);
  return { ...unchanged, outcome: "deleted" };
}

/** Cancels the coming appointments of the source that a full list lacks. */
async function cancelAbsent(
  session: Session,
  listed: ReadonlySet<string>,
  request: SyncRequest<unknown>,
  context: Context,
): Promise<Absence> {
  const { clinicId, source, now } = request;
  const open = await listOpenAppointments(session, { clinicId, source, from: now });
  const absent = open.filter(({ externalId }) => !listed.has(externalId));
  const removed: { external_id: string; fp: string }[] = [];
  for (const [index, { externalId, ...before }] of absent.entries()) {
    const name = { clinicId, source, externalId };
    const { fp, outcome } = await cancel(session, name, { before, updatedAt: before.source_updated_at }, context);
    if (fp !== null && outcome === "deleted") {
      removed.push({ external_id: externalId, fp });
      await auditItem(session, "sync: appointment deleted", fp, request);
    }
    if (index % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
  }
  return { of: "appointments", removed, known: open.length };
}

function rejected(...errors: readonly SyncFault[]): StoredItem {
  return { fp: null, outcome: "rejected", errors: [...errors] };
}

function fault(field: string, code: string, message: string): SyncFault {
  return { field, code, message };
}
