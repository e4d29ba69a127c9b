import { Result } from "../../shared/study.ts";
import type { Entity } from "../entities.ts";
import { toEvent } from "./calendar.ts";
import { toPatient } from "./patients.ts";
import { toSoap } from "./soap.ts";
import { toItem } from "./stock.ts";
import { type Query, query, type Session } from "./store.ts";
import { toStudy } from "./studies.ts";

// Reads all entities back as the lines of an import file (house, section 5), in the order in which they were first stored,
// so that an imported export gives the same export again. Keys, unmatched studies and earlier revisions are no entities.

/** Every entity of one state of the database, a thousand rows in memory at a time. */
export async function* exportEntities(session: Session): AsyncGenerator<Entity> {
  for await (const { fp, name } of rows(session, clinics)) yield { type: "clinic", fp, name };
  for await (const { fp, name, clinic_fp } of rows(session, users)) yield { type: "user", fp, name, clinic_fp };
  for await (const { fp, time_zone } of rows(session, customers)) {
    // One that no line described comes back with the patient that names it.
    if (time_zone !== null) yield { type: "customer", fp, locale: { time_zone } };
  }
  yield* patientsOf(session);
  for await (const row of rows(session, studies)) {
    const { results, ...study } = toStudy(row);
    yield { type: "study", ...study, results: results.map(inOrder) };
  }
  for await (const row of rows(session, soaps)) yield { type: "soap", ...toSoap(row), amends_fp: row.amends_fp };
  for await (const row of rows(session, events)) {
    const { type: event_type, ...event } = toEvent(row);
    yield { type: "calendar_event", ...event, event_type, clinic_fp: row.clinic_fp };
  }
  for await (const row of rows(session, items)) {
    yield { type: "inventory_item", ...toItem(row), clinic_fp: row.clinic_fp };
  }
  for await (const { item_fp, lot, quantity, received_at, expiry_date } of rows(session, batches)) {
    yield { type: "inventory_batch", item_fp, lot, quantity, received_at: instant(received_at), expiry_date };
  }
}

/** How many studies wait for a person to match them; an export cannot carry them. */
export async function countUnmatched(session: Session): Promise<number> {
  return (await session.first(unmatched, {}))?.count ?? 0;
}

async function* patientsOf(session: Session): AsyncGenerator<Entity> {
  for await (const page of pages(session, patients)) {
    const range = { first: page[0]?.id ?? 0, last: page.at(-1)?.id ?? 0 };
    const identifiers = new Map<number, string[]>();
    for (const { patient_id, identifier } of await session.all(identifiersIn, range)) {
      identifiers.set(patient_id, [...(identifiers.get(patient_id) ?? []), identifier]);
    }
    for (const row of page) {
      const external_ids = identifiers.get(row.id) ?? [];
      const deleted_at = row.deleted_at === null ? null : instant(row.deleted_at);
      yield { type: "patient", ...toPatient(row), external_ids, deleted_at };
    }
    for (const { patient_fp, clinic_fp, active } of await session.all(connectionsIn, range)) {
      yield { type: "connection", patient_fp, clinic_fp, active: active === 1 };
    }
  }
}

const PAGE_ROWS = 1000;

async function* pages<Row extends { id: number }>(
  session: Session,
  page: Query<{ after: number }, Row>,
): AsyncGenerator<Row[]> {
  let last: number | undefined = 0;
  while (last !== undefined) {
    const found: Row[] = await session.all(page, { after: last });
    if (found.length > 0) yield found;
    last = found.at(-1)?.id;
  }
}

async function* rows<Row extends { id: number }>(
  session: Session,
  page: Query<{ after: number }, Row>,
): AsyncGenerator<Row> {
  for await (const found of pages(session, page)) yield* found;
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

const resultKeys = Object.keys(Result.properties) as (keyof Result)[];

// Stored with its keys in the order of the alphabet; written in that of the specification.
function inOrder(result: Result): Result {
  return Object.fromEntries(
    resultKeys.filter((key) => Object.hasOwn(result, key)).map((key) => [key, result[key]]),
  ) as Result;
}

interface After {
  after: number;
}

const clinics = query((db, p: After) =>
  db.selectFrom("clinic").selectAll().where("id", ">", p.after).orderBy("id").limit(PAGE_ROWS),
);

const users = query((db, p: After) =>
  db
    .selectFrom("user")
    .innerJoin("clinic", "clinic.id", "user.clinic_id")
    .select(["user.id", "user.fp", "user.name", "clinic.fp as clinic_fp"])
    .where("user.id", ">", p.after)
    .orderBy("user.id")
    .limit(PAGE_ROWS),
);

const customers = query((db, p: After) =>
  db.selectFrom("customer").selectAll().where("id", ">", p.after).orderBy("id").limit(PAGE_ROWS),
);

const patients = query((db, p: After) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .selectAll("patient")
    .select("customer.fp as owner_customer_fp")
    .where("patient.id", ">", p.after)
    .orderBy("patient.id")
    .limit(PAGE_ROWS),
);

interface Between {
  first: number;
  last: number;
}

const identifiersIn = query((db, p: Between) =>
  db
    .selectFrom("patient_identifier")
    .selectAll()
    .where("patient_id", ">=", p.first)
    .where("patient_id", "<=", p.last)
    .orderBy("patient_id")
    .orderBy("position")
    .orderBy("identifier"),
);

const connectionsIn = query((db, p: Between) =>
  db
    .selectFrom("connection")
    .innerJoin("clinic", "clinic.id", "connection.clinic_id")
    .select(["connection.patient_fp", "clinic.fp as clinic_fp", "connection.active"])
    .where("connection.patient_id", ">=", p.first)
    .where("connection.patient_id", "<=", p.last)
    .orderBy("connection.patient_id")
    .orderBy("connection.clinic_id"),
);

const studies = query((db, p: After) =>
  db
    .selectFrom("study")
    .innerJoin("patient", "patient.id", "study.patient_id")
    .selectAll("study")
    .select("patient.fp as patient_fp")
    .where("study.id", ">", p.after)
    .orderBy("study.id")
    .limit(PAGE_ROWS),
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
    .where("soap.id", ">", p.after)
    .orderBy("soap.id")
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
    .where("event.id", ">", p.after)
    .orderBy("event.id")
    .limit(PAGE_ROWS),
);

const items = query((db, p: After) =>
  db
    .selectFrom("inventory_item as item")
    .innerJoin("clinic", "clinic.id", "item.clinic_id")
    .selectAll("item")
    .select("clinic.fp as clinic_fp")
    .where("item.id", ">", p.after)
    .orderBy("item.id")
    .limit(PAGE_ROWS),
);

const batches = query((db, p: After) =>
  db
    .selectFrom("inventory_batch as batch")
    .innerJoin("inventory_item as item", "item.id", "batch.item_id")
    .selectAll("batch")
    .select("item.fp as item_fp")
    .where("batch.id", ">", p.after)
    .orderBy("batch.id")
    .limit(PAGE_ROWS),
);
