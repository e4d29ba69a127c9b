import { newFp } from "../../../../shared/api/fp.ts";
import type { OwnerFacts } from "../../../dashboard/types/animals.ts";
import { type Refusal, refusal } from "../../../dashboard/types/refusals.ts";
import type { Session } from "../../../database/query.ts";
import { setConnection, stampAndRelist } from "../../patients/connections.ts";
import { type Animal, identifiersOf, patientByFp, removeAnimal, storeAnimal } from "../animals.ts";
import type { StoreContext } from "../batches.ts";
import { ownerId, storeOwnerFacts } from "../owners.ts";
import { isShared, ownerOfClinic } from "./edited-animal.ts";
import type { ReadAnimal } from "./typed-animal.ts";

// What a user writes about an animal of the clinic. The caller has checked that the clinic sees the animal. Run each in a transaction.

/** The clinic and the clock of a write. */
export interface HandContext {
  readonly clinicId: number;
  readonly now: number;
  readonly clock: () => number;
}

/** Adds an animal and connects the clinic to it. @returns its fp; undefined if the clinic sees no animal of the owner */
export async function addAnimal(
  session: Session,
  animal: ReadAnimal,
  context: HandContext,
): Promise<{ fp: string; ownerFp: string } | undefined> {
  const owner = await storedOwner(session, animal.owner, context);
  if (owner === undefined) return undefined;
  const fp = newFp("patient");
  const { id } = await storeAnimal(session, animalOf(fp, animal, owner), storeContext(context));
  await setConnection(session, {
    clinicId: context.clinicId,
    patient: { id, fp, species: animal.species },
    active: true,
  });
  await stampAndRelist(session, id, context.clock(), true);
  return { fp, ownerFp: owner.fp };
}

/** Changes the facts of an animal. @returns undefined if the clinic sees no animal of the owner */
export async function editAnimal(
  session: Session,
  fp: string,
  animal: ReadAnimal,
  context: HandContext,
): Promise<{ ownerFp: string } | undefined> {
  const owner = await storedOwner(session, animal.owner, context);
  if (owner === undefined) return undefined;
  await storeAnimal(session, animalOf(fp, animal, owner), storeContext(context));
  return { ownerFp: owner.fp };
}

/** Notes when an animal died; null for one that lives. */
export async function setDeceased(
  session: Session,
  fp: string,
  deceased_at: number | null,
  context: HandContext,
): Promise<void> {
  await storeChanged(session, fp, { deceased_at }, context);
}

/** Removes an animal that no other clinic sees. @returns why it stays, else null */
export async function removeByHand(
  session: Session,
  { id, fp }: { readonly id: number; readonly fp: string },
  context: HandContext,
): Promise<Refusal | null> {
  if (await isShared(session, id, context.clinicId)) return refusal("PATIENT.SHARED");
  await removeAnimal(session, fp, storeContext(context));
  return null;
}

/** Brings a removed animal back, with its results. */
export async function restoreAnimal(session: Session, fp: string, context: HandContext): Promise<void> {
  await storeChanged(session, fp, { deleted_at: null }, context);
}

function storeContext({ now, clock }: HandContext): StoreContext {
  return { now, clock, served: null, batch: null };
}

function animalOf(fp: string, animal: ReadAnimal, owner: { id: number; fp: string }): Animal {
  const { owner: _owner, ...facts } = animal;
  return { fp, ...facts, owner_customer_id: owner.id, owner_customer_fp: owner.fp };
}

async function storeChanged(
  session: Session,
  fp: string,
  changed: Pick<Animal, "deceased_at" | "deleted_at">,
  context: HandContext,
): Promise<void> {
  const stored = await session.first(patientByFp, { fp });
  if (stored === undefined) throw new Error("the animal is missing");
  const { id, created_at: _created, updated_at: _updated, deceased_at: _died, deleted_at: _deleted, ...facts } = stored;
  const identifiers = await session.all(identifiersOf, { patientId: id });
  await storeAnimal(session, { ...facts, identifiers, ...changed }, storeContext(context));
}

async function storedOwner(
  session: Session,
  owner: { readonly fp: string } | OwnerFacts,
  { clinicId }: HandContext,
): Promise<{ id: number; fp: string } | undefined> {
  if ("fp" in owner) return ownerOfClinic(session, clinicId, owner.fp);
  const fp = newFp("customer");
  const id = await ownerId(session, fp);
  await storeOwnerFacts(session, id, owner, { batch: null });
  return { id, fp };
}
