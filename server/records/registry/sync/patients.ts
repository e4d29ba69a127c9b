import { newFp } from "../../../../shared/api/fp.ts";
import type { Session } from "../../../database/query.ts";
import { storedWords } from "../animal-checks.ts";
import { connectAnimal, storeAnimal } from "../animals.ts";
import type { Batch, StoreContext } from "../batches.ts";
import { nameByChip } from "../same-chip.ts";
import { type NamedPatient, namePatient, ownNameOf, type SourceName } from "../sources.ts";
import { chipOf, type ReadPatient, type RefusedItem, type SyncedOwner, type SyncedPatient } from "./items.ts";
import type { SyncFault, SyncOutcome } from "./messages.ts";
import { storeOwner } from "./owners.ts";
import { removeAbsent, removePatient } from "./removals.ts";
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

// Stores the patients of practice software under their names there. Every item is the complete state of its patient, and the newest
// one counts, so that batches may arrive twice and in any order.

/** Stores the items. Run it in a transaction. */
export async function syncPatients(
  session: Session,
  request: SyncRequest<ReadPatient | RefusedItem>,
): Promise<SyncResult> {
  const { now, clock } = request;
  return withBatch(session, request, async (batch) => {
    // A client of the clinic has synchronised if its practice software does.
    const context: StoreContext = { now, clock, served: null, batch };
    const owners = await storeOwners(session, request, context);
    const stored = await storeEach(request.items, async (item) => storeItem(session, item, owners, request, context));
    const { full } = request;
    return full === null ? stored : { ...stored, absence: await removeAbsent(session, full, request, context) };
  });
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
  const given = { clinicId: request.clinicId, source: request.source, externalId: item.externalId };
  const { name, before: named, met } = await ownNameOf(session, given);
  const isSought = named === undefined && request.isMatchedByChip !== true;
  const before = isSought ? await knownByChip(session, name, item.patient, context) : named;
  if (met.size === 1) return storeNamed(session, item, { name, before, owners }, request, context);
  // The survivor does not go with the patient that was merged into it.
  if (item.patient === null) return { fp: before?.fp ?? null, outcome: "unchanged", errors: [MERGED], before };
  const stored = await storeNamed(session, item, { name, before, owners }, request, context);
  return { ...stored, errors: [MERGED, ...stored.errors] };
}

/** An animal that a user typed or a file brought gets the name of its item. Two doors do not make two animals of one chip. */
export async function knownByChip(
  session: Session,
  name: SourceName,
  patient: SyncedPatient | null,
  { batch = null }: { readonly batch?: Batch | null },
): Promise<NamedPatient | undefined> {
  const chip = patient === null ? null : chipOf(patient);
  if (patient === null || chip === null) return undefined;
  const sought = { chip, species: storedWords(patient).species, called: patient.name };
  return (await nameByChip(session, name, sought, { batch })) ? (await ownNameOf(session, name)).before : undefined;
}

const MERGED: SyncFault = {
  field: "external_id",
  code: "merged",
  message: "external_id was merged into another patient, whose fp this is",
};

async function storeNamed(
  session: Session,
  item: ReadPatient,
  { name, before, owners }: Pick<PatientToStore, "before" | "owners"> & { readonly name: SourceName },
  request: SyncRequest<unknown>,
  context: StoreContext,
): Promise<StoredItem> {
  const storedAt = before?.source_updated_at ?? null;
  if (before !== undefined && storedAt !== null && isOlder(item.updatedAt, storedAt)) {
    return olderItem(storedAt, before.fp, before);
  }
  const updatedAt = laterOf(item.updatedAt, storedAt);
  const { fp, outcome } =
    item.patient === null
      ? await removePatient(session, name, { before, updatedAt }, context)
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
