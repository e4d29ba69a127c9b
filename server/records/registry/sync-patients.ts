import { newFp } from "../../../shared/api/fp.ts";
import { query, type Session } from "../../database/query.ts";
import { storedWords } from "./animal-checks.ts";
import { connectAnimal, removeAnimal, storeAnimal } from "./animals.ts";
import { inBatch, type StoreContext } from "./batches.ts";
import { findNamed, type NamedPatient, namePatient, type SourceName } from "./sources.ts";
import type { ReadPatient, RefusedItem, SyncedOwner, SyncedPatient } from "./sync-items.ts";
import type { SyncOutcome } from "./sync-messages.ts";
import { storeOwner } from "./sync-owners.ts";
import {
  auditItem,
  batchOf,
  isOlder,
  laterOf,
  olderItem,
  storeEach,
  type StoredItem,
  type SyncRequest,
  type SyncResult,
} from "./sync-request.ts";

// Stores the patients of practice software under their names there. Every item is the complete state of its patient, and the newest
// one counts, so that batches may arrive twice and in any order.

/** Stores the items. Run it in a transaction. */
export async function syncPatients(
  session: Session,
  request: SyncRequest<ReadPatient | RefusedItem>,
): Promise<SyncResult> {
  const { now, clock } = request;
  const { result } = await inBatch(session, batchOf(request), async (batch) => {
    // A client of the clinic has synchronised if its practice software does.
    const context: StoreContext = { now, clock, served: null, batch };
    const owners = await storeOwners(session, request, context);
    return storeEach(request.items, async (item) => storeItem(session, item, owners, request, context));
  });
  return result;
}

type StoredOwner = Awaited<ReturnType<typeof storeOwner>>;

/** The time of an item without one, which counts when it arrives. */
const ALWAYS = Number.POSITIVE_INFINITY;

/** Stores each owner once, with the newest facts that an item of the request has. */
async function storeOwners(
  session: Session,
  request: SyncRequest<ReadPatient | RefusedItem>,
  context: StoreContext,
): Promise<ReadonlyMap<string, StoredOwner>> {
  const newest = new Map<string, { owner: SyncedOwner; updatedAt: number | null }>();
  for (const item of request.items) {
    if ("faults" in item || item.patient === null) continue;
    const { owner } = item.patient;
    const other = newest.get(owner.externalId);
    if (other !== undefined && (other.updatedAt ?? ALWAYS) > (item.updatedAt ?? ALWAYS)) continue;
    newest.set(owner.externalId, { owner, updatedAt: item.updatedAt });
  }
  const stored = new Map<string, StoredOwner>();
  for (const [externalId, named] of newest) stored.set(externalId, await storeOwner(session, named, request, context));
  return stored;
}

async function storeItem(
  session: Session,
  item: ReadPatient | RefusedItem,
  owners: ReadonlyMap<string, StoredOwner>,
  request: SyncRequest<unknown>,
  context: StoreContext,
): Promise<StoredItem> {
  if ("faults" in item) return { fp: null, outcome: "rejected", errors: [...item.faults] };
  const name = { clinicId: request.clinicId, source: request.source, externalId: item.externalId };
  const before = await findNamed(session, name);
  const storedAt = before?.source_updated_at ?? null;
  if (before !== undefined && storedAt !== null && isOlder(item.updatedAt, storedAt)) {
    return olderItem(storedAt, before.fp, before);
  }
  const updatedAt = laterOf(item.updatedAt, storedAt);
  const { fp, outcome } =
    item.patient === null
      ? await remove(session, name, { before, updatedAt }, context)
      : await store(session, name, { before, updatedAt, patient: item.patient, owners }, context);
  if (outcome !== "unchanged" && fp !== null) await auditItem(session, `sync: patient ${outcome}`, fp, request);
  return { fp, outcome, errors: [], before };
}

async function store(
  session: Session,
  name: SourceName,
  { before, updatedAt, patient, owners }: PatientToStore,
  context: StoreContext,
): Promise<{ fp: string; outcome: SyncOutcome }> {
  const owner = owners.get(patient.owner.externalId);
  if (owner === undefined) throw new Error("the owner of an item is missing");
  const fp = before?.fp ?? newFp("patient");
  const isBack = before?.removed === 1;
  const { breed, date_of_birth, weight_kg, deceasedAt, identifiers } = patient;
  const facts = { name: patient.name, breed, date_of_birth, weight_kg, ...storedWords(patient) };
  const { id, change } = await storeAnimal(
    session,
    {
      ...{ fp, ...facts, identifiers, owner_customer_id: owner.id, owner_customer_fp: owner.fp },
      deceased_at: deceasedAt,
      // A patient that somebody else removed stays removed.
      deleted_at: isBack ? null : undefined,
    },
    context,
  );
  const isNew = before?.patient_id == null;
  if (isNew || isBack) {
    const animal = { id, fp, species: facts.species };
    await connectAnimal(session, { clinicId: name.clinicId, patient: animal, active: true }, context);
  }
  if (isNew || isBack || updatedAt !== before.source_updated_at) {
    await namePatient(session, { ...name, patientId: id, updatedAt, removed: false }, context);
  }
  if (isNew) return { fp, outcome: "created" };
  return { fp, outcome: change === "changed" || isBack || owner.outcome === "updated" ? "updated" : "unchanged" };
}

interface PatientToStore {
  readonly before: NamedPatient | undefined;
  readonly updatedAt: number | null;
  readonly patient: SyncedPatient;
  readonly owners: ReadonlyMap<string, StoredOwner>;
}

/** Removes a patient. Other clinics that are connected to it keep it. */
async function remove(
  session: Session,
  name: SourceName,
  { before, updatedAt }: { before: NamedPatient | undefined; updatedAt: number | null },
  context: StoreContext,
): Promise<{ fp: string | null; outcome: SyncOutcome }> {
  // The name of an unknown patient stays, so that an older item that comes later does not bring it back.
  const isNews =
    before === undefined ? updatedAt !== null : before.removed === 0 || updatedAt !== before.source_updated_at;
  const patientId = before?.patient_id ?? null;
  if (isNews) await namePatient(session, { ...name, patientId, updatedAt, removed: true }, context);
  const fp = before?.fp ?? null;
  if (fp === null || patientId === null || before?.removed === 1) return { fp, outcome: "unchanged" };
  const { clinicId } = name;
  const others = await session.first(otherClinic, { clinicId, patientId });
  if (others === undefined) await removeAnimal(session, fp, context);
  else {
    const patient = { id: patientId, fp, species: others.species };
    await connectAnimal(session, { clinicId, patient, active: false }, context);
  }
  return { fp, outcome: "deleted" };
}

const otherClinic = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("clinic_patient")
    .select("patient_species as species")
    .where("patient_id", "=", p.patientId)
    .where("clinic_id", "!=", p.clinicId)
    .where("active", "=", 1)
    .limit(1),
);
