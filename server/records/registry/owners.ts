import { query, type Session, uncachedWrite } from "../../database/query.ts";

// Owners of animals. Responses of /api/v1 show the fp alone, so that a write changes no cached response.

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

/** What people of the clinic know of an owner. */
export interface OwnerFacts {
  readonly name: string;
  readonly phone: string | null;
  readonly email: string | null;
}

/** Stores the facts of an owner. @returns whether they changed */
export async function storeOwnerFacts(session: Session, id: number, facts: OwnerFacts): Promise<boolean> {
  const stored = await session.first(ownerFacts, { id });
  const { name, phone, email } = facts;
  if (stored?.name === name && stored.phone === phone && stored.email === email) return false;
  await session.all(updateFacts, { id, name, phone, email });
  return true;
}

const ownerFacts = query((db, p: { id: number }) =>
  db.selectFrom("customer").select(["name", "phone", "email"]).where("id", "=", p.id),
);

const updateFacts = uncachedWrite((db, p: OwnerFacts & { id: number }) =>
  db.updateTable("customer").set({ name: p.name, phone: p.phone, email: p.email }).where("id", "=", p.id),
);
