import { type Kysely, sql } from "kysely";
import type { StudyResult } from "../../../shared/clinical/units/shown-result.ts";
import { openFailures } from "../../../shared/clinical/control/study-quality.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import type { ListedStudy } from "../../dashboard/types/results/results.ts";
import { isNameLike, folded, searchPattern, type Severity } from "../studies/study-search.ts";
import { identifiersOfClinic } from "../patients/clinic-patients.ts";
import { rangesOfStudies, storedResults } from "../studies/stored-results.ts";
import { leftOut } from "../../database/damaged-records.ts";
import { query, type Session, shownSpecies } from "../../database/query.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { type OptionalStudyColumns, parseStored, type StudyColumns, type Tables } from "../../database/schema.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import { outsideOf } from "./study-rows.ts";

// The list of a clinic's studies: those of its connected patients, and its own unmatched ones.

export const PAGE_ROWS = 50;

/** Max patients whose name or identifier a search fits. */
const SEARCHED_PATIENTS_MAX = 200;

/** A position in the list: after the study with this time and id. */
export interface ListPosition {
  readonly at: number;
  readonly id: number;
}

/** Null lists all. */
export interface ListFilter {
  readonly clinicId: number;
  readonly patientId: number | null;
  readonly device: string | null;
  readonly modality: string | null;
  readonly severity: Severity;
  /** Open follow-ups alone: those of a user, or of anybody. */
  readonly followed?: number | "anybody" | null;
  /** Milliseconds since 1970; `to` is exclusive. */
  readonly from: number | null;
  readonly to: number | null;
  readonly search: string | null;
  readonly after: ListPosition | null;
  /** The reader's. */
  readonly units: UnitChoice;
}

export interface ListPage {
  readonly items: ListedStudy[];
  readonly next: ListPosition | null;
  /** Whether the search fits more than SEARCHED_PATIENTS_MAX patients. */
  readonly isCut: boolean;
  /** Number of damaged studies among those of the page. */
  readonly leftOut: number;
}

/** Lists one page of the studies, the newest first, with at most `outsideMax` values of each. */
export async function listResults(
  session: Session,
  filter: ListFilter,
  rows = PAGE_ROWS,
  outsideMax?: number,
): Promise<ListPage> {
  const found = filter.search === null ? null : await searchPatients(session, filter.clinicId, filter.search);
  const { patientId, device, modality, severity, search, followed = null } = filter;
  const isNarrowed = severity > 0 || [patientId, device, modality, search].some((each) => each !== null);
  const page = followed !== null ? pageOfFollowed : isNarrowed ? pageOfResults : pageOfAllResults;
  const listed = await session.all(page, parametersOf(filter, found?.ids ?? [], rows));
  const shown = listed.slice(0, rows);
  const damaged = leftOut(listed);
  const rangesOf = await rangesOfStudies(session, shown);
  // A damaged study counts, so that the list does not end at it.
  const last = listed.length + damaged > rows ? shown.at(-1) : undefined;
  return {
    items: shown.map((row) => toListed(row, storedResults(row, rangesOf), filter.units, outsideMax)),
    next: last === undefined ? null : { at: last.acquired_at, id: last.id },
    isCut: found?.isCut ?? false,
    leftOut: damaged,
  };
}

/** Lists the names of the devices with a visible study. */
export async function listDeviceNames(session: Session, clinicId: number): Promise<string[]> {
  return (await session.all(deviceNames, { clinicId })).map(({ device_name }) => device_name);
}

/** Finds the patients of the clinic with a word of the name, or an identifier, that starts so. */
async function searchPatients(
  session: Session,
  clinicId: number,
  search: string,
): Promise<{ ids: number[]; isCut: boolean }> {
  const begin = folded(search);
  const ids = new Set<number>();
  // Databases fold no Turkish letters, so names and numbers are compared here.
  for (const { id, name } of await session.all(names, { clinicId })) if (isNameLike(name, begin)) ids.add(id);
  for (const { patient_id, identifier } of await session.all(identifiersOfClinic, { clinicId })) {
    if (folded(identifier).startsWith(begin)) ids.add(patient_id);
  }
  return { ids: [...ids].slice(0, SEARCHED_PATIENTS_MAX), isCut: ids.size > SEARCHED_PATIENTS_MAX };
}

type ListParameters = {
  clinicId: number;
  patientId: number;
  device: string;
  modality: string;
  severity: number;
  /** 0 for anybody. */
  followedBy: number;
  from: number;
  to: number;
  /** Empty without a search. */
  words: string;
  afterAt: number;
  afterId: number;
  limit: number;
} & Record<`found${number}`, number>;

function parametersOf(filter: ListFilter, found: readonly number[], rows: number): ListParameters {
  const { clinicId, patientId, device, modality, severity, followed, from, to, search, after } = filter;
  const patients = Array.from({ length: SEARCHED_PATIENTS_MAX }, (_, index) => [`found${index}`, found[index] ?? 0]);
  return {
    clinicId,
    patientId: patientId ?? 0,
    device: device ?? "",
    modality: modality ?? "",
    severity,
    followedBy: typeof followed === "number" ? followed : 0,
    from: from ?? Number.MIN_SAFE_INTEGER,
    to: to ?? Number.MAX_SAFE_INTEGER,
    words: search === null ? "" : searchPattern(search),
    afterAt: after?.at ?? Number.MAX_SAFE_INTEGER,
    afterId: after?.id ?? 0,
    limit: rows + 1,
    ...(Object.fromEntries(patients) as Record<`found${number}`, number>),
  };
}

interface ListedRow {
  id: number;
  fp: string;
  acquired_at: number;
  received_at: number;
  modality: StudyColumns["modality"];
  device_name: string;
  revision: number;
  source: StudyColumns["source"];
  /** 1 if the clinic's own agent sent it. Another clinic's numbers of samples are its own affair. */
  is_own: number;
  patient_hint: StudyColumns["patient_hint"];
  quality: OptionalStudyColumns["quality"];
  patient_fp: string | null;
  patient_name: string | null;
  patient_species: string | null;
}

function toListed(
  row: ListedRow,
  results: readonly StudyResult[],
  units: UnitChoice,
  outsideMax?: number,
): ListedStudy {
  const { patient_fp: fp, patient_name: name, patient_species: species } = row;
  const quality = parseStored(row.quality);
  return {
    fp: row.fp,
    acquired_at: timestampOf(row.acquired_at),
    received_at: timestampOf(row.received_at),
    modality: row.modality,
    device_name: row.device_name,
    revision: row.revision,
    patient: fp === null || name === null || species === null ? null : { fp, name, species },
    hint_name: fp === null ? (parseStored(row.patient_hint)?.name ?? null) : null,
    sample_ids: row.is_own === 1 ? (parseStored(row.source)?.sample_ids ?? []) : [],
    results: results.length,
    ...outsideOf(results, units, outsideMax),
    ...(quality !== null && openFailures(quality).length > 0 ? { control_failed: true as const } : {}),
  };
}

export const pageOfResults = pageQuery(true);
/** The page that no column but the time narrows. On PostgreSQL too an index holds all that it chooses by. */
export const pageOfAllResults = pageQuery(false);
/** The page of open follow-ups, which are few: they come first, and their studies by id. */
const pageOfFollowed = pageQuery(true, openFollowUps);

// Chooses the page among few columns, which an index holds (SQLite), and reads complete rows for it alone.
function pageQuery(isNarrowed: boolean, studies: (db: Kysely<Tables>, p: ListParameters) => Studies = anyStudies) {
  return checked(
    query((db, p: ListParameters) =>
      db
        .selectFrom(
          filtered(ofPatients(studies(db, p), p), p, isNarrowed)
            .unionAll(filtered(unmatched(studies(db, p), p), p, isNarrowed))
            .orderBy("acquired_at", "desc")
            .orderBy("id", "desc")
            .limit(p.limit)
            .as("page"),
        )
        .innerJoin("study", "study.id", "page.id")
        .leftJoin("patient", "patient.id", "study.patient_id")
        .select(STUDY_CONTENT)
        .select(["study.id", "study.received_at", "study.revision", "study.source", "study.patient_hint"])
        .select(["study.clinic_id", "study.snapshot"])
        .select(sql<number>`case when study.clinic_id = ${p.clinicId} then 1 else 0 end`.as("is_own"))
        .select(["patient.fp as patient_fp", "patient.name as patient_name", shownSpecies.as("patient_species")])
        .orderBy("page.acquired_at", "desc")
        .orderBy("page.id", "desc"),
    ),
  );
}

function anyStudies(db: Kysely<Tables>) {
  return db.selectFrom("study");
}

type Studies = ReturnType<typeof anyStudies>;

/** A literal keeps SQLite from walking all studies of the clinic by time. */
function openFollowUps(db: Kysely<Tables>, p: ListParameters): Studies {
  return db.selectFrom("study").where("study.id", "in", (open) =>
    open
      .selectFrom("follow_up")
      .select("follow_up.study_id")
      .where("follow_up.clinic_id", "=", p.clinicId)
      .where("follow_up.done_at", "is", null)
      .where((where) =>
        where.or([sql<boolean>`${p.followedBy} = 0`, where("follow_up.responsible_id", "=", p.followedBy)]),
      ),
  );
}

function ofPatients(studies: Studies, p: { clinicId: number }) {
  return studies.where("study.patient_id", "in", (patients) =>
    patients
      .selectFrom("clinic_patient")
      .select("clinic_patient.patient_id")
      .where("clinic_patient.clinic_id", "=", p.clinicId)
      .where("clinic_patient.listed", "=", 1),
  );
}

function unmatched(studies: Studies, p: { clinicId: number }) {
  return studies
    .where("study.patient_id", "is", null)
    .where("study.clinic_id", "=", p.clinicId)
    .where("study.rejected_reason", "is", null);
}

function filtered(studies: Studies, p: ListParameters, isNarrowed: boolean) {
  const inTime = studies
    .select(["study.id", "study.acquired_at"])
    .where("study.acquired_at", ">=", p.from)
    .where("study.acquired_at", "<", p.to)
    .where((where) => where(where.refTuple("study.acquired_at", "study.id"), "<", where.tuple(p.afterAt, p.afterId)));
  if (!isNarrowed) return inTime;
  const found = Array.from({ length: SEARCHED_PATIENTS_MAX }, (_, index) => p[`found${index}`] as number);
  return inTime
    .where("study.severity", ">=", p.severity)
    .where((where) => where.or([sql<boolean>`${p.patientId} = 0`, where("study.patient_id", "=", p.patientId)]))
    .where((where) => where.or([sql<boolean>`${p.device} = ''`, where("study.device_name", "=", p.device)]))
    .where(sql<boolean>`(${p.modality} = '' or study.modality = ${p.modality})`)
    .where((where) =>
      where.or([
        sql<boolean>`${p.words} = ''`,
        where("study.patient_id", "in", found),
        where.and([
          where("study.clinic_id", "=", p.clinicId),
          sql<boolean>`study.search_words like ${p.words} escape '!'`,
        ]),
      ]),
    );
}

const deviceNames = query((db, p: { clinicId: number }) =>
  ofPatients(anyStudies(db), p)
    .select("study.device_name")
    .union(unmatched(anyStudies(db), p).select("study.device_name"))
    .orderBy("device_name")
    .limit(200),
);

const names = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
    .select(["patient.id", "patient.name"])
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .orderBy("clinic_patient.patient_updated_at", "desc"),
);
