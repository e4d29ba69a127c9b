import { type RawBuilder, sql } from "kysely";
import { query, type Query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import type { ClinicErasedKind } from "../../dashboard/types/operator.ts";
import { ROWS_AT_ONCE } from "./erased-rows.ts";

// The animals, owners and studies of a clinic that leaves. What another clinic has too stays: an animal that it is or was connected to
// with its owner, its studies and its records.

/** Animals, owners or studies without an animal that one request erases. */
const AT_ONCE = 50;

/** A step of an erasure. @returns the number of records of its kind that it erased */
export interface Step {
  readonly kind: ClinicErasedKind;
  /** The most that one request erases. */
  readonly max: number;
  readonly run: (session: Session, clinicId: number, add: Add) => Promise<number>;
}

/** Counts erased records of another kind. */
export type Add = (kind: ClinicErasedKind, count: number) => void;

/** Counts the animals that only this clinic has, and those that stay with other clinics. */
export async function countAnimals(session: Session, clinicId: number): Promise<{ own: number; shared: number }> {
  const own = (await session.first(countOwn, { clinicId }))?.total ?? 0;
  const connected = (await session.first(countConnected, { clinicId }))?.total ?? 0;
  return { own, shared: connected - own };
}

export const animalSteps: readonly Step[] = [
  { kind: "animals", max: AT_ONCE, run: eraseAnimals },
  { kind: "owners", max: AT_ONCE, run: eraseNamedOwners },
  { kind: "studies", max: AT_ONCE, run: eraseWaitingStudies },
  { kind: "others", max: ROWS_AT_ONCE, run: leaveStudies },
];

async function eraseAnimals(session: Session, clinicId: number, add: Add): Promise<number> {
  const animals = await session.all(ownAnimals, { clinicId });
  for (const { id } of animals) {
    for (const remove of ofStudiesOfAnimal) await session.all(remove, { id });
    add("studies", (await session.all(studiesOfAnimal, { id })).length);
    await session.all(recordsRead, { id });
    add("records", (await session.all(records, { id })).length);
    for (const remove of ofAnimal) await session.all(remove, { id });
    await session.all(unmerge, { id });
    await session.all(animal, { id });
  }
  const owners = new Set(animals.map(({ owner_customer_id: id }) => id));
  for (const id of owners) add("owners", (await session.all(freeOwner, { id })).length);
  return animals.length;
}

/** Erases owners whom the practice software of the clinic named, and who have no animal any more. */
async function eraseNamedOwners(session: Session, clinicId: number, add: Add): Promise<number> {
  const named = await session.all(namedOwners, { clinicId });
  for (const { customer_id: id } of named) {
    await session.all(nameOfOwner, { clinicId, id });
    add("owners", (await session.all(freeOwner, { id })).length);
  }
  return named.length;
}

async function eraseWaitingStudies(session: Session, clinicId: number): Promise<number> {
  const studies = await session.all(waitingStudies, { clinicId });
  for (const { id } of studies) {
    for (const remove of ofStudy) await session.all(remove, { id });
    await session.all(study, { id });
  }
  return studies.length;
}

/** Leaves studies to the other clinics of their animals, as if they were imported. */
async function leaveStudies(session: Session, clinicId: number): Promise<number> {
  return (await session.all(left, { clinicId })).length;
}

interface Row {
  readonly id: number;
}

const OF_STUDY: readonly (keyof Tables)[] = [
  ...(["study_revision", "study_conflict", "study_preview", "clinic_study", "study_seen"] as const),
  ...(["study_charge", "follow_up", "follow_up_event", "report_link"] as const),
];

const ofStudy = OF_STUDY.map((table) => deletion(table, ({ id }) => sql`study_id = ${id}`));

const ofStudiesOfAnimal = OF_STUDY.map((table) =>
  deletion(table, ({ id }) => sql`study_id in (select id from study where patient_id = ${id})`),
);

const ofAnimal = (
  [
    ...(["patient_identifier", "former_number", "clinic_patient"] as const),
    ...(["connection_change", "connection_host", "patient_source"] as const),
  ] as const
).map((table) => deletion(table, ({ id }) => sql`patient_id = ${id}`));

const recordsRead = deletion("clinic_soap", ({ id }) => sql`soap_id in (select id from soap where patient_id = ${id})`);
const records = deletion("soap", ({ id }) => sql`patient_id = ${id}`);
const studiesOfAnimal = deletion("study", ({ id }) => sql`patient_id = ${id}`);
const study = deletion("study", ({ id }) => sql`id = ${id}`);
const animal = deletion("patient", ({ id }) => sql`id = ${id}`);
const freeOwner = deletion(
  "customer",
  ({ id }) => sql`id = ${id} and not exists (select 1 from patient where owner_customer_id = ${id})
    and not exists (select 1 from customer_source where customer_id = ${id})
    and not exists (select 1 from report_link where owner_id = ${id})`,
);

function deletion(table: keyof Tables, which: (row: Row) => RawBuilder<unknown>): Query<Row, unknown> {
  return uncachedWrite((db, p: Row) => ({
    compile: () => sql`delete from ${sql.table(table)} where ${which(p)} returning 1 as removed`.compile(db),
  }));
}

const unmerge = uncachedWrite((db, p: Row) =>
  db.updateTable("patient").set({ merged_into_id: null }).where("merged_into_id", "=", p.id),
);

/** The animals of the clinic to which no other clinic has a connection or a record. The condition begins with the clinic. */
const isOwn = (clinicId: number) => sql<boolean>`
  patient.id in (select patient_id from clinic_patient where clinic_id = ${clinicId})
  ${sql.join(
    (["clinic_patient", "study", "soap", "lab_order", "calendar_event"] as const).map(
      (table) => sql`and not exists (select 1 from ${sql.table(table)} as other
        where other.patient_id = patient.id and other.clinic_id <> ${clinicId})`,
    ),
    sql` `,
  )}`;

const ownAnimals = query((db, p: { clinicId: number }) =>
  db.selectFrom("patient").select(["id", "owner_customer_id"]).where(isOwn(p.clinicId)).orderBy("id").limit(AT_ONCE),
);

const countOwn = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("patient")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where(isOwn(p.clinicId)),
);

const countConnected = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("clinic_id", "=", p.clinicId),
);

const namedOwners = query((db, p: { clinicId: number }) =>
  db.selectFrom("customer_source").select("customer_id").distinct().where("clinic_id", "=", p.clinicId).limit(AT_ONCE),
);

const nameOfOwner = uncachedWrite((db, p: { clinicId: number; id: number }) =>
  db.deleteFrom("customer_source").where("clinic_id", "=", p.clinicId).where("customer_id", "=", p.id),
);

const waitingStudies = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("study")
    .select("id")
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "is", null)
    .limit(AT_ONCE),
);

// The hint has the words of the clinic's device about the owner.
const left = uncachedWrite((db, p: { clinicId: number }) =>
  db
    .updateTable("study")
    .set({ clinic_id: null, patient_hint: null })
    .where("id", "in", (some) =>
      some.selectFrom("study").select("id").where("clinic_id", "=", p.clinicId).limit(some.lit(ROWS_AT_ONCE)),
    )
    .returning("id"),
);
