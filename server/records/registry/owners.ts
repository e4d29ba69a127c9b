import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { isRecorded, record, type RecordedKind, type StoreContext, subjectOf } from "./batches.ts";

// Owners of animals. Responses of /api/v1 show the fp alone, so that a write changes no cached response.

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

const NOTHING_KNOWN = { name: null, phone: null, email: null };

export const customerByFp = query((db, p: { fp: string }) =>
  db.selectFrom("customer").select(["id", "time_zone", "name", "phone", "email"]).where("fp", "=", p.fp),
);

// A concurrent line may have created the customer in the meantime.
const insertCustomer = uncachedWrite((db, p: { fp: string }) =>
  db
    .insertInto("customer")
    .values({ fp: p.fp })
    .onConflict((conflict) => conflict.column("fp").doUpdateSet({ fp: p.fp }))
    .returning("id"),
);

/** What people of the clinic know of an owner. */
export interface OwnerFacts {
  readonly name: string | null;
  readonly phone: string | null;
  readonly email: string | null;
}

/** Stores the facts of an owner. @returns whether they changed */
export async function storeOwnerFacts(
  session: Session,
  id: number,
  facts: OwnerFacts,
  { batch }: Pick<StoreContext, "batch">,
): Promise<boolean> {
  const stored = await session.first(ownerFacts, { id });
  if (stored === undefined) throw new Error("the owner is not stored");
  const { fp, ...before } = stored;
  const { name, phone, email } = facts;
  if (before.name === name && before.phone === phone && before.email === email) return false;
  await session.all(updateFacts, { id, name, phone, email });
  await record(session, batch, { kind: ownersOfAnimals, subject: fp, before, after: { name, phone, email } });
  return true;
}

/** Owners by their fp. */
export const ownersOfAnimals: RecordedKind = {
  name: "owner",
  async read(session, fp) {
    const stored = await session.first(customerByFp, { fp });
    if (stored === undefined) return null;
    const { name, phone, email } = stored;
    return { name, phone, email };
  },
  async restore(session, fp, image, context) {
    if (image !== null) {
      await storeOwnerFacts(session, await ownerId(session, fp), image as unknown as OwnerFacts, context);
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
  db.selectFrom("customer").select(["fp", "name", "phone", "email"]).where("id", "=", p.id),
);

const updateFacts = uncachedWrite((db, p: OwnerFacts & { id: number }) =>
  db.updateTable("customer").set({ name: p.name, phone: p.phone, email: p.email }).where("id", "=", p.id),
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
