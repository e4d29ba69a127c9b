import type { Snapshot, Study, StudySource } from "../../shared/api/study.ts";
import type { StudyColumns, OptionalStudyColumns } from "../database/schema.ts";
import { inPublishedOrder, parseStored, timestampOf, toStudy } from "../records/studies/study-content.ts";
import type { Entity, StudyLine } from "./lines.ts";
import { toEvent } from "../records/calendar/calendar.ts";
import { toPatient } from "../records/patients/patients.ts";
import { type Query, query, type Session } from "../database/query.ts";
import { checked } from "../records/studies/study-checksum.ts";
import { toSoap } from "../records/soap/soap.ts";
import { toItem } from "../records/inventory/stock.ts";

// Writes all entities as lines of an import file, in the order of their fps. Importing an export and exporting again gives
// the same lines. An export contains no keys, unmatched studies or replaced revisions.

/** Lists every entity of a snapshot. Holds 1000 rows in memory. */
export async function* exportEntities(session: Session): AsyncGenerator<Entity> {
  for await (const { fp, name } of rows(session, clinics)) yield { type: "clinic", fp, name };
  for await (const { fp, name, clinic_fp } of rows(session, users)) yield { type: "user", fp, name, clinic_fp };
  for await (const { fp, time_zone } of rows(session, customers)) {
    // A customer without a line of its own is created by the lines of its patients.
    if (time_zone !== null) yield { type: "customer", fp, locale: { time_zone } };
  }
  yield* patientsOf(session);
  for await (const row of rows(session, studies)) {
    yield studyLine(row);
  }
  for await (const row of rows(session, soaps)) yield { type: "soap", ...toSoap(row), amends_fp: row.amends_fp };
  for await (const row of rows(session, events)) {
    const { type: event_type, ...event } = toEvent(row);
    yield { type: "calendar_event", ...event, event_type, clinic_fp: row.clinic_fp };
  }
  for await (const page of pages(session, items)) {
    for (const row of page) yield { type: "inventory_item", ...toItem(row), clinic_fp: row.clinic_fp };
    for (const { item_fp, lot, quantity, received_at, expiry_date } of await session.all(batchesIn, rangeOf(page))) {
      yield { type: "inventory_batch", item_fp, lot, quantity, received_at: timestampOf(received_at), expiry_date };
    }
  }
}

/**
 * Adds what the API's fields lack: the identifiers of the sample, and the snapshot of a study with the device's own codes, or with
 * flags for other facts of the patient. Any other study has a line that older programs read too.
 */
function studyLine(row: StudyColumns & OptionalStudyColumns & { patient_fp: string }): StudyLine {
  const { flagged_species, ...study } = inPublishedOrder(toStudy(row));
  const source = parseStored(row.source) as StudySource | null;
  const snapshot = parseStored(row.snapshot) as Snapshot | null;
  return {
    type: "study",
    ...study,
    ...(source?.sample_ids === undefined ? {} : { source }),
    ...(snapshot !== null && (flagged_species !== undefined || hasOwnCodes(study)) ? { snapshot } : {}),
  };
}

function hasOwnCodes({ results }: Study): boolean {
  return results.some(({ code_source }) => code_source !== undefined);
}

/** Counts unmatched studies, which an export does not contain. */
export async function countUnmatched(session: Session): Promise<number> {
  return (await session.first(unmatched, {}))?.count ?? 0;
}

async function* patientsOf(session: Session): AsyncGenerator<Entity> {
  for await (const page of pages(session, patients)) {
    const identifiers = new Map<string, string[]>();
    for (const { patient_fp, identifier } of await session.all(identifiersIn, rangeOf(page))) {
      identifiers.set(patient_fp, [...(identifiers.get(patient_fp) ?? []), identifier]);
    }
    for (const row of page) {
      const external_ids = identifiers.get(row.fp) ?? [];
      const deleted_at = row.deleted_at === null ? null : timestampOf(row.deleted_at);
      // The import reads the precise word, and finds the one that the API serves.
      const species = row.precise_species?.replaceAll("_", " ") ?? row.species;
      yield { type: "patient", ...toPatient(row), species, external_ids, deleted_at };
    }
    for (const { patient_fp, clinic_fp, active } of await session.all(connectionsIn, rangeOf(page))) {
      yield { type: "connection", patient_fp, clinic_fp, active: active === 1 };
    }
  }
}

const PAGE_ROWS = 1000;

async function* pages<Row extends { fp: string }>(session: Session, page: Query<After, Row>): AsyncGenerator<Row[]> {
  let last: string | undefined = "";
  while (last !== undefined) {
    const found: Row[] = await session.all(page, { after: last });
    if (found.length > 0) yield found;
    last = found.at(-1)?.fp;
  }
}

async function* rows<Row extends { fp: string }>(session: Session, page: Query<After, Row>): AsyncGenerator<Row> {
  for await (const found of pages(session, page)) yield* found;
}

interface After {
  after: string;
}

const clinics = query((db, p: After) =>
  db.selectFrom("clinic").selectAll().where("fp", ">", p.after).orderBy("fp").limit(PAGE_ROWS),
);

const users = query((db, p: After) =>
  db
    .selectFrom("user")
    .innerJoin("clinic", "clinic.id", "user.clinic_id")
    .select(["user.fp", "user.name", "clinic.fp as clinic_fp"])
    .where("user.fp", ">", p.after)
    .orderBy("user.fp")
    .limit(PAGE_ROWS),
);

const customers = query((db, p: After) =>
  db.selectFrom("customer").selectAll().where("fp", ">", p.after).orderBy("fp").limit(PAGE_ROWS),
);

const patients = query((db, p: After) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .selectAll("patient")
    .select("customer.fp as owner_customer_fp")
    .where("patient.fp", ">", p.after)
    .orderBy("patient.fp")
    .limit(PAGE_ROWS),
);

interface Range {
  first: string;
  last: string;
}

function rangeOf(page: readonly { fp: string }[]): Range {
  return { first: page[0]?.fp ?? "", last: page.at(-1)?.fp ?? "" };
}

const identifiersIn = query((db, p: Range) =>
  db
    .selectFrom("patient")
    .innerJoin("patient_identifier", "patient_identifier.patient_id", "patient.id")
    .select(["patient.fp as patient_fp", "patient_identifier.identifier"])
    .where("patient.fp", ">=", p.first)
    .where("patient.fp", "<=", p.last)
    .orderBy("patient.fp")
    .orderBy("patient_identifier.position")
    .orderBy("patient_identifier.identifier"),
);

const connectionsIn = query((db, p: Range) =>
  db
    .selectFrom("patient")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .innerJoin("clinic", "clinic.id", "clinic_patient.clinic_id")
    .select(["patient.fp as patient_fp", "clinic.fp as clinic_fp", "clinic_patient.active"])
    .where("patient.fp", ">=", p.first)
    .where("patient.fp", "<=", p.last)
    .orderBy("patient.fp")
    .orderBy("clinic.fp"),
);

const studies = checked(
  query((db, p: After) =>
    db
      .selectFrom("study")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .selectAll("study")
      .select("patient.fp as patient_fp")
      .where("study.fp", ">", p.after)
      .orderBy("study.fp")
      .limit(PAGE_ROWS),
  ),
);

const unmatched = query((db) =>
  db
    .selectFrom("study")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("patient_id", "is", null),
);

const soaps = query((db, p: After) =>
  db
    .selectFrom("soap")
    .innerJoin("patient", "patient.id", "soap.patient_id")
    .innerJoin("clinic", "clinic.id", "soap.clinic_id")
    .selectAll("soap")
    .select(["patient.fp as patient_fp", "clinic.fp as performed_by_clinic_fp"])
    .where("soap.fp", ">", p.after)
    .orderBy("soap.fp")
    .limit(PAGE_ROWS),
);

const events = query((db, p: After) =>
  db
    .selectFrom("calendar_event as event")
    .innerJoin("clinic", "clinic.id", "event.clinic_id")
    .leftJoin("patient", "patient.id", "event.patient_id")
    .leftJoin("user", "user.id", "event.assigned_user_id")
    .selectAll("event")
    .select(["clinic.fp as clinic_fp", "patient.fp as patient_fp", "user.fp as assigned_user_fp"])
    .where("event.fp", ">", p.after)
    .orderBy("event.fp")
    .limit(PAGE_ROWS),
);

const items = query((db, p: After) =>
  db
    .selectFrom("inventory_item as item")
    .innerJoin("clinic", "clinic.id", "item.clinic_id")
    .selectAll("item")
    .select("clinic.fp as clinic_fp")
    .where("item.fp", ">", p.after)
    .orderBy("item.fp")
    .limit(PAGE_ROWS),
);

const batchesIn = query((db, p: Range) =>
  db
    .selectFrom("inventory_item as item")
    .innerJoin("inventory_batch as batch", "batch.item_id", "item.id")
    .selectAll("batch")
    .select("item.fp as item_fp")
    .where("item.fp", ">=", p.first)
    .where("item.fp", "<=", p.last)
    .orderBy("item.fp")
    .orderBy("batch.id"),
);
