import { isDeepStrictEqual } from "node:util";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type Change, patientByFp } from "./animals.ts";
import { type Image, record, type RecordedKind, type StoreContext, subjectOf } from "./batches.ts";
import { ownerId } from "./owners.ts";

// Patients and owners by their names in the practice software of a clinic: (source, external id).

export interface SourceName {
  readonly clinicId: number;
  readonly source: string;
  readonly externalId: string;
}

/** The stored state of a patient under its name. */
export interface NamedPatient {
  readonly patient_id: number | null;
  readonly fp: string | null;
  readonly source_updated_at: number | null;
  readonly removed: number;
  readonly merged_into: string | null;
  readonly updated_at: number | null;
}

/** A name after the merges. */
export interface OwnName {
  readonly name: SourceName;
  /** The stored state under it. */
  readonly before: NamedPatient | undefined;
  /** The external ids on the way to it, its own included. */
  readonly met: ReadonlySet<string>;
}

/** Follows a name through the merges. */
export async function ownNameOf(session: Session, name: SourceName): Promise<OwnName> {
  const met = new Set<string>();
  for (let next = name; ; ) {
    met.add(next.externalId);
    const before = await session.first(named, next);
    const into = before?.merged_into ?? null;
    // An import may have names that lead in a circle.
    if (into === null || met.has(into)) return { name: next, before, met };
    next = { ...name, externalId: into };
  }
}

interface NameOfAnimal extends SourceName {
  /** Null for one that was removed before it came. */
  readonly patientId: number | null;
  readonly updatedAt: number | null;
  readonly removed: boolean;
  /** The external id into which this one was merged; null for the patient's own. */
  readonly mergedInto?: string | null;
}

/** Lists the names of a patient, by clinic, source and external id. */
export async function listNames(session: Session, patientId: number): Promise<Required<NameOfAnimal>[]> {
  const rows = await session.all(namesOfPatient, { patientId });
  return rows.map(({ removed, ...name }) => ({ ...name, removed: removed === 1 }));
}

/** Lists the names of a source whose patients are neither removed nor merged. */
export async function listOwnNames(
  session: Session,
  source: Pick<SourceName, "clinicId" | "source">,
): Promise<(NamedPatient & { readonly externalId: string })[]> {
  return session.all(ownNames, source);
}

/** Stores the patient that a name means. @returns what changed */
export async function namePatient(
  session: Session,
  entry: NameOfAnimal,
  { batch }: Pick<StoreContext, "batch">,
): Promise<Change> {
  const subject = subjectOf(entry.clinicId, entry.source, entry.externalId);
  const before = await animalNames.read(session, subject);
  await session.all(nameOfPatient, { mergedInto: null, ...entry, removed: entry.removed ? 1 : 0 });
  const after = (await animalNames.read(session, subject)) ?? {};
  await record(session, batch, { kind: animalNames, subject, before, after });
  return changeOf(before, after);
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
  { batch }: Pick<StoreContext, "batch">,
): Promise<Change> {
  const subject = subjectOf(entry.clinicId, entry.source, entry.externalId);
  const before = await ownerNames.read(session, subject);
  await session.all(nameOfOwner, entry);
  const after = (await ownerNames.read(session, subject)) ?? {};
  await record(session, batch, { kind: ownerNames, subject, before, after });
  return changeOf(before, after);
}

function changeOf(before: Image | null, after: Image): Change {
  if (before === null) return "new";
  return isDeepStrictEqual(before, after) ? "unchanged" : "changed";
}

/** Names of patients, by clinic, source and external id. */
export const animalNames: RecordedKind = {
  name: "animal name",
  async read(session, subject) {
    const stored = await session.first(named, nameOf(subject));
    if (stored === undefined) return null;
    const { fp, source_updated_at, removed, merged_into } = stored;
    return { fp, source_updated_at, removed, merged_into };
  },
  async restore(session, subject, image, context) {
    const name = nameOf(subject);
    if (image === null) return void (await session.all(deleteNameOfPatient, name));
    const { fp, source_updated_at: updatedAt, removed, merged_into } = image as unknown as AnimalNameImage;
    const patientId = fp === null ? null : ((await session.first(patientByFp, { fp }))?.id ?? null);
    const entry = { ...name, patientId, updatedAt, removed: removed === 1, mergedInto: merged_into };
    await namePatient(session, entry, context);
  },
};

type AnimalNameImage = Pick<NamedPatient, "fp" | "source_updated_at" | "removed" | "merged_into">;

/** Names of owners, by clinic, source and external id. */
export const ownerNames: RecordedKind = {
  name: "owner name",
  async read(session, subject) {
    const stored = await session.first(namedOwner, nameOf(subject));
    return stored === undefined ? null : { fp: stored.fp, source_updated_at: stored.source_updated_at };
  },
  async restore(session, subject, image, context) {
    const name = nameOf(subject);
    if (image === null) return void (await session.all(deleteNameOfOwner, name));
    const { fp, source_updated_at: updatedAt } = image as unknown as { fp: string; source_updated_at: number | null };
    await nameOwner(session, { ...name, customerId: await ownerId(session, fp), updatedAt }, context);
  },
};

function nameOf(subject: string): SourceName {
  const [clinicId, source, externalId] = JSON.parse(subject) as [number, string, string];
  return { clinicId, source, externalId };
}

const named = query((db, p: SourceName) =>
  db
    .selectFrom("patient_source")
    .leftJoin("patient", "patient.id", "patient_source.patient_id")
    .select(["patient_source.patient_id", "patient.fp", "patient.updated_at"])
    .select(["patient_source.source_updated_at", "patient_source.removed", "patient_source.merged_into"])
    .where("patient_source.clinic_id", "=", p.clinicId)
    .where("patient_source.source", "=", p.source)
    .where("patient_source.external_id", "=", p.externalId),
);

const nameOfPatient = uncachedWrite(
  (
    db,
    p: SourceName & Pick<NameOfAnimal, "patientId" | "updatedAt"> & { removed: number; mergedInto: string | null },
  ) =>
    db
      .insertInto("patient_source")
      .values({
        clinic_id: p.clinicId,
        source: p.source,
        external_id: p.externalId,
        patient_id: p.patientId,
        source_updated_at: p.updatedAt,
        removed: p.removed,
        merged_into: p.mergedInto,
      })
      .onConflict((conflict) =>
        conflict.columns(["clinic_id", "source", "external_id"]).doUpdateSet({
          patient_id: p.patientId,
          source_updated_at: p.updatedAt,
          removed: p.removed,
          merged_into: p.mergedInto,
        }),
      ),
);

const ownNames = query((db, p: Pick<SourceName, "clinicId" | "source">) =>
  db
    .selectFrom("patient_source")
    .innerJoin("patient", "patient.id", "patient_source.patient_id")
    .select(["external_id as externalId", "patient_source.patient_id", "patient.fp", "patient.updated_at"])
    .select(["patient_source.source_updated_at", "patient_source.removed", "patient_source.merged_into"])
    .where("patient_source.clinic_id", "=", p.clinicId)
    .where("patient_source.source", "=", p.source)
    .where("patient_source.removed", "=", 0)
    .where("patient_source.merged_into", "is", null)
    .orderBy("external_id"),
);

const namesOfPatient = query((db, p: { patientId: number }) =>
  db
    .selectFrom("patient_source")
    .select(["clinic_id as clinicId", "source", "external_id as externalId", "patient_id as patientId"])
    .select(["source_updated_at as updatedAt", "removed", "merged_into as mergedInto"])
    .where("patient_id", "=", p.patientId)
    .orderBy("clinic_id")
    .orderBy("source")
    .orderBy("external_id"),
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
      conflict
        .columns(["clinic_id", "source", "external_id"])
        .doUpdateSet({ customer_id: p.customerId, source_updated_at: p.updatedAt }),
    ),
);

const deleteNameOfPatient = uncachedWrite((db, p: SourceName) =>
  db
    .deleteFrom("patient_source")
    .where("clinic_id", "=", p.clinicId)
    .where("source", "=", p.source)
    .where("external_id", "=", p.externalId),
);

const deleteNameOfOwner = uncachedWrite((db, p: SourceName) =>
  db
    .deleteFrom("customer_source")
    .where("clinic_id", "=", p.clinicId)
    .where("source", "=", p.source)
    .where("external_id", "=", p.externalId),
);
