import { type Kysely, sql } from "kysely";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import type { ListedStudy } from "../../../shared/api/study.ts";
import { leftOut } from "../../database/damaged-records.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import type { WalkedPage } from "../patients/patients.ts";
import type { VersionedCache } from "../patients/versioned-cache.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { readFacts } from "../studies/read-facts.ts";
import { toReadStudy } from "../studies/study-content.ts";

// The studies that a clinic reads, the last changed first; see changes/clinic-studies.ts for the order.

export interface StudyFilter {
  clinicId: number;
  patientFp: string | null;
  /** Milliseconds since 1970, inclusive; null lists all. */
  updatedSince: number | null;
  page: number;
  pageSize: number;
  /** The last study before the page; null for the page of that number. */
  after?: StudyPosition | null;
  /** Version of the clinic's data, read before the call. */
  version: number;
}

/** A study of the list, after which others follow. It may have left the list. */
export interface StudyPosition {
  readonly changedAt: number;
  readonly studyFp: string;
}

/**
 * Where the page after a read one starts: the last study that was read, and the total. Walking a list skips nothing, and the list is
 * counted once for each version of the clinic's data.
 */
export interface PageStart {
  readonly changedAt: number;
  readonly studyId: number;
  readonly total: number | null;
}

export type PageStartCache = VersionedCache<PageStart>;

/** Max cached page starts, about 4 MB. */
export const PAGE_STARTS_MAX = 10_000;

/** Lists one page. Its total and its studies are of one moment, so that a client sees that a study left the list. */
export async function listStudies(
  session: Session,
  starts: PageStartCache,
  filter: StudyFilter,
): Promise<WalkedPage<ListedStudy, StudyPosition>> {
  const { clinicId, patientFp, updatedSince, page, pageSize, after, version } = filter;
  const list = [clinicId, patientFp, updatedSince];
  const nameOf = (number: number) => JSON.stringify([...list, pageSize, number]);
  const counted = await starts.get(JSON.stringify(list), version);
  const start = after ? await startAfter(session, after) : await starts.get(nameOf(page), version);
  const queries = patientFp === null ? ofEveryPatient : ofOnePatient;
  const parameters = {
    clinicId,
    patientFp: patientFp ?? "",
    updatedSince: updatedSince ?? Number.MIN_SAFE_INTEGER,
    ...(start ?? BEGINNING),
    total: start?.total ?? counted?.total ?? null,
    limit: pageSize,
    offset: start === undefined ? (page - 1) * pageSize : 0,
  };
  const rows = await session.all(queries.page, parameters);
  const total = rows[0]?.total ?? 0;
  // Each page of a walk has the total, and a count costs as much as the list is long.
  if (counted === undefined) starts.set(JSON.stringify(list), version, Promise.resolve({ ...BEGINNING, total }));
  const last = rows.at(-1);
  // A page that leaves out a damaged study has fewer rows, and its last one may not be the last that was read.
  if (!after && rows.length === pageSize && typeof last?.changed_at === "number" && last.study_id !== null) {
    const next = { changedAt: last.changed_at, studyId: last.study_id, total };
    starts.set(nameOf(page + 1), version, Promise.resolve(next));
  }
  const items = rows.flatMap(({ total: _total, changed_at, study_id: _id, checksum: _checksum, ...row }) =>
    isStudy(row) && changed_at !== null ? [{ ...toReadStudy(row), updated_at: timestampOf(changed_at) }] : [],
  );
  const mayHaveMore = Boolean(after) || rows.length === 0 || page * pageSize < total;
  const edge = mayHaveMore ? await lastOf(session, queries.edge, parameters) : null;
  return { items, total, last: edge, leftOut: leftOut(rows) };
}

/** @returns the last study of a page, also a damaged one that the page leaves out; null if no study follows it */
async function lastOf(
  session: Session,
  edge: (typeof ofEveryPatient)["edge"],
  parameters: ListParameters,
): Promise<StudyPosition | null> {
  const [last, beyond] = await session.all(edge, parameters);
  return last !== undefined && beyond !== undefined ? { changedAt: last.changed_at, studyFp: last.fp } : null;
}

/** A study that was never listed is before all others of its time. */
async function startAfter(session: Session, { changedAt, studyFp }: StudyPosition): Promise<PageStart> {
  const study = await session.first(idOfStudy, { fp: studyFp });
  return { changedAt, studyId: study?.id ?? Number.MAX_SAFE_INTEGER, total: null };
}

const idOfStudy = query((db, p: { fp: string }) => db.selectFrom("study").select("id").where("fp", "=", p.fp));

/** The position before all studies. */
export const BEGINNING: PageStart = {
  changedAt: Number.MAX_SAFE_INTEGER,
  studyId: Number.MAX_SAFE_INTEGER,
  total: null,
};

/** Whether the row has a study. The one row of an empty page has the total alone. */
function isStudy<Row extends { [Name in OptionalColumn]: string | number | null }>(row: Row): row is FoundRow<Row> {
  return Object.entries(row).every(
    ([name, value]) => value !== null || optionalColumns.includes(name as OptionalColumn),
  );
}

/** Columns that a study may lack. */
const optionalColumns = [
  ...(["flagged_species", "comments", "order_fp", "order_number", "quality"] as const),
  ...(["source", "accession", "corrected_at"] as const),
] as const;
type OptionalColumn = (typeof optionalColumns)[number];

type FoundRow<Row> = { [Name in keyof Row]: Name extends OptionalColumn ? Row[Name] : NonNullable<Row[Name]> };

interface ListParameters extends PageStart {
  clinicId: number;
  patientFp: string;
  updatedSince: number;
  limit: number;
  offset: number;
}

export const ofEveryPatient = { page: listQuery(false), edge: edgeQuery(false) };
const ofOnePatient = { page: listQuery(true), edge: edgeQuery(true) };

// The page comes from an index alone. The connection is joined once more, so that no fault of the index could show a study of
// a patient that the clinic does not list.
function listQuery(byPatient: boolean) {
  return checked(
    query((db, p: ListParameters) =>
      db
        .selectFrom(db.selectNoFrom(knownTotal(db, p, byPatient).as("total")).as("all"))
        .leftJoin(following(db, p, byPatient).limit(p.limit).offset(p.offset).as("page"), (join) => join.onTrue())
        .leftJoin("study", "study.id", "page.study_id")
        .leftJoin("clinic_patient", (join) =>
          join
            .onRef("clinic_patient.patient_id", "=", "study.patient_id")
            // Not the parameter: a plan that knows the clinic reads all of its patients for a page.
            .onRef("clinic_patient.clinic_id", "=", "page.clinic_id")
            .on("clinic_patient.listed", "=", 1),
        )
        .select(["all.total", "page.changed_at", "page.study_id", "clinic_patient.patient_fp"])
        .select(STUDY_CONTENT)
        .select(readFacts(p))
        .orderBy("page.changed_at", "desc")
        .orderBy("page.study_id", "desc"),
    ),
  );
}

/** The last study of a full page and the one after it, in the index alone. */
function edgeQuery(byPatient: boolean) {
  return query((db, p: ListParameters) =>
    db
      .selectFrom(
        following(db, p, byPatient)
          .limit(2)
          .offset(sql<number>`cast(${p.offset} as bigint) + cast(${p.limit} as bigint) - 1`)
          .as("edge"),
      )
      .innerJoin("study", "study.id", "edge.study_id")
      .select(["edge.changed_at", "study.fp"])
      .orderBy("edge.changed_at", "desc")
      .orderBy("edge.study_id", "desc"),
  );
}

/** The studies after a position, in the order of the list. */
function following(db: Kysely<Tables>, p: ListParameters, byPatient: boolean) {
  return matches(db, p, byPatient)
    .where((where) => where(where.refTuple("changed_at", "study_id"), "<", where.tuple(p.changedAt, p.studyId)))
    .select(["clinic_id", "study_id", "changed_at"])
    .orderBy("changed_at", "desc")
    .orderBy("study_id", "desc");
}

function knownTotal(db: Kysely<Tables>, p: ListParameters, byPatient: boolean) {
  return sql<number>`coalesce(cast(${p.total} as bigint), ${totalOf(db, p, byPatient)})`;
}

/** Counts in the index alone: an index holds all columns of the list. */
function totalOf(db: Kysely<Tables>, p: ListParameters, byPatient: boolean) {
  return sql<number>`(${matches(db, p, byPatient).select((select) => select.fn.countAll<number>().as("rows"))})`;
}

function matches(db: Kysely<Tables>, p: ListParameters, byPatient: boolean) {
  return db
    .selectFrom("clinic_study")
    .where("clinic_id", "=", p.clinicId)
    .where("changed_at", ">=", p.updatedSince)
    .$if(byPatient, (rows) =>
      rows.where("study_id", "in", (study) =>
        study
          .selectFrom("study")
          .innerJoin("patient", "patient.id", "study.patient_id")
          .select("study.id")
          .where("patient.fp", "=", p.patientFp),
      ),
    );
}
