import type { Kysely } from "kysely";
import type { Patient } from "../../../shared/api/patient.ts";
import { type PageBookmark, type PageIndex, type PageIndexCache, BOOKMARK_STEP } from "./page-index.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";

// Patients that a clinic may see: connected and not deleted.

/** Filter of a patient list: one clinic, newest change first. */
export interface PatientFilter {
  clinicId: number;
  species: string | null;
  /** Milliseconds since 1970, inclusive; null lists all. */
  updatedSince: number | null;
  page: number;
  pageSize: number;
  /** The last row before the page; null for the page of that number. */
  after?: PageBookmark | null;
  /** Version of the clinic's lists, read before the call. */
  version: number;
}

/** A page of a list; `total` counts all matches. */
export interface Page<Item> {
  items: Item[];
  total: number;
  /** Number of damaged records of the page, which are not among the items. */
  leftOut?: number;
}

/** A page, and where a walk goes on. */
export interface WalkedPage<Item, Position> extends Page<Item> {
  /** The last row of the page. Null if none follows. */
  last: Position | null;
}

/** Identifiers that an operator may type instead of the fp: card numbers, microchips. */
export interface PatientIdentifiers {
  patient_fp: string;
  identifiers: string[];
}

/** Lists one page of the clinic's patients, by updated_at and fp, both descending. */
export async function listPatients(
  session: Session,
  indexes: PageIndexCache,
  filter: PatientFilter,
): Promise<WalkedPage<Patient, PageBookmark>> {
  const queries = filter.species === null ? everySpecies : oneSpecies;
  const index = await pageIndexOf(session, indexes, filter, queries);
  const { limit, ...parameters } = await pageParameters(filter, index);
  // After a position, one more row shows whether another page follows.
  const isWalk = filter.after != null;
  const rows = await session.all(queries.rows, { ...parameters, limit: isWalk ? limit + 1 : limit });
  const items = rows.slice(0, limit);
  const hasMore = isWalk ? rows.length > limit : filter.page * filter.pageSize < index.total;
  const last = hasMore ? items.at(-1) : undefined;
  return {
    items: items.map(toPatient),
    total: index.total,
    last: last === undefined ? null : { updatedAt: last.updated_at, patientFp: last.fp },
  };
}

/** Lists the identifiers of one page of the same list. */
export async function listIdentifiers(
  session: Session,
  indexes: PageIndexCache,
  filter: PatientFilter,
): Promise<Page<PatientIdentifiers>> {
  const index = await pageIndexOf(session, indexes, filter, everySpecies);
  const items = new Map<string, PatientIdentifiers>();
  for (const { patient_fp, identifier } of await session.all(identifierRows, await pageParameters(filter, index))) {
    const item = items.get(patient_fp) ?? { patient_fp, identifiers: [] };
    if (identifier !== null) item.identifiers.push(identifier);
    items.set(patient_fp, item);
  }
  return { items: [...items.values()], total: index.total };
}

/**
 * Finds a patient and whether the clinic has an active connection to it.
 * @returns undefined if the patient is unknown or deleted
 */
export async function findPatient(session: Session, clinicId: number, fp: string): Promise<FoundPatient | undefined> {
  const row = await session.first(patientByFp, { clinicId, fp });
  if (row === undefined) return undefined;
  const { id, active, precise_species, deceased_at } = row;
  return { id, connected: active === 1, patient: toPatient(row), precise_species, deceased_at };
}

export interface FoundPatient {
  readonly id: number;
  readonly connected: boolean;
  readonly patient: Patient;
  /** The read API does not show it. */
  readonly precise_species: string | null;
  readonly deceased_at: number | null;
}

/** Returns the patient that has the records of a merged one, through all merges. @returns the fp itself if it was not merged */
export async function survivorOf(session: Session, fp: string): Promise<string> {
  const met = new Set<string>();
  for (let last = fp; ; ) {
    met.add(last);
    const next = (await session.first(mergedInto, { fp: last }))?.fp;
    // An import notes its merges before it refuses a circle.
    if (next === undefined || met.has(next)) return last;
    last = next;
  }
}

const mergedInto = query((db, p: { fp: string }) =>
  db
    .selectFrom("patient")
    .innerJoin("patient as survivor", "survivor.id", "patient.merged_into_id")
    .select("survivor.fp")
    .where("patient.fp", "=", p.fp),
);

/** Parameters of a list that starts at a bookmark. */
interface ListParameters extends PageBookmark {
  clinicId: number;
  species: string;
  updatedSince: number;
}

interface PageParameters extends ListParameters {
  limit: number;
  offset: number;
}

function listParameters({ clinicId, species, updatedSince }: PatientFilter, from: PageBookmark): ListParameters {
  return {
    clinicId,
    species: species ?? "",
    updatedSince: updatedSince ?? Number.MIN_SAFE_INTEGER,
    ...from,
  };
}

async function pageParameters(filter: PatientFilter, index: PageIndex): Promise<PageParameters> {
  const { page, pageSize, after } = filter;
  if (after) return { ...listParameters(filter, after), limit: pageSize, offset: 0 };
  const offset = (page - 1) * pageSize;
  const bookmarks = offset < BOOKMARK_STEP ? [START] : await index.bookmarks();
  // Beyond the end of the list the last bookmark gives an empty page.
  const step = Math.min(Math.floor(offset / BOOKMARK_STEP), bookmarks.length - 1);
  return {
    ...listParameters(filter, bookmarks[step] ?? START),
    limit: pageSize,
    offset: offset - step * BOOKMARK_STEP,
  };
}

/** The position before all patients. */
const START: PageBookmark = { updatedAt: Number.MAX_SAFE_INTEGER, patientFp: "" };

async function pageIndexOf(
  session: Session,
  indexes: PageIndexCache,
  filter: PatientFilter,
  { nextBookmark, count }: ReturnType<typeof listQueries>,
): Promise<PageIndex> {
  const { clinicId, species, updatedSince, version } = filter;
  return indexes.find(JSON.stringify([clinicId, species, updatedSince]), version, async () => {
    const counted = await session.first(count, listParameters(filter, START));
    let bookmarks: Promise<PageBookmark[]> | undefined;
    const read = async () => {
      const found: PageBookmark[] = [];
      let next: PageBookmark | undefined = START;
      for (; next !== undefined; next = await session.first(nextBookmark, listParameters(filter, next)))
        found.push(next);
      return found;
    };
    const readAgain = (error: unknown) => {
      bookmarks = undefined;
      throw error;
    };
    return { total: counted?.total ?? 0, bookmarks: () => (bookmarks ??= read().catch(readAgain)) };
  });
}

type PatientRow = Omit<Patient, "created_at" | "updated_at"> & { created_at: number; updated_at: number };

/** Converts a row to the patient of the API, which has fewer fields. */
export function toPatient(row: PatientRow): Patient {
  return {
    fp: row.fp,
    name: row.name,
    species: row.species,
    breed: row.breed,
    sex: row.sex,
    date_of_birth: row.date_of_birth,
    weight_kg: row.weight_kg,
    owner_customer_fp: row.owner_customer_fp,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}

const everySpecies = listQueries(false);
const oneSpecies = listQueries(true);

function listQueries(bySpecies: boolean) {
  return {
    count: query((db, p: ListParameters) =>
      matches(db, p, bySpecies).select((select) => select.fn.countAll<number>().as("total")),
    ),
    nextBookmark: query((db, p: ListParameters) =>
      matches(db, p, bySpecies)
        .select(["patient_updated_at as updatedAt", "patient_fp as patientFp"])
        .orderBy("patient_updated_at", "desc")
        .orderBy("patient_fp", "desc")
        .limit(1)
        .offset(BOOKMARK_STEP - 1),
    ),
    // Selects the page in the index alone, then reads its rows, so that a deep page reads no skipped row.
    rows: query((db, p: PageParameters) =>
      db
        .selectFrom(pageOf(db, p, bySpecies).as("page"))
        .innerJoin("patient", "patient.id", "page.patient_id")
        .innerJoin("customer", "customer.id", "patient.owner_customer_id")
        .selectAll("patient")
        .select("customer.fp as owner_customer_fp")
        .orderBy("page.patient_updated_at", "desc")
        .orderBy("page.patient_fp", "desc"),
    ),
  };
}

const identifierRows = query((db, p: PageParameters) =>
  db
    .selectFrom(pageOf(db, p, false).as("page"))
    .leftJoin("patient_identifier", "patient_identifier.patient_id", "page.patient_id")
    .select(["page.patient_fp", "patient_identifier.identifier"])
    .orderBy("page.patient_updated_at", "desc")
    .orderBy("page.patient_fp", "desc")
    .orderBy("patient_identifier.identifier"),
);

function pageOf(db: Kysely<Tables>, p: PageParameters, bySpecies: boolean) {
  return matches(db, p, bySpecies)
    .select(["patient_id", "patient_fp", "patient_updated_at"])
    .orderBy("patient_updated_at", "desc")
    .orderBy("patient_fp", "desc")
    .limit(p.limit)
    .offset(p.offset);
}

function matches(db: Kysely<Tables>, p: ListParameters, bySpecies: boolean) {
  return db
    .selectFrom("clinic_patient")
    .where("clinic_id", "=", p.clinicId)
    .where("listed", "=", 1)
    .where("patient_updated_at", ">=", p.updatedSince)
    .where((where) =>
      where(where.refTuple("patient_updated_at", "patient_fp"), "<", where.tuple(p.updatedAt, p.patientFp)),
    )
    .$if(bySpecies, (rows) => rows.where("patient_species", "=", p.species));
}

const patientByFp = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("patient")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .leftJoin("clinic_patient", (join) =>
      join.onRef("clinic_patient.patient_id", "=", "patient.id").on("clinic_patient.clinic_id", "=", p.clinicId),
    )
    .selectAll("patient")
    .select(["customer.fp as owner_customer_fp", "clinic_patient.active"])
    .where("patient.fp", "=", p.fp)
    .where("patient.deleted_at", "is", null),
);
