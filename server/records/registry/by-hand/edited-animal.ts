import { createHash } from "node:crypto";
import type { EditedAnimal, NumberType, RemovedAnimals } from "../../../dashboard/types/animals.ts";
import type { PatientOverview } from "../../../dashboard/types/patients.ts";
import { query, type Session } from "../../../database/query.ts";
import { identifiersOf, patientByFp } from "../animals.ts";
import { readOwnerFacts } from "../owners.ts";

// Animals and owners of a clinic as a user edits them.

/** Reads an animal for its form. The caller has checked that the clinic sees it. */
export async function readEditedAnimal(
  session: Session,
  { clinicId, fp }: { clinicId: number; fp: string },
): Promise<EditedAnimal> {
  const stored = await session.first(patientByFp, { fp });
  if (stored === undefined) throw new Error("the animal is missing");
  const { id, name, breed, sex, date_of_birth, weight_kg, owner_customer_id, owner_customer_fp } = stored;
  const numbers = await session.all(identifiersOf, { patientId: id });
  const identifiers = numbers.map(({ identifier, type }) => ({ type: type as NumberType | null, value: identifier }));
  const facts = { name, species: stored.precise_species ?? stored.species, breed, sex, date_of_birth, weight_kg };
  const owner = await readOwnerFacts(session, owner_customer_id);
  const animals = await session.all(animalsOfOwner, { clinicId, ownerId: owner_customer_id });
  return {
    animal: { ...facts, identifiers, owner: { fp: owner_customer_fp } },
    version: versionOf([facts, identifiers, owner_customer_fp]),
    owner: {
      fp: owner_customer_fp,
      name: owner.name,
      phone: owner.phone,
      animals: animals.filter((each) => each.fp !== fp).map((each) => each.name),
    },
    is_shared: await isShared(session, id, clinicId),
    sources: (await session.all(sourcesOf, { clinicId, patientId: id })).map(({ source }) => source),
  };
}

/** Reads what the page of an animal shows of its owner. The clinic sees the animal. @returns undefined for a missing one */
export async function describeOwner(
  session: Session,
  { clinicId, fp }: { clinicId: number; fp: string },
): Promise<Pick<PatientOverview, "owner" | "siblings" | "is_shared"> | undefined> {
  const stored = await session.first(patientByFp, { fp });
  if (stored === undefined) return undefined;
  const { id, owner_customer_id: ownerId } = stored;
  const facts = await readOwnerFacts(session, ownerId);
  const animals = await session.all(animalsOfOwner, { clinicId, ownerId });
  return {
    owner: { fp: stored.owner_customer_fp, ...facts, version: versionOf(facts) },
    siblings: animals
      .filter((animal) => animal.fp !== fp)
      .map(({ precise_species, ...animal }) => ({ ...animal, species: precise_species ?? animal.species })),
    is_shared: await isShared(session, id, clinicId),
  };
}

/** Finds an owner of whom the clinic sees an animal. */
export async function ownerOfClinic(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<{ id: number; fp: string } | undefined> {
  return session.first(ownerWithAnimal, { clinicId, fp });
}

/** Whether another clinic sees the animal. */
export async function isShared(session: Session, patientId: number, clinicId: number): Promise<boolean> {
  return (await session.first(otherClinic, { patientId, clinicId })) !== undefined;
}

/** Identifies what a user saw, so that nobody overwrites the change of another user unseen. */
export function versionOf(seen: unknown): string {
  return createHash("sha256").update(JSON.stringify(seen)).digest("hex");
}

/** Removed animals that a list shows, the last removed first. */
const REMOVED_MAX = 100;

export async function listRemovedAnimals(session: Session, clinicId: number): Promise<RemovedAnimals> {
  const rows = await session.all(removedAnimals, { clinicId });
  return {
    animals: rows.map(({ fp, name, species, precise_species, owner_name, deleted_at }) => ({
      ...{ fp, name, species: precise_species ?? species, owner_name },
      removed_at: new Date(deleted_at ?? 0).toISOString(),
    })),
  };
}

/** Whether the clinic may bring the animal back: it is removed, and the clinic's connection to it is open. */
export async function findRemoved(session: Session, clinicId: number, fp: string): Promise<{ id: number } | undefined> {
  return session.first(removedAnimal, { clinicId, fp });
}

const ownerWithAnimal = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("customer")
    .innerJoin("patient", "patient.owner_customer_id", "customer.id")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .select(["customer.id", "customer.fp"])
    .where("customer.fp", "=", p.fp)
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .limit(1),
);

const animalsOfOwner = query((db, p: { clinicId: number; ownerId: number }) =>
  db
    .selectFrom("patient")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .select(["patient.fp", "patient.name", "patient.species", "patient.precise_species"])
    .where("patient.owner_customer_id", "=", p.ownerId)
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .orderBy("patient.name")
    .orderBy("patient.fp")
    .limit(50),
);

const sourcesOf = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("patient_source")
    .select("source")
    .distinct()
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "=", p.patientId)
    .where("removed", "=", 0)
    .orderBy("source"),
);

const removedAnimals = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .select(["patient.fp", "patient.name", "patient.species", "patient.precise_species", "patient.deleted_at"])
    .select("customer.name as owner_name")
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 0)
    .where("clinic_patient.active", "=", 1)
    .where("patient.deleted_at", "is not", null)
    // A merged animal comes back by the undo of the merge, with its results.
    .where("patient.merged_into_id", "is", null)
    .orderBy("patient.deleted_at", "desc")
    .orderBy("patient.fp")
    .limit(REMOVED_MAX),
);

const removedAnimal = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
    .select("patient.id")
    .where("patient.fp", "=", p.fp)
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.active", "=", 1)
    .where("patient.deleted_at", "is not", null)
    .where("patient.merged_into_id", "is", null),
);

const otherClinic = query((db, p: { patientId: number; clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .select("clinic_id")
    .where("patient_id", "=", p.patientId)
    .where("clinic_id", "!=", p.clinicId)
    .where("active", "=", 1)
    .limit(1),
);
