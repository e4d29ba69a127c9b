import type { OwnerFacts } from "../../dashboard/types/animals.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// Owners of animals. Responses of /api/v1 show the fp alone.

/** @returns the id of the owner with this fp, who is created without a name if nobody is known */
export async function ownerId(session: Session, fp: string): Promise<number> {
  const stored = (await session.first(customerByFp, { fp })) ?? (await session.first(insertCustomer, { fp }));
  if (stored === undefined) throw new Error("an insert returned no row");
  return stored.id;
}

export const customerByFp = query((db, p: { fp: string }) =>
  db.selectFrom("customer").select(["id", "time_zone"]).where("fp", "=", p.fp),
);

// A concurrent line may have created the customer in the meantime.
const insertCustomer = uncachedWrite((db, p: { fp: string }) =>
  db
    .insertInto("customer")
    .values({ fp: p.fp })
    .onConflict((conflict) => conflict.column("fp").doUpdateSet({ fp: p.fp }))
    .returning("id"),
);

/** Stores facts of an owner; those that a door does not bring stay. @returns whether they changed */
export async function storeOwnerFacts(session: Session, id: number, facts: Partial<OwnerFacts>): Promise<boolean> {
  const stored = await readOwnerFacts(session, id);
  const names = Object.keys(stored) as (keyof OwnerFacts)[];
  const changed = names.filter((name) => facts[name] !== undefined && facts[name] !== stored[name]);
  if (changed.length === 0) return false;
  const clinics = (await session.all(clinicsOfOwner, { id })).map(({ clinic_id }) => clinic_id);
  await session.all(updateFacts, { ...stored, ...facts, id, clinics });
  return true;
}

export async function readOwnerFacts(session: Session, id: number): Promise<OwnerFacts> {
  const facts = await session.first(ownerFacts, { id });
  if (facts === undefined) throw new Error("the owner is missing");
  return facts;
}

const ownerFacts = query((db, p: { id: number }) =>
  db.selectFrom("customer").select(["name", "phone", "email", "language", "time_zone"]).where("id", "=", p.id),
);

const clinicsOfOwner = query((db, p: { id: number }) =>
  db
    .selectFrom("patient")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .select("clinic_patient.clinic_id")
    .distinct()
    .where("patient.owner_customer_id", "=", p.id),
);

// The dashboard searches patients by their owners, in lists that stay in memory until their version changes.
const updateFacts = query(
  (db, p: OwnerFacts & { id: number; clinics: readonly number[] }) =>
    db
      .updateTable("customer")
      .set({ name: p.name, phone: p.phone, email: p.email, language: p.language, time_zone: p.time_zone })
      .where("id", "=", p.id),
  ({ clinics }) => ({ clinics, lists: true }),
);
