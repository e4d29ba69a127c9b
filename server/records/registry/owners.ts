import type { OwnerFacts } from "../../dashboard/types/animals.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { isRecorded, record, type RecordedKind, type StoreContext, subjectOf } from "./batches.ts";

// Owners of animals. Responses of /api/v1 show the fp alone.

/** @returns the id of the owner with this fp, who is created without a name if nobody is known */
export async function ownerId(
  session: Session,
  fp: string,
  { batch }: Pick<StoreContext, "batch"> = { batch: null },
): Promise<number> {
  const known = await session.first(customerByFp, { fp });
  if (known !== undefined) return known.id;
  const stored = await session.first(insertCustomer, { fp });
  if (stored === undefined) throw new Error("an insert returned no row");
  await record(session, batch, { kind: ownersOfAnimals, subject: fp, before: null, after: NOTHING_KNOWN });
  return stored.id;
}

const NOTHING_KNOWN = { name: null, phone: null, email: null, language: null, time_zone: null };

export const customerByFp = query((db, p: { fp: string }) =>
  db.selectFrom("customer").select("id").where("fp", "=", p.fp),
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
export async function storeOwnerFacts(
  session: Session,
  id: number,
  facts: { readonly [Name in keyof OwnerFacts]?: OwnerFacts[Name] | undefined },
  { batch }: Pick<StoreContext, "batch">,
): Promise<boolean> {
  const { fp, ...before } = await readOwner(session, id);
  const names = Object.keys(before) as (keyof OwnerFacts)[];
  const changed = names.filter((name) => facts[name] !== undefined && facts[name] !== before[name]);
  if (changed.length === 0) return false;
  const after = { ...before, ...Object.fromEntries(changed.map((name) => [name, facts[name]])) };
  const clinics = (await session.all(clinicsOfOwner, { id })).map(({ clinic_id }) => clinic_id);
  await session.all(updateFacts, { ...after, id, clinics });
  await record(session, batch, { kind: ownersOfAnimals, subject: fp, before, after: { ...after } });
  return true;
}

/** Forgets the facts of an owner whom no animal has and no practice software names: no page would show them, nor erase them by law. */
export async function forgetFormerOwner(
  session: Session,
  id: number,
  context: Pick<StoreContext, "batch">,
): Promise<void> {
  if ((await session.first(usedOwner, { id })) === undefined)
    await storeOwnerFacts(session, id, NOTHING_KNOWN, context);
}

/** Returns the facts of an owner by its row id. */
export async function readOwnerFacts(session: Session, id: number): Promise<OwnerFacts> {
  const { fp: _fp, ...facts } = await readOwner(session, id);
  return facts;
}

/** Whether the data of an owner were erased, and nothing was stored of it since. */
export async function isErased(session: Session, id: number): Promise<boolean> {
  return (await session.first(erasedOwner, { id })) !== undefined;
}

async function readOwner(session: Session, id: number): Promise<OwnerFacts & { readonly fp: string }> {
  const owner = await session.first(ownerFacts, { id });
  if (owner === undefined) throw new Error("the owner is missing");
  return owner;
}

/** Owners by their fp. */
export const ownersOfAnimals: RecordedKind = {
  name: "owner",
  async read(session, fp) {
    const stored = await session.first(customerByFp, { fp });
    if (stored === undefined) return null;
    return { ...(await readOwnerFacts(session, stored.id)) };
  },
  async restore(session, fp, image, context) {
    if (image !== null) {
      await storeOwnerFacts(session, await ownerId(session, fp), image, context);
      return;
    }
    await session.all(deleteCustomer, { fp });
  },
  async isInUse(session, fp, batchId) {
    for (const { animal } of await session.all(animalsOfOwner, { fp })) {
      if (!(await isRecorded(session, batchId, "animal", animal))) return true;
    }
    for (const { clinic_id, source, external_id } of await session.all(namesOfOwner, { fp })) {
      const subject = subjectOf(clinic_id, source, external_id);
      if (!(await isRecorded(session, batchId, "owner name", subject))) return true;
    }
    return false;
  },
};

const ownerFacts = query((db, p: { id: number }) =>
  db.selectFrom("customer").select(["fp", "name", "phone", "email", "language", "time_zone"]).where("id", "=", p.id),
);

const usedOwner = query((db, p: { id: number }) =>
  db
    .selectFrom("customer")
    .select("id")
    .where("id", "=", p.id)
    .where((where) =>
      where.or([
        where.exists(where.selectFrom("patient").select("id").where("owner_customer_id", "=", p.id)),
        where.exists(where.selectFrom("customer_source").select("customer_id").where("customer_id", "=", p.id)),
      ]),
    ),
);

const erasedOwner = query((db, p: { id: number }) =>
  db.selectFrom("customer").select("id").where("id", "=", p.id).where("erased_at", "is not", null),
);

export const clinicsOfOwner = query((db, p: { id: number }) =>
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
      // Whoever stores facts of an erased owner gives the animals an owner again.
      .set({ erased_at: null })
      .where("id", "=", p.id),
  ({ clinics }) => ({ clinics, lists: true }),
);

const deleteCustomer = uncachedWrite((db, p: { fp: string }) => db.deleteFrom("customer").where("fp", "=", p.fp));

const animalsOfOwner = query((db, p: { fp: string }) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .select("patient.fp as animal")
    .where("customer.fp", "=", p.fp),
);

const namesOfOwner = query((db, p: { fp: string }) =>
  db
    .selectFrom("customer_source")
    .innerJoin("customer", "customer.id", "customer_source.customer_id")
    .select(["clinic_id", "source", "external_id"])
    .where("customer.fp", "=", p.fp),
);
