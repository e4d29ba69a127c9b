import { query, type Session, uncachedWrite } from "../../database/query.ts";

// Patients and owners by their names in the practice software of a clinic: (source, external id).

export interface SourceName {
  readonly clinicId: number;
  readonly source: string;
  readonly externalId: string;
}

/** What is stored of a patient under its name. */
export interface NamedPatient {
  readonly patient_id: number | null;
  readonly fp: string | null;
  readonly source_updated_at: number | null;
  readonly removed: number;
  readonly updated_at: number | null;
}

export async function findNamed(session: Session, name: SourceName): Promise<NamedPatient | undefined> {
  return session.first(named, name);
}

/** Keeps which patient a name stands for. `patientId` is null for one that was removed before it came. */
export async function namePatient(
  session: Session,
  entry: SourceName & { patientId: number | null; updatedAt: number | null; removed: boolean },
): Promise<void> {
  await session.all(nameOfPatient, { ...entry, removed: entry.removed ? 1 : 0 });
}

export async function findNamedOwner(
  session: Session,
  name: SourceName,
): Promise<{ customer_id: number; fp: string; source_updated_at: number | null } | undefined> {
  return session.first(namedOwner, name);
}

export async function nameOwner(
  session: Session,
  entry: SourceName & { customerId: number; updatedAt: number | null },
): Promise<void> {
  await session.all(nameOfOwner, entry);
}

const named = query((db, p: SourceName) =>
  db
    .selectFrom("patient_source")
    .leftJoin("patient", "patient.id", "patient_source.patient_id")
    .select(["patient_source.patient_id", "patient.fp", "patient.updated_at"])
    .select(["patient_source.source_updated_at", "patient_source.removed"])
    .where("patient_source.clinic_id", "=", p.clinicId)
    .where("patient_source.source", "=", p.source)
    .where("patient_source.external_id", "=", p.externalId),
);

const nameOfPatient = uncachedWrite(
  (db, p: SourceName & { patientId: number | null; updatedAt: number | null; removed: number }) =>
    db
      .insertInto("patient_source")
      .values({
        clinic_id: p.clinicId,
        source: p.source,
        external_id: p.externalId,
        patient_id: p.patientId,
        source_updated_at: p.updatedAt,
        removed: p.removed,
      })
      .onConflict((conflict) =>
        conflict
          .columns(["clinic_id", "source", "external_id"])
          .doUpdateSet({ patient_id: p.patientId, source_updated_at: p.updatedAt, removed: p.removed }),
      ),
);

const namedOwner = query((db, p: SourceName) =>
  db
    .selectFrom("customer_source")
    .innerJoin("customer", "customer.id", "customer_source.customer_id")
    .select(["customer_source.customer_id", "customer.fp", "customer_source.source_updated_at"])
    .where("customer_source.clinic_id", "=", p.clinicId)
    .where("customer_source.source", "=", p.source)
    .where("customer_source.external_id", "=", p.externalId),
);

const nameOfOwner = uncachedWrite((db, p: SourceName & { customerId: number; updatedAt: number | null }) =>
  db
    .insertInto("customer_source")
    .values({
      clinic_id: p.clinicId,
      source: p.source,
      external_id: p.externalId,
      customer_id: p.customerId,
      source_updated_at: p.updatedAt,
    })
    .onConflict((conflict) =>
      conflict.columns(["clinic_id", "source", "external_id"]).doUpdateSet({ source_updated_at: p.updatedAt }),
    ),
);
