import { timestampOf, timestampOrNull } from "../../shared/runtime/timestamp.ts";
import type { Snapshot, Study, StudySource } from "../../shared/api/study.ts";
import { type Kysely, type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { StudyColumns, OptionalStudyColumns, Tables } from "../database/schema.ts";
import { inPublishedOrder, toStudy } from "../records/studies/study-content.ts";
import type { Entity, PatientLine, StockMovementLine, StudyLine } from "./lines.ts";
import { toEvent } from "../records/calendar/calendar.ts";
import { toPatient } from "../records/patients/patients.ts";
import { parseStored } from "../database/schema.ts";
import { type Query, query, type Session } from "../database/query.ts";
import { checked } from "../records/studies/study-checksum.ts";
import { toSoap } from "../records/soap/soap.ts";
import { toItem } from "../records/inventory/stock.ts";

// Writes all entities as lines of an import file, in the order of their fps. Importing an export and exporting again gives
// the same lines. An export contains no keys, unmatched studies, replaced revisions or
// controls.

/**
 * Lists every entity of a snapshot, or with `clinicId` what a clinic has, its animals have and its owners are. It then reads no row of
 * another clinic's animals. Holds 1000 rows in memory.
 */
export async function* exportEntities(all: Session, clinicId: number | null = null): AsyncGenerator<Entity> {
  const session = { ...all, clinicId };
  for await (const { fp, name } of rows(session, clinics)) yield { type: "clinic", fp, name };
  for await (const { fp, name, clinic_fp } of rows(session, users)) yield { type: "user", fp, name, clinic_fp };
  for await (const row of rows(session, customers)) yield* customerLines(row);
  yield* patientsOf(session);
  yield* sourcesOf(session);
  for await (const row of rows(session, studies)) {
    yield studyLine(row);
  }
  for await (const row of rows(session, soaps)) yield { type: "soap", ...toSoap(row), amends_fp: row.amends_fp };
  for await (const row of rows(session, events)) {
    const { type: event_type, ...event } = toEvent(row);
    const from = row.status === "CANCELLED" ? row.cancelled_from : null;
    const cancelled = from === null ? {} : { cancelled_from: from };
    yield { type: "calendar_event", ...event, event_type, clinic_fp: row.clinic_fp, ...cancelled };
  }
  yield* eventSourcesOf(session);
  for await (const page of pages(session, items)) {
    for (const row of page) yield { type: "inventory_item", ...toItem(row), clinic_fp: row.clinic_fp };
    for (const { item_fp, lot, quantity, received_at, expiry_date } of await session.all(
      chosen(session, batchesIn),
      rangeOf(session, page),
    )) {
      yield { type: "inventory_batch", item_fp, lot, quantity, received_at: timestampOf(received_at), expiry_date };
    }
  }
  yield* movementsOf(session);
}

/** Lists the histories of stock. The quantities of an item that only imports have set say as much without one. */
async function* movementsOf(session: Scoped): AsyncGenerator<Entity> {
  const numbers = new Map<number, number>();
  let last = { fp: "", id: 0, clinicId: session.clinicId ?? 0 };
  for (let page: MovementRow[] | undefined; page === undefined || page.length === PAGE_ROWS; ) {
    page = await session.all(chosen(session, movementsAfter), last);
    for (const row of page) {
      if (row.item_fp !== last.fp) numbers.clear();
      last = { ...last, fp: row.item_fp, id: row.id };
      numbers.set(row.id, numbers.size + 1);
      yield movementLine(row, numbers);
    }
  }
}

function movementLine(row: MovementRow, numbers: ReadonlyMap<number, number>): StockMovementLine {
  const { id, item_fp, batch_id, lot, received_at, expiry_date, quantity, reason, patient_fp, at, undoes_id } = row;
  return {
    ...{ type: "stock_movement", item_fp, number: numbers.get(id) ?? 0 },
    batch:
      batch_id === null || received_at === null ? null : { lot, received_at: timestampOf(received_at), expiry_date },
    ...{ quantity, reason, patient_fp, at: timestampOf(at) },
    undoes: undoes_id === null ? null : (numbers.get(undoes_id) ?? null),
  };
}

/** Returns the line of an owner of whom more is known than the patients. Their lines create any other owner. */
function customerLines({ fp, time_zone, name, phone, email, language }: Selectable<Tables["customer"]>): Entity[] {
  const facts = [name, phone, email].some((fact) => fact !== null) ? { name, phone, email } : {};
  const locale = time_zone === null ? {} : { locale: { time_zone } };
  const spoken = language === null ? {} : { language };
  const line = { type: "customer" as const, fp, ...locale, ...facts, ...spoken };
  return Object.keys(line).length > 2 ? [line] : [];
}

/**
 * Adds what the API's fields lack: the identifiers of the sample, and the snapshot of a study with the device's own codes, or with
 * flags for other facts of the patient. Any other study has a line that older programs read too.
 */
function studyLine(row: StudyColumns & OptionalStudyColumns & { patient_fp: string }): StudyLine {
  const { flagged_species, ...study } = inPublishedOrder(toStudy(row));
  const source: StudySource | null = parseStored(row.source);
  const snapshot: Snapshot | null = parseStored(row.snapshot);
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
export async function countUnmatched(session: Session, clinicId: number | null = null): Promise<number> {
  return (await session.first(chosen({ clinicId }, unmatched), { clinicId: clinicId ?? 0 }))?.count ?? 0;
}

/** Counts runs of control material, which an export does not contain. */
export async function countControls(session: Session, clinicId: number | null = null): Promise<number> {
  return (await session.first(chosen({ clinicId }, controls), { clinicId: clinicId ?? 0 }))?.count ?? 0;
}

async function* patientsOf(session: Scoped): AsyncGenerator<Entity> {
  for await (const page of pages(session, patients)) {
    const identifiers = new Map<string, { type: string | null; value: string }[]>();
    for (const { patient_fp, identifier: value, type } of await session.all(
      chosen(session, identifiersIn),
      rangeOf(session, page),
    )) {
      identifiers.set(patient_fp, [...(identifiers.get(patient_fp) ?? []), { type, value }]);
    }
    for (const row of page) {
      const numbers = numbersOf(identifiers.get(row.fp) ?? []);
      const deceased = row.deceased_at === null ? {} : { deceased_at: timestampOf(row.deceased_at) };
      const merged = row.merged_into === null ? {} : { merged_into: row.merged_into };
      const deleted_at = timestampOrNull(row.deleted_at);
      // The import reads the precise word, and finds the one that the API serves.
      const species = row.precise_species?.replaceAll("_", " ") ?? row.species;
      yield { type: "patient", ...toPatient(row), species, ...numbers, ...deceased, deleted_at, ...merged };
    }
    for (const { patient_fp, clinic_fp, active } of await session.all(
      chosen(session, connectionsIn),
      rangeOf(session, page),
    )) {
      yield { type: "connection", patient_fp, clinic_fp, active: active === 1 };
    }
  }
}

/** Numbers without types have the form that older programs read. */
function numbersOf(
  list: readonly { type: string | null; value: string }[],
): Pick<PatientLine, "external_ids" | "identifiers"> {
  if (list.every(({ type }) => type === null)) return { external_ids: list.map(({ value }) => value) };
  return { identifiers: list as NonNullable<PatientLine["identifiers"]> };
}

/** Lists the names in practice software, those of patients that were removed before they came included. */
async function* sourcesOf(session: Scoped): AsyncGenerator<Entity> {
  for await (const { merged_into, removed, ...row } of sourceRows(session, patientSources)) {
    const merged = merged_into === null ? {} : { merged_into };
    yield {
      type: "patient_source",
      ...row,
      updated_at: timestampOrNull(row.updated_at),
      removed: removed === 1,
      ...merged,
    };
  }
  for await (const row of sourceRows(session, customerSources)) {
    yield { type: "customer_source", ...row, updated_at: timestampOrNull(row.updated_at) };
  }
}

/** Lists the names of appointments in practice software. */
async function* eventSourcesOf(session: Scoped): AsyncGenerator<Entity> {
  for await (const { removed, ...row } of sourceRows(session, eventSources)) {
    yield { type: "event_source", ...row, updated_at: timestampOrNull(row.updated_at), removed: removed === 1 };
  }
}

interface AfterSource {
  clinic_fp: string;
  source: string;
  external_id: string;
}

async function* sourceRows<Row extends AfterSource>(
  session: Scoped,
  page: Both<AfterSource & OfClinic, Row>,
): AsyncGenerator<Row> {
  let last: AfterSource | undefined = { clinic_fp: "", source: "", external_id: "" };
  while (last !== undefined) {
    const { clinic_fp, source, external_id }: AfterSource = last;
    const after = { clinic_fp, source, external_id, clinicId: session.clinicId ?? 0 };
    const found: Row[] = await session.all(chosen(session, page), after);
    yield* found;
    last = found.at(-1);
  }
}

const PAGE_ROWS = 1000;

async function* pages<Row extends { fp: string }>(session: Scoped, page: Both<After, Row>): AsyncGenerator<Row[]> {
  let last: string | undefined = "";
  while (last !== undefined) {
    const found: Row[] = await session.all(chosen(session, page), { after: last, clinicId: session.clinicId ?? 0 });
    if (found.length > 0) yield found;
    last = found.at(-1)?.fp;
  }
}

async function* rows<Row extends { fp: string }>(session: Scoped, page: Both<After, Row>): AsyncGenerator<Row> {
  for await (const found of pages(session, page)) yield* found;
}

/** A session, and the clinic that is exported; null for all. */
type Scoped = Session & { readonly clinicId: number | null };

interface OfClinic {
  clinicId: number;
}

interface After extends OfClinic {
  after: string;
}

/** A query of all clinics, and the same one of a clinic. */
interface Both<P, Row> {
  readonly all: Query<P, Row>;
  readonly clinic: Query<P, Row>;
}

function chosen<P, Row>(
  { clinicId }: { readonly clinicId: number | null },
  { all, clinic }: Both<P, Row>,
): Query<P, Row> {
  return clinicId === null ? all : clinic;
}

/** The rows of the clinic that is exported. */
type Own = (clinicId: number) => RawBuilder<boolean>;

/** Adds the rows of a clinic to a query of all. `text` makes a column an expression, by whose index no row is found. */
function both<P extends OfClinic, DB, TB extends keyof DB, Row>(
  own: Own,
  build: (db: Kysely<Tables>, p: P, text: (column: string) => RawBuilder<string>) => SelectQueryBuilder<DB, TB, Row>,
): Both<P, Row> {
  return {
    all: query((db, p: P) => build(db, p, (column) => sql<string>`${sql.ref(column)}`)),
    // The index of all fps would lead over the rows of each clinic: the rows of this one are found first, and sorted for each page.
    clinic: query((db, p: P) =>
      build(db, p, (column) => sql<string>`(${sql.ref(column)} || '')`).where(own(p.clinicId)),
    ),
  };
}

/** A page of rows in the order of their fps. */
function paged<DB, TB extends keyof DB, Row>(
  column: string,
  own: Own,
  build: (db: Kysely<Tables>) => SelectQueryBuilder<DB, TB, Row>,
): Both<After, Row> {
  return both(own, (db, p: After, text) =>
    build(db)
      .where(sql<boolean>`${text(column)} > ${p.after}`)
      .orderBy(text(column))
      .limit(PAGE_ROWS),
  );
}

const byClinic =
  (column: string): Own =>
  (clinicId) =>
    sql<boolean>`${sql.ref(column)} = ${clinicId}`;

/** The rows of the animals that the clinic is connected to. */
const byPatient =
  (column: string): Own =>
  (clinicId) =>
    sql<boolean>`${sql.ref(column)} in (select patient_id from clinic_patient where clinic_id = ${clinicId} and active = 1)`;

const clinics = paged("clinic.fp", byClinic("clinic.id"), (db) => db.selectFrom("clinic").selectAll());

const users = paged("user.fp", byClinic("user.clinic_id"), (db) =>
  db
    .selectFrom("user")
    .innerJoin("clinic", "clinic.id", "user.clinic_id")
    .select(["user.fp", "user.name", "clinic.fp as clinic_fp"]),
);

const ownersOf: Own = (clinicId) => sql<boolean>`customer.id in (
  select patient.owner_customer_id from clinic_patient join patient on patient.id = clinic_patient.patient_id
    where clinic_patient.clinic_id = ${clinicId} and clinic_patient.active = 1
  union select customer_id from customer_source where clinic_id = ${clinicId})`;

const customers = paged("customer.fp", ownersOf, (db) => db.selectFrom("customer").selectAll());

const patients = paged("patient.fp", byPatient("patient.id"), (db) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .leftJoin("patient as survivor", "survivor.id", "patient.merged_into_id")
    .selectAll("patient")
    .select(["customer.fp as owner_customer_fp", "survivor.fp as merged_into"]),
);

interface Range extends OfClinic {
  first: string;
  last: string;
}

function rangeOf({ clinicId }: Scoped, page: readonly { fp: string }[]): Range {
  return { first: page[0]?.fp ?? "", last: page.at(-1)?.fp ?? "", clinicId: clinicId ?? 0 };
}

const identifiersIn = both(byPatient("patient.id"), (db, p: Range, text) =>
  db
    .selectFrom("patient")
    .innerJoin("patient_identifier", "patient_identifier.patient_id", "patient.id")
    .select(["patient.fp as patient_fp", "patient_identifier.identifier", "patient_identifier.type"])
    .where(sql<boolean>`${text("patient.fp")} >= ${p.first}`)
    .where(sql<boolean>`${text("patient.fp")} <= ${p.last}`)
    .orderBy(text("patient.fp"))
    .orderBy("patient_identifier.position")
    .orderBy("patient_identifier.identifier"),
);

const connectionsIn = both(byClinic("clinic_patient.clinic_id"), (db, p: Range, text) =>
  db
    .selectFrom("patient")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .innerJoin("clinic", "clinic.id", "clinic_patient.clinic_id")
    .select(["patient.fp as patient_fp", "clinic.fp as clinic_fp", "clinic_patient.active"])
    .where(sql<boolean>`${text("patient.fp")} >= ${p.first}`)
    .where(sql<boolean>`${text("patient.fp")} <= ${p.last}`)
    .orderBy(text("patient.fp"))
    .orderBy("clinic.fp"),
);

const patientSources = both(byClinic("named.clinic_id"), (db, p: AfterSource & OfClinic) =>
  db
    .selectFrom("patient_source as named")
    .innerJoin("clinic", "clinic.id", "named.clinic_id")
    .leftJoin("patient", "patient.id", "named.patient_id")
    .select(["clinic.fp as clinic_fp", "named.source", "named.external_id", "patient.fp as patient_fp"])
    .select(["named.source_updated_at as updated_at", "named.removed", "named.merged_into"])
    .where(isAfter(p))
    .orderBy("clinic.fp")
    .orderBy("named.source")
    .orderBy("named.external_id")
    .limit(PAGE_ROWS),
);

const customerSources = both(byClinic("named.clinic_id"), (db, p: AfterSource & OfClinic) =>
  db
    .selectFrom("customer_source as named")
    .innerJoin("clinic", "clinic.id", "named.clinic_id")
    .innerJoin("customer", "customer.id", "named.customer_id")
    .select(["clinic.fp as clinic_fp", "named.source", "named.external_id", "customer.fp as customer_fp"])
    .select("named.source_updated_at as updated_at")
    .where(isAfter(p))
    .orderBy("clinic.fp")
    .orderBy("named.source")
    .orderBy("named.external_id")
    .limit(PAGE_ROWS),
);

const eventSources = both(byClinic("named.clinic_id"), (db, p: AfterSource & OfClinic) =>
  db
    .selectFrom("event_source as named")
    .innerJoin("clinic", "clinic.id", "named.clinic_id")
    .leftJoin("calendar_event as event", "event.id", "named.event_id")
    .select(["clinic.fp as clinic_fp", "named.source", "named.external_id", "event.fp as event_fp"])
    .select(["named.source_updated_at as updated_at", "named.removed"])
    .where(isAfter(p))
    .orderBy("clinic.fp")
    .orderBy("named.source")
    .orderBy("named.external_id")
    .limit(PAGE_ROWS),
);

function isAfter(p: AfterSource): RawBuilder<boolean> {
  return sql<boolean>`(clinic.fp, named.source, named.external_id) > (${p.clinic_fp}, ${p.source}, ${p.external_id})`;
}

const studiesOf = paged("study.fp", byPatient("study.patient_id"), (db) =>
  db
    .selectFrom("study")
    .innerJoin("patient", "patient.id", "study.patient_id")
    .selectAll("study")
    .select("patient.fp as patient_fp"),
);
const studies = { all: checked(studiesOf.all), clinic: checked(studiesOf.clinic) };

const unmatched = both(byClinic("study.clinic_id"), (db) =>
  db
    .selectFrom("study")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("patient_id", "is", null),
);

const controls = both(byClinic("control_run.clinic_id"), (db) =>
  db.selectFrom("control_run").select((select) => select.fn.countAll<number>().as("count")),
);

const soaps = paged("soap.fp", byPatient("soap.patient_id"), (db) =>
  db
    .selectFrom("soap")
    .innerJoin("patient", "patient.id", "soap.patient_id")
    .innerJoin("clinic", "clinic.id", "soap.clinic_id")
    .selectAll("soap")
    .select(["patient.fp as patient_fp", "clinic.fp as performed_by_clinic_fp"]),
);

const events = paged("event.fp", byClinic("event.clinic_id"), (db) =>
  db
    .selectFrom("calendar_event as event")
    .innerJoin("clinic", "clinic.id", "event.clinic_id")
    .leftJoin("patient", "patient.id", "event.patient_id")
    .leftJoin("user", "user.id", "event.assigned_user_id")
    .selectAll("event")
    .select(["clinic.fp as clinic_fp", "patient.fp as patient_fp", "user.fp as assigned_user_fp"]),
);

const items = paged("item.fp", byClinic("item.clinic_id"), (db) =>
  db
    .selectFrom("inventory_item as item")
    .innerJoin("clinic", "clinic.id", "item.clinic_id")
    .selectAll("item")
    .select("clinic.fp as clinic_fp"),
);

const movementsAfter = both(byClinic("item.clinic_id"), (db, p: { fp: string; id: number } & OfClinic, text) =>
  db
    .selectFrom("inventory_item as item")
    .innerJoin("stock_movement as movement", "movement.item_id", "item.id")
    .leftJoin("inventory_batch as batch", "batch.id", "movement.batch_id")
    .leftJoin("patient", "patient.id", "movement.patient_id")
    .selectAll("movement")
    .select(["item.fp as item_fp", "patient.fp as patient_fp", "batch.lot", "batch.received_at", "batch.expiry_date"])
    .where(sql<boolean>`(${text("item.fp")}, movement.id) > (${p.fp}, ${p.id})`)
    .where((where) =>
      where.exists(
        where
          .selectFrom("stock_movement as moved")
          .select("moved.id")
          .whereRef("moved.item_id", "=", "item.id")
          .where("moved.reason", "not in", ["opening", "imported"]),
      ),
    )
    .orderBy(text("item.fp"))
    .orderBy("movement.id")
    .limit(PAGE_ROWS),
);
type MovementRow = typeof movementsAfter extends Both<infer _Parameters, infer Row> ? Row : never;

const batchesIn = both(byClinic("item.clinic_id"), (db, p: Range, text) =>
  db
    .selectFrom("inventory_item as item")
    .innerJoin("inventory_batch as batch", "batch.item_id", "item.id")
    .selectAll("batch")
    .select("item.fp as item_fp")
    .where(sql<boolean>`${text("item.fp")} >= ${p.first}`)
    .where(sql<boolean>`${text("item.fp")} <= ${p.last}`)
    .orderBy(text("item.fp"))
    .orderBy("batch.id"),
);
