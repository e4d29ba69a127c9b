import { type Kysely, sql } from "kysely";
import type { RemovedRecord } from "../../../shared/api/removed-record.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { type Page, survivorOf, type WalkedPage } from "./patients.ts";

// The records that left the lists of a clinic and did not return: deleted patients, patients whose connection was closed, the studies and SOAP
// records of both, studies that were taken back or moved to a patient of other clinics, deleted events and items. See
// changes/clinic-removals.ts.

export interface RemovalFilter extends Record<RemovedKind, boolean> {
  clinicId: number;
  /** Lowest stamp, ms since 1970; null for all. */
  from: number | null;
  pageSize: number;
  /** The last removal before the page; null for the first page. */
  after: RemovalPosition | null;
}

/** The kinds of records, and how their fps begin. */
const PREFIXES = {
  patients: "patient_",
  studies: "cds_",
  soap: "soap_",
  events: "calevt_",
  items: "invitem_",
} as const;
type RemovedKind = keyof typeof PREFIXES;
const kinds = Object.keys(PREFIXES) as RemovedKind[];

/** A position in the list. The record may have returned. */
export interface RemovalPosition {
  readonly removedAt: number;
  readonly fp: string;
}

/** Lists one page of what left the clinic's lists, the first removal first. `total` counts those after the position. */
export async function listRemovals(
  session: Session,
  { clinicId, from, pageSize, after, ...wanted }: RemovalFilter,
): Promise<WalkedPage<RemovedRecord, RemovalPosition>> {
  const { count, rows } = kinds.every((kind) => wanted[kind]) ? ofAll : ofSome;
  const flags = Object.fromEntries(kinds.map((kind) => [kind, wanted[kind] ? 1 : 0]));
  const parameters = {
    clinicId,
    ...(flags as Record<RemovedKind, number>),
    from: from ?? 0,
    ...(after ?? { removedAt: 0, fp: "" }),
    // One more removal, which shows whether another page follows.
    limit: pageSize + 1,
  };
  const counted = await session.first(count, parameters);
  const found = await session.all(rows, parameters);
  const items = found.slice(0, pageSize);
  const last = found.length > pageSize ? items.at(-1) : undefined;
  const records: RemovedRecord[] = [];
  for (const { fp, removed_at } of items) {
    const successor = await successorOf(session, clinicId, fp);
    const merged = successor === null ? {} : { merged_into: successor };
    records.push({ fp, removed_at: new Date(removed_at).toISOString(), ...merged });
  }
  return {
    items: records,
    total: counted?.total ?? 0,
    last: last === undefined ? null : { removedAt: last.removed_at, fp: last.fp },
  };
}

/** A patient that left the list of a clinic, and when. */
export interface RemovedPatient {
  patient_fp: string;
  updated_at: string;
}

/**
 * Lists one page of the patients that the clinic does not list, the last removal first: deleted and disconnected ones, whether it ever
 * listed them, and those that an undo removed from the database.
 */
export async function listRemovedPatients(
  session: Session,
  { clinicId, updatedSince, page, pageSize }: RemovedPatientFilter,
): Promise<Page<RemovedPatient>> {
  const parameters = { clinicId, from: updatedSince ?? Number.MIN_SAFE_INTEGER };
  const counted = await session.first(countUnlisted, parameters);
  const offset = (page - 1) * pageSize;
  const rows = await session.all(unlistedPage, { ...parameters, limit: pageSize, offset });
  const items = rows.map(({ fp, at }) => ({ patient_fp: fp, updated_at: new Date(at).toISOString() }));
  return { items, total: counted?.total ?? 0 };
}

interface RemovedPatientFilter {
  clinicId: number;
  updatedSince: number | null;
  page: number;
  pageSize: number;
}

interface Unlisted {
  clinicId: number;
  from: number;
}

function unlisted(db: Kysely<Tables>, p: Unlisted) {
  const vanished = db
    .selectFrom("clinic_removal")
    .select(["fp", "removed_at as at"])
    .where("clinic_id", "=", p.clinicId)
    .where("removed_at", ">=", p.from)
    .where(sql`substr(fp, 1, 8)`, "=", "patient_")
    .where((where) =>
      where.not(
        where.exists(where.selectFrom("patient").select("patient.id").whereRef("patient.fp", "=", "clinic_removal.fp")),
      ),
    );
  const rows = db
    .selectFrom("clinic_patient")
    .select(["patient_fp as fp", "patient_updated_at as at"])
    .where("clinic_id", "=", p.clinicId)
    .where("listed", "=", 0)
    .where("patient_updated_at", ">=", p.from);
  return db.selectFrom(rows.unionAll(vanished).as("unlisted"));
}

const countUnlisted = query((db, p: Unlisted) => unlisted(db, p).select(({ fn }) => fn.countAll<number>().as("total")));

const unlistedPage = query((db, p: Unlisted & { limit: number; offset: number }) =>
  unlisted(db, p).select(["fp", "at"]).orderBy("at", "desc").orderBy("fp", "desc").limit(p.limit).offset(p.offset),
);

/** Returns the patient that has the records of a merged one. @returns null for none that the clinic lists */
async function successorOf(session: Session, clinicId: number, fp: string): Promise<string | null> {
  const successor = fp.startsWith("patient_") ? await survivorOf(session, fp) : fp;
  if (successor === fp) return null;
  return (await session.first(listedPatient, { clinicId, fp: successor })) === undefined ? null : successor;
}

const listedPatient = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
    .select("patient.id")
    .where("patient.fp", "=", p.fp)
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1),
);

interface ListParameters extends RemovalPosition, Record<RemovedKind, number> {
  clinicId: number;
  from: number;
  limit: number;
}

const ofAll = listQueries(true);
const ofSome = listQueries(false);

/** The parameter is compared as a number, because PostgreSQL takes it for text otherwise. */
function isWanted(kind: RemovedKind, flag: number) {
  const prefix = PREFIXES[kind];
  return sql<boolean>`(substr(fp, 1, ${sql.lit(prefix.length)}) = ${sql.lit(prefix)} and cast(${flag} as integer) = 1)`;
}

function listQueries(every: boolean) {
  function matches(db: Kysely<Tables>, p: ListParameters) {
    return db
      .selectFrom("clinic_removal")
      .where("clinic_id", "=", p.clinicId)
      .where("removed_at", ">=", p.from)
      .where((where) => where(where.refTuple("removed_at", "fp"), ">", where.tuple(p.removedAt, p.fp)))
      .$if(!every, (removals) => removals.where((where) => where.or(kinds.map((kind) => isWanted(kind, p[kind])))));
  }
  return {
    count: query((db, p: ListParameters) => matches(db, p).select(({ fn }) => fn.countAll<number>().as("total"))),
    rows: query((db, p: ListParameters) =>
      matches(db, p).select(["fp", "removed_at"]).orderBy("removed_at").orderBy("fp").limit(p.limit),
    ),
  };
}
