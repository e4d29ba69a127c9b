import type { Kysely } from "kysely";
import type { Modality, Study, StudySource } from "../../../shared/api/study.ts";
import type { StudyQuality } from "../../../shared/clinical/control/study-quality.ts";
import { leftOut } from "../../database/damaged-records.ts";
import { query, type Session } from "../../database/query.ts";
import { type OptionalStudyColumns, parseStored, type StudyColumns, type Tables } from "../../database/schema.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { toStudy } from "../studies/study-content.ts";

// The studies that a clinic reads, the first changed first. A study that changes during a walk comes again at its end, so a walk
// misses none.

/** A study with what a receiver of its revisions needs. */
export interface WalkedStudy {
  readonly id: number;
  readonly study: Study;
  readonly species: string;
  readonly revision: number;
  readonly receivedAt: number;
  readonly changedAt: number;
  readonly source: StudySource | null;
  /** The state of its device's controls; null where its clinic kept none. */
  readonly quality: StudyQuality | null;
}

export type StudyKind = "any" | "lab" | "imaging";

interface StudyWalk {
  readonly clinicId: number;
  readonly kind: StudyKind;
  /** Null for every patient. */
  readonly patientFp: string | null;
  /** Bounds of the last change and of the measurement, ms since 1970; the second one is excluded. */
  readonly changed: Bounds;
  readonly acquired: Bounds;
  readonly after: StudyKey;
  readonly limit: number;
}

export interface Bounds {
  readonly from: number;
  readonly before: number;
}

/** A place in the order of the list. */
interface StudyKey {
  readonly changedAt: number;
  readonly studyId: number;
}

/** The place before all studies. */
export const FIRST_STUDY: StudyKey = { changedAt: Number.MIN_SAFE_INTEGER, studyId: 0 };

interface WalkedStudies {
  readonly studies: readonly WalkedStudy[];
  /** The last study of the page, also a damaged one that the page leaves out; null if no study follows it. */
  readonly last: { readonly changedAt: number; readonly fp: string } | null;
  /** Number of damaged studies that the page leaves out. */
  readonly leftOut: number;
}

/** Lists the studies after a place. */
export async function walkStudies(session: Session, walk: StudyWalk): Promise<WalkedStudies> {
  const { clinicId, kind, patientFp, changed, acquired, after, limit } = walk;
  const { keys, page } = QUERIES[kind][patientFp === null ? "everyPatient" : "onePatient"];
  const parameters = {
    ...{ clinicId, patientFp: patientFp ?? "", ...after },
    ...{ changedFrom: changed.from, changedBefore: changed.before },
    ...{ acquiredFrom: acquired.from, acquiredBefore: acquired.before },
  };
  // One more, which shows whether another page follows.
  const found = await session.all(keys, { ...parameters, limit: limit + 1 });
  const last = found.at(Math.min(limit, found.length) - 1);
  if (last === undefined) return { studies: [], last: null, leftOut: 0 };
  const end = { lastChangedAt: last.changed_at, lastStudyId: last.study_id };
  const rows = await session.all(page, { ...parameters, ...end });
  return {
    studies: rows.map(toWalkedStudy),
    last: found.length > limit ? { changedAt: last.changed_at, fp: last.fp } : null,
    leftOut: leftOut(rows),
  };
}

/**
 * Finds a filed study, and whether the clinic reads it.
 * @returns undefined if the study is unknown or unmatched, or its patient is deleted @throws DamagedRecord
 */
export async function findWalkedStudy(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<(WalkedStudy & { readonly connected: boolean }) | undefined> {
  const row = await session.first(byFp, { clinicId, fp });
  if (row === undefined) return undefined;
  const changed_at = row.changed_at ?? row.received_at;
  return { ...toWalkedStudy({ ...row, changed_at }), connected: row.active === 1 };
}

/** Returns the place of a study in the list, before all of its time if it is unknown. */
export async function placeOfStudy(session: Session, changedAt: number, fp: string): Promise<StudyKey> {
  return { changedAt, studyId: (await session.first(idOfStudy, { fp }))?.id ?? 0 };
}

/** Lists the replaced revisions of a study that were filed. */
export async function listFiledRevisions(
  session: Session,
  studyId: number,
): Promise<Pick<Study, "patient_fp" | "results">[]> {
  const rows = await session.all(revisions, { studyId });
  return rows
    .map(({ body }) => parseStored(body))
    .filter(({ patient_fp, unmatched_reason }) => patient_fp !== "" && unmatched_reason === null);
}

/** Whether a record left the lists of a clinic and did not return. */
export async function hasLeft(session: Session, clinicId: number, fp: string): Promise<boolean> {
  return (await session.first(removal, { clinicId, fp })) !== undefined;
}

type StudyRow = Parameters<typeof toStudy>[0] & {
  readonly id: number;
  readonly species: string;
  readonly revision: number;
  readonly received_at: number;
  readonly changed_at: number;
  readonly source: StudyColumns["source"];
  readonly quality: OptionalStudyColumns["quality"];
};

function toWalkedStudy(row: StudyRow): WalkedStudy {
  return {
    id: row.id,
    study: toStudy(row),
    species: row.species,
    revision: row.revision,
    receivedAt: row.received_at,
    changedAt: row.changed_at,
    source: parseStored(row.source),
    quality: parseStored(row.quality),
  };
}

interface WalkParameters extends StudyKey {
  readonly clinicId: number;
  readonly patientFp: string;
  readonly changedFrom: number;
  readonly changedBefore: number;
  readonly acquiredFrom: number;
  readonly acquiredBefore: number;
}

const IMAGES: readonly Modality[] = ["RADIOLOGY", "ULTRASOUND", "ENDOSCOPY"];

const QUERIES = {
  any: queriesOf("any"),
  lab: queriesOf("lab"),
  imaging: queriesOf("imaging"),
};

function queriesOf(kind: StudyKind) {
  return { everyPatient: walkQueries(kind, false), onePatient: walkQueries(kind, true) };
}

function walkQueries(kind: StudyKind, byPatient: boolean) {
  return {
    keys: query((db, p: WalkParameters & { limit: number }) =>
      matches(db, p, kind, byPatient)
        .select(["clinic_study.changed_at", "clinic_study.study_id", "study.fp"])
        .orderBy("clinic_study.changed_at")
        .orderBy("clinic_study.study_id")
        .limit(p.limit),
    ),
    page: checked(
      query((db, p: WalkParameters & { lastChangedAt: number; lastStudyId: number }) =>
        matches(db, p, kind, byPatient)
          .where((where) =>
            where(
              where.refTuple("clinic_study.changed_at", "clinic_study.study_id"),
              "<=",
              where.tuple(p.lastChangedAt, p.lastStudyId),
            ),
          )
          .select(["clinic_patient.patient_fp", "clinic_patient.patient_species as species", "clinic_study.changed_at"])
          .select(["study.id", "study.revision", "study.received_at", "study.source"])
          .select(STUDY_CONTENT)
          .orderBy("clinic_study.changed_at")
          .orderBy("clinic_study.study_id"),
      ),
    ),
  };
}

// The connection is joined once more, so that no fault of the list could show a study of a patient that the clinic does not list.
function matches(db: Kysely<Tables>, p: WalkParameters, kind: StudyKind, byPatient: boolean) {
  return db
    .selectFrom("clinic_study")
    .innerJoin("study", "study.id", "clinic_study.study_id")
    .innerJoin("clinic_patient", (join) =>
      join
        .onRef("clinic_patient.patient_id", "=", "study.patient_id")
        .onRef("clinic_patient.clinic_id", "=", "clinic_study.clinic_id")
        .on("clinic_patient.listed", "=", 1),
    )
    .where("clinic_study.clinic_id", "=", p.clinicId)
    .where("clinic_study.changed_at", ">=", p.changedFrom)
    .where("clinic_study.changed_at", "<", p.changedBefore)
    .where("study.acquired_at", ">=", p.acquiredFrom)
    .where("study.acquired_at", "<", p.acquiredBefore)
    .where((where) =>
      where(
        where.refTuple("clinic_study.changed_at", "clinic_study.study_id"),
        ">",
        where.tuple(p.changedAt, p.studyId),
      ),
    )
    .$if(byPatient, (rows) =>
      // The studies of the patient by their index, not those of the clinic one by one.
      rows.where("clinic_study.study_id", "in", (own) =>
        own
          .selectFrom("study as own")
          .innerJoin("patient", "patient.id", "own.patient_id")
          .select("own.id")
          .where("patient.fp", "=", p.patientFp),
      ),
    )
    .$if(kind === "lab", (rows) => rows.where("study.modality", "not in", IMAGES))
    .$if(kind === "imaging", (rows) => rows.where("study.modality", "in", IMAGES));
}

const byFp = checked(
  query((db, p: { clinicId: number; fp: string }) =>
    db
      .selectFrom("study")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .leftJoin("clinic_patient", (join) =>
        join.onRef("clinic_patient.patient_id", "=", "patient.id").on("clinic_patient.clinic_id", "=", p.clinicId),
      )
      .leftJoin("clinic_study", (join) =>
        join.onRef("clinic_study.study_id", "=", "study.id").on("clinic_study.clinic_id", "=", p.clinicId),
      )
      .select(STUDY_CONTENT)
      .select(["study.id", "study.revision", "study.received_at", "study.source", "clinic_study.changed_at"])
      .select(["patient.fp as patient_fp", "patient.species", "clinic_patient.active"])
      .where("study.fp", "=", p.fp)
      .where("patient.deleted_at", "is", null),
  ),
);

const idOfStudy = query((db, p: { fp: string }) => db.selectFrom("study").select("id").where("fp", "=", p.fp));

const revisions = query((db, p: { studyId: number }) =>
  db.selectFrom("study_revision").select("body").where("study_id", "=", p.studyId).orderBy("revision"),
);

const removal = query((db, p: { clinicId: number; fp: string }) =>
  db.selectFrom("clinic_removal").select("fp").where("clinic_id", "=", p.clinicId).where("fp", "=", p.fp),
);
