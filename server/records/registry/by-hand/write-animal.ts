import { newFp } from "../../../../shared/api/fp.ts";
import type { OwnerFacts } from "../../../dashboard/types/animals.ts";
import { type Refusal, refusal } from "../../../dashboard/types/refusals.ts";
import type { Session } from "../../../database/query.ts";
import type { Door } from "../../../database/schema.ts";
import { type Animal, connectAnimal, identifiersOf, patientByFp, removeAnimal, storeAnimal } from "../animals.ts";
import { inBatch, type StoreContext } from "../batches.ts";
import { forgetFormerOwner, ownerId, storeOwnerFacts } from "../owners.ts";
import { isShared, ownerOfClinic } from "./edited-animal.ts";
import type { ReadAnimal } from "./typed-animal.ts";

// The writes of a user about an animal of the clinic. The caller has checked that the clinic sees the animal. Run each in a transaction.

/** The clinic of a write, its clock and its batch. */
export interface HandContext extends StoreContext {
  readonly clinicId: number;
}

/** The user who writes, in a clinic at a time. */
interface Hand {
  readonly clinicId: number;
  readonly userId: number;
  readonly now: number;
  readonly clock: () => number;
}

/** Runs what a user writes in a batch, so that it can be undone. @returns the fp of the batch; null if nothing changed */
export async function byHand<Result>(
  session: Session,
  { clinicId, userId, now, clock }: Hand,
  work: (context: HandContext) => Promise<Result>,
  door: Door = "hand",
): Promise<{ readonly result: Result; readonly batch: string | null }> {
  const opened = { clinicId, door, source: null, by: { userId }, now };
  return inBatch(session, opened, async (batch) => work({ clinicId, now, clock, served: null, batch }));
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
  const { id } = await storeAnimal(session, animalOf(fp, animal, owner), context);
  const patient = { id, fp, species: animal.species };
  await connectAnimal(session, { clinicId: context.clinicId, patient, active: true }, context);
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
  const before = await session.first(patientByFp, { fp });
  await storeAnimal(session, animalOf(fp, animal, owner), context);
  if (before !== undefined) await forgetFormerOwner(session, before.owner_customer_id, context);
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
  await removeAnimal(session, fp, context);
  return null;
}

/** Brings a removed animal back, with its results. */
export async function restoreAnimal(session: Session, fp: string, context: HandContext): Promise<void> {
  await storeChanged(session, fp, { deleted_at: null }, context);
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
  await storeAnimal(session, { ...facts, identifiers, ...changed }, context);
}

async function storedOwner(
  session: Session,
  owner: { readonly fp: string } | OwnerFacts,
  context: HandContext,
): Promise<{ id: number; fp: string } | undefined> {
  if ("fp" in owner) return ownerOfClinic(session, context.clinicId, owner.fp);
  const fp = newFp("customer");
  const id = await ownerId(session, fp, context);
  await storeOwnerFacts(session, id, owner, context);
  return { id, fp };
}
