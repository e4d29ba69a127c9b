import { query, type Session, uncachedWrite } from "../database/query.ts";
import { customerByFp, ownerId, storeOwnerFacts } from "../records/registry/owners.ts";
import { nameOwner } from "../records/registry/sources.ts";
import type { Change } from "../records/registry/animals.ts";
import { missing } from "./context.ts";
import type { ClinicLine, CustomerLine, CustomerSourceLine, UserLine } from "./lines.ts";

// Stores clinics, users and customers.

export async function storeClinic(session: Session, { fp, name }: ClinicLine): Promise<Change> {
  const stored = await session.first(clinicByFp, { fp });
  if (stored?.name === name) return "unchanged";
  await session.all(upsertClinic, { fp, name });
  return stored === undefined ? "new" : "changed";
}

export async function storeUser(
  session: Session,
  { fp, name, clinic_fp }: UserLine,
): Promise<Change | { problem: string }> {
  const clinic = await session.first(clinicByFp, { fp: clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", clinic_fp);
  const stored = await session.first(userByFp, { fp });
  if (stored?.name === name && stored.clinic_id === clinic.id) return "unchanged";
  await session.all(upsertUser, { fp, name, clinicId: clinic.id });
  return stored === undefined ? "new" : "changed";
}

export async function storeCustomer(session: Session, { fp, locale, ...line }: CustomerLine): Promise<Change> {
  const stored = await session.first(customerByFp, { fp });
  const id = stored?.id ?? (await ownerId(session, fp));
  const { name, phone, email, language } = line;
  const facts = { name, phone, email, language, time_zone: locale?.time_zone };
  const isChanged = await storeOwnerFacts(session, id, facts, { batch: null });
  if (stored === undefined) return "new";
  return isChanged ? "changed" : "unchanged";
}

/** Stores the name of an owner in practice software. */
export async function storeCustomerSource(
  session: Session,
  line: CustomerSourceLine,
): Promise<Change | { problem: string }> {
  const clinic = await session.first(clinicByFp, { fp: line.clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", line.clinic_fp);
  const customer = await session.first(customerByFp, { fp: line.customer_fp });
  if (customer === undefined) return missing("customer_fp", line.customer_fp);
  const name = { clinicId: clinic.id, source: line.source, externalId: line.external_id };
  const updatedAt = line.updated_at === null ? null : Date.parse(line.updated_at);
  return nameOwner(session, { ...name, customerId: customer.id, updatedAt }, { batch: null });
}

export const clinicByFp = query((db, p: { fp: string }) =>
  db.selectFrom("clinic").select(["id", "name"]).where("fp", "=", p.fp),
);

// Responses show only the fp of clinics, users and customers, which never changes.
const upsertClinic = uncachedWrite((db, p: { fp: string; name: string }) =>
  db
    .insertInto("clinic")
    .values({ fp: p.fp, name: p.name })
    .onConflict((conflict) => conflict.column("fp").doUpdateSet({ name: p.name })),
);

export const userByFp = query((db, p: { fp: string }) =>
  db.selectFrom("user").select(["id", "name", "clinic_id"]).where("fp", "=", p.fp),
);

const upsertUser = uncachedWrite((db, p: { fp: string; name: string; clinicId: number }) =>
  db
    .insertInto("user")
    .values({ fp: p.fp, name: p.name, clinic_id: p.clinicId })
    .onConflict((conflict) => conflict.column("fp").doUpdateSet({ name: p.name, clinic_id: p.clinicId })),
);
