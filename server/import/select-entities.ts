import { query, type Session } from "../database/query.ts";
import type { Entity } from "./lines.ts";

// The part of an export that concerns one clinic, or one owner of it.

export interface Selection {
  readonly clinicFp: string;
  /** Null for the complete clinic. */
  readonly ownerFp: string | null;
}

/** Selects the entities of a clinic, or of an owner with its animals. The entities come in the order of an export. */
export async function* selectEntities(
  session: Session,
  entities: AsyncIterable<Entity>,
  { clinicFp, ownerFp }: Selection,
): AsyncGenerator<Entity> {
  const animals = await session.all(ownerFp === null ? animalsOfClinic : animalsOfOwner, {
    ...{ clinicFp, ownerFp: ownerFp ?? "" },
  });
  const patients = new Set(animals.map(({ fp }) => fp));
  const owners = new Set(animals.map(({ owner }) => owner));
  if (ownerFp !== null) owners.add(ownerFp);
  // Their lines precede those that name them.
  const named = new Set<string>();
  for await (const entity of entities) {
    if (!isOf(entity, { clinicFp, isWhole: ownerFp === null, patients, owners, named })) continue;
    if ("fp" in entity) named.add(entity.fp);
    yield entity;
  }
}

interface Selected {
  readonly clinicFp: string;
  readonly isWhole: boolean;
  readonly patients: ReadonlySet<string>;
  readonly owners: ReadonlySet<string>;
  readonly named: ReadonlySet<string>;
}

function isOf(entity: Entity, { clinicFp, isWhole, patients, owners, named }: Selected): boolean {
  switch (entity.type) {
    case "clinic":
      return entity.fp === clinicFp;
    case "user":
    case "inventory_item":
      return isWhole && entity.clinic_fp === clinicFp;
    case "inventory_batch":
    case "stock_movement":
      return isWhole && named.has(entity.item_fp);
    case "customer":
      return owners.has(entity.fp);
    case "customer_source":
      return entity.clinic_fp === clinicFp && (isWhole || owners.has(entity.customer_fp));
    case "patient":
      return patients.has(entity.fp);
    case "connection":
      return entity.clinic_fp === clinicFp && patients.has(entity.patient_fp);
    case "patient_source":
      return entity.clinic_fp === clinicFp && (isWhole || patients.has(entity.patient_fp ?? ""));
    case "study":
      return patients.has(entity.patient_fp);
    case "soap":
      return patients.has(entity.patient_fp);
    case "calendar_event":
      return entity.clinic_fp === clinicFp && (isWhole || patients.has(entity.patient_fp ?? ""));
    case "event_source":
      return entity.clinic_fp === clinicFp && (isWhole || named.has(entity.event_fp ?? ""));
  }
}

interface Of {
  clinicFp: string;
  ownerFp: string;
}

const animalsOfClinic = query((db, p: Of) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .innerJoin("clinic", "clinic.id", "clinic_patient.clinic_id")
    .select(["patient.fp", "customer.fp as owner"])
    .where("clinic.fp", "=", p.clinicFp)
    .where("clinic_patient.active", "=", 1),
);

const animalsOfOwner = query((db, p: Of) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .innerJoin("clinic", "clinic.id", "clinic_patient.clinic_id")
    .select(["patient.fp", "customer.fp as owner"])
    .where("clinic.fp", "=", p.clinicFp)
    .where("clinic_patient.active", "=", 1)
    .where("customer.fp", "=", p.ownerFp),
);
