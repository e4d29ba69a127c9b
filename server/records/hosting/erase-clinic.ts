import { sql } from "kysely";
import { query, type Session } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";
import type { AuditActor } from "../audit/audit.ts";
import { eraseOwner } from "../erasure/erase-owner.ts";

// Erases the owners of a clinic that leaves, in portions: each owner is a transaction. An owner whom another clinic sees too stays, for
// the owner is that clinic's as well.

/** Owners that one request erases. */
const AT_ONCE = 50;

/** Counts the owners whose data only this clinic has. */
export async function countOwnOwners(session: Session, clinicId: number): Promise<number> {
  return (await session.first(countOwn, { clinicId }))?.total ?? 0;
}

interface Erased {
  readonly id: number;
  readonly fp: string;
}

/** @returns the number of owners whose data it erased; null while a file of the clinic is imported */
export async function eraseOwners(
  store: Store,
  {
    clinic,
    actor,
    oldestBackup,
  }: { readonly clinic: Erased; readonly actor: AuditActor; readonly oldestBackup: string | null },
): Promise<number | null> {
  const owners = await store.all(own, { clinicId: clinic.id });
  for (const owner of owners) {
    const erasure = { clinicId: clinic.id, clinicFp: clinic.fp, owner, actor, oldestBackup };
    if ((await store.transaction((session) => eraseOwner(session, erasure))) === null) return null;
  }
  return owners.length;
}

/** The owners with data of whom the clinic has an animal or a name in its software, and no other clinic has either. It begins with the clinic, not with the owners of all. */
const ownOwners = (clinicId: number) => sql<boolean>`
  customer.erased_at is null and customer.id in (
    select patient.owner_customer_id from clinic_patient join patient on patient.id = clinic_patient.patient_id
      where clinic_patient.clinic_id = ${clinicId}
    union
    select customer_source.customer_id from customer_source where customer_source.clinic_id = ${clinicId}
  ) and not exists (select 1 from patient join clinic_patient on clinic_patient.patient_id = patient.id
    where patient.owner_customer_id = customer.id and clinic_patient.clinic_id <> ${clinicId} and clinic_patient.active = 1)
  and not exists (select 1 from customer_source
    where customer_source.customer_id = customer.id and customer_source.clinic_id <> ${clinicId})`;

const countOwn = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("customer")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where(ownOwners(p.clinicId)),
);

const own = query((db, p: { clinicId: number }) =>
  db.selectFrom("customer").select(["id", "fp"]).where(ownOwners(p.clinicId)).orderBy("id").limit(AT_ONCE),
);
