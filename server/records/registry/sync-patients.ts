import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { newFp } from "../../../shared/api/fp.ts";
import type { SyncAnswer, SyncFault, SyncOutcome } from "./sync-messages.ts";
import { query, type Session } from "../../database/query.ts";
import { insertRow } from "../audit/audit.ts";
import { setConnection, stampAndRelist } from "../patients/connections.ts";
import { storedWords } from "./animal-checks.ts";
import { removeAnimal, type StoreContext, storeAnimal } from "./animals.ts";
import { ownerId, storeOwnerFacts } from "./owners.ts";
import { findNamed, findNamedOwner, nameOwner, type NamedPatient, namePatient, type SourceName } from "./sources.ts";
import type { ReadItem, RefusedItem, SyncedOwner, SyncedPatient } from "./sync-items.ts";

// Stores the patients of practice software under their names there. Every item is the complete state of its patient, and the newest
// one counts, so that batches may arrive twice and in any order.

/** Items that are stored in one turn of the event loop. */
const ITEMS_PER_TURN = 10;

/** The request that brings the items. */
export interface SyncRequest {
  readonly clinicId: number;
  readonly source: string;
  readonly items: readonly (ReadItem | RefusedItem)[];
  readonly now: number;
  readonly clock: () => number;
  readonly by: { readonly requestId: string; readonly keyId: number; readonly address: string };
}

type ItemAnswer = SyncAnswer["items"][number];

/** Stores the items. Run it in a transaction. @returns the outcomes, and a digest that is the same while they would be the same */
export async function syncPatients(
  session: Session,
  request: SyncRequest,
): Promise<{ items: ItemAnswer[]; stateDigest: string }> {
  const owners = await storeOwners(session, request);
  const items: ItemAnswer[] = [];
  const state = createHash("sha256");
  for (const [index, item] of request.items.entries()) {
    const { before, ...stored } = await storeItem(session, item, owners, request);
    items.push({ index, external_id: item.externalId, ...stored });
    const fp = stored.outcome === "created" ? null : stored.fp;
    state.update(JSON.stringify([item.externalId, stored.outcome, fp, before ?? null]));
    // On SQLite no query gives up the turn, and other requests would wait for all items.
    if (index % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
  }
  return { items, stateDigest: state.digest("hex") };
}

/** An owner of the request, stored. */
interface StoredOwner {
  readonly id: number;
  readonly fp: string;
  readonly isChanged: boolean;
}

/** The time of an item without one, which counts when it arrives. */
const ALWAYS = Number.POSITIVE_INFINITY;

/** Stores each owner once, with the newest facts that an item of the request has. */
async function storeOwners(session: Session, request: SyncRequest): Promise<ReadonlyMap<string, StoredOwner>> {
  const newest = new Map<string, { owner: SyncedOwner; updatedAt: number | null }>();
  for (const item of request.items) {
    if ("faults" in item || item.patient === null) continue;
    const { owner } = item.patient;
    const other = newest.get(owner.externalId);
    if (other !== undefined && (other.updatedAt ?? ALWAYS) > (item.updatedAt ?? ALWAYS)) continue;
    newest.set(owner.externalId, { owner, updatedAt: item.updatedAt });
  }
  const stored = new Map<string, StoredOwner>();
  for (const [externalId, { owner, updatedAt }] of newest) {
    stored.set(externalId, await storeOwner(session, owner, updatedAt, request));
  }
  return stored;
}

async function storeOwner(
  session: Session,
  owner: SyncedOwner,
  updatedAt: number | null,
  { clinicId, source }: SyncRequest,
): Promise<StoredOwner> {
  const name = { clinicId, source, externalId: owner.externalId };
  const known = await findNamedOwner(session, name);
  const fp = known?.fp ?? newFp("customer");
  const id = known?.customer_id ?? (await ownerId(session, fp));
  if (known !== undefined && isOlder(updatedAt, known.source_updated_at)) return { id, fp, isChanged: false };
  const isChanged = await storeOwnerFacts(session, id, owner);
  const time = laterOf(updatedAt, known?.source_updated_at ?? null);
  if (known === undefined || time !== known.source_updated_at) {
    await nameOwner(session, { ...name, customerId: id, updatedAt: time });
  }
  return { id, fp, isChanged };
}

function isOlder(updatedAt: number | null, stored: number | null): boolean {
  return updatedAt !== null && stored !== null && updatedAt < stored;
}

function laterOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

interface Stored {
  readonly fp: string | null;
  readonly outcome: SyncOutcome;
  readonly errors: SyncFault[];
  readonly before?: NamedPatient | undefined;
}

async function storeItem(
  session: Session,
  item: ReadItem | RefusedItem,
  owners: ReadonlyMap<string, StoredOwner>,
  request: SyncRequest,
): Promise<Stored> {
  if ("faults" in item) return { fp: null, outcome: "rejected", errors: [...item.faults] };
  const name = { clinicId: request.clinicId, source: request.source, externalId: item.externalId };
  const before = await findNamed(session, name);
  if (before !== undefined && isOlder(item.updatedAt, before.source_updated_at)) {
    const message = `updated_at is older than the stored ${new Date(before.source_updated_at ?? 0).toISOString()}`;
    return { fp: before.fp, outcome: "unchanged", errors: [{ field: "updated_at", code: "older", message }], before };
  }
  const updatedAt = laterOf(item.updatedAt, before?.source_updated_at ?? null);
  const { fp, outcome } =
    item.patient === null
      ? await remove(session, name, { before, updatedAt }, request)
      : await store(session, name, { before, updatedAt, patient: item.patient, owners }, request);
  if (outcome !== "unchanged" && fp !== null) await note(session, `sync: patient ${outcome}`, fp, request);
  return { fp, outcome, errors: [], before };
}

async function store(
  session: Session,
  name: SourceName,
  { before, updatedAt, patient, owners }: PatientToStore,
  { now, clock, clinicId }: SyncRequest,
): Promise<{ fp: string; outcome: SyncOutcome }> {
  const owner = owners.get(patient.owner.externalId);
  if (owner === undefined) throw new Error("the owner of an item is missing");
  const fp = before?.fp ?? newFp("patient");
  const isBack = before?.removed === 1;
  const { breed, date_of_birth, weight_kg, deceasedAt, identifiers } = patient;
  // A client of the clinic has synchronised if its practice software does.
  const context: StoreContext = { now, clock, served: null };
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
    const connected = await setConnection(session, {
      clinicId,
      patient: { id, fp, species: facts.species },
      active: true,
    });
    if (connected !== "unchanged") await stampAndRelist(session, id, clock(), isNew);
  }
  if (isNew || isBack || updatedAt !== before.source_updated_at) {
    await namePatient(session, { ...name, patientId: id, updatedAt, removed: false });
  }
  if (isNew) return { fp, outcome: "created" };
  return { fp, outcome: change === "changed" || isBack || owner.isChanged ? "updated" : "unchanged" };
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
  { now, clock, clinicId }: SyncRequest,
): Promise<{ fp: string | null; outcome: SyncOutcome }> {
  // The name of an unknown patient stays, so that an older item that comes later does not bring it back.
  const isNews =
    before === undefined ? updatedAt !== null : before.removed === 0 || updatedAt !== before.source_updated_at;
  const patientId = before?.patient_id ?? null;
  if (isNews) await namePatient(session, { ...name, patientId, updatedAt, removed: true });
  const fp = before?.fp ?? null;
  if (fp === null || patientId === null || before?.removed === 1) return { fp, outcome: "unchanged" };
  const others = await session.first(otherClinic, { clinicId, patientId });
  if (others === undefined) await removeAnimal(session, fp, { now, clock, served: null });
  else {
    await setConnection(session, { clinicId, patient: { id: patientId, fp, species: others.species }, active: false });
    await stampAndRelist(session, patientId, clock());
  }
  return { fp, outcome: "deleted" };
}

/** Adds what the key changed to the audit. */
async function note(session: Session, route: string, fp: string, { now, by }: SyncRequest): Promise<void> {
  const request = { request_id: by.requestId, api_key_id: by.keyId, address: by.address };
  const nobody = { user_id: null, clinic_id: null };
  await insertRow(session, {
    ...{ at: now, method: "COMMAND", route, fp, count: null, status: null, times: 1, ...request, ...nobody },
  });
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
