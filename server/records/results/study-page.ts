import { type Kysely, sql } from "kysely";
import type { PatientHint, Snapshot, Study, StudySource } from "../../../shared/api/study.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import type {
  Place,
  Revision,
  StudyConflict,
  StudyPage,
  TimeLineEvent,
} from "../../dashboard/types/results/results.ts";
import { rowChanges } from "../filing/revision-changes.ts";
import { readRemark } from "../studies/study-remark.ts";
import { studyRows } from "./study-rows.ts";
import { withBefore } from "../comparison/results-before.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { findPatient } from "../patients/patients.ts";
import { rangesOfStudies } from "../studies/stored-results.ts";
import { listConflicts } from "../studies/conflicts.ts";
import { historyOf, type HistoryEntry, isTyped } from "../studies/history.ts";
import { isMoved } from "../unmatched/commands.ts";
import { openStudy } from "../studies/open-studies.ts";
import { findStoredStudy, type StoredStudy } from "../studies/studies.ts";
import { parseStored, timestampOf, toStudy } from "../studies/study-content.ts";

// One study as a clinic sees it, with its revisions and its time line.

/** Finds a study of a connected patient, or an unmatched one of the clinic itself. */
export async function findVisible(session: Session, clinicId: number, fp: string): Promise<StoredStudy | undefined> {
  const isVisible = (await session.first(openStudy, { clinicId, fp })) !== undefined;
  return isVisible ? findStoredStudy(session, fp) : undefined;
}

/** @returns undefined if the clinic may not see the study, or there is none */
export async function readStudyPage(
  session: Session,
  clinicId: number,
  fp: string,
  units: UnitChoice,
): Promise<StudyPage | undefined> {
  const stored = await findVisible(session, clinicId, fp);
  if (stored === undefined) return undefined;
  const isOwn = stored.clinic_id === clinicId;
  const patient = stored.patient_fp === null ? undefined : await findPatient(session, clinicId, stored.patient_fp);
  const snapshot = parseStored(stored.snapshot) as Snapshot | null;
  const source = isOwn ? (parseStored(stored.source) as StudySource | null) : null;
  const ranges = (await rangesOfStudies(session, [stored]))(stored);
  const study = toStudy(stored);
  const commands = await session.all(commandsOn, { clinicId, fp });
  const history = await historyOf(session, stored);
  const places = await placesOf(session, clinicId, history, isOwn);
  const revisions = history.map((entry, index): Revision => {
    const before = history[index - 1]?.study.results;
    return {
      revision: entry.revision,
      at: entry.at,
      cause: entry.cause,
      by: authorOf(entry, commands, source),
      place: places[index] ?? { kind: "patient of others" },
      reason: isOwn ? entry.cause_reason : null,
      changes: before === undefined ? [] : rowChanges(before, entry.study.results),
    };
  });
  const conflicts = await conflictsOf(session, clinicId, study);
  const samples = source?.sample_ids ?? [];
  return {
    fp,
    place: places.at(-1) ?? { kind: "patient of others" },
    patient: patient === undefined ? null : patientOf(patient.patient),
    hint: isOwn ? (parseStored(stored.patient_hint) as PatientHint | null) : null,
    modality: study.modality,
    device_name: study.device_name,
    source: source === null ? null : { device_id: source.device_id, message_id: source.message_id },
    sample_ids: samples,
    study_instance_uid: source?.study_instance_uid ?? null,
    acquired_at: study.acquired_at,
    received_at: timestampOf(stored.received_at),
    revision: stored.revision,
    cause: stored.cause,
    rows: await withBefore(
      session,
      { stored, found: patient, units },
      studyRows(study, snapshot, ranges, { units, isOwn }),
    ),
    comments: study.comments ?? [],
    not_reported: snapshot?.not_reported ?? [],
    notes: isOwn ? (snapshot?.notes ?? []) : [],
    remark: patient === undefined ? null : await readRemark(session, { clinicId, fp, patientFp: patient.patient.fp }),
    order: isOwn ? (study.order ?? null) : null,
    flagged_for: stored.flagged_species === null ? null : (snapshot?.animal ?? null),
    can: rightsOn(stored, isOwn || stored.clinic_id === null),
    is_typed: isTyped(history, stored, clinicId),
    sets: snapshot === null ? null : { catalogue: snapshot.catalogue, clinic: snapshot.ranges },
    revisions: revisions.toReversed(),
    conflicts,
    time_line: inTime([
      { at: study.acquired_at, kind: "sample", device: study.device_name, samples },
      ...stepsIn(revisions, conflicts, commands),
      ...(await readsOf(session, clinicId, fp)),
    ]),
  };
}

function rightsOn(stored: StoredStudy, isEditable: boolean): StudyPage["can"] {
  return {
    move: isEditable && stored.patient_id !== null,
    undo: isEditable && isMoved(stored),
    flag: isEditable && stored.flagged_species !== null,
  };
}

async function conflictsOf(session: Session, clinicId: number, { fp, results }: Study): Promise<StudyConflict[]> {
  return (await listConflicts(session, { fp, clinicId })).map(({ at, revision, reason, study: pushed }) => ({
    ...{ at, revision, reason },
    changes: rowChanges(results, pushed.results),
  }));
}

function patientOf({ fp, name, species, breed, sex, date_of_birth }: NonNullable<StudyPage["patient"]>) {
  return { fp, name, species, breed, sex, date_of_birth };
}

/**
 * Returns where each revision was. A patient that the clinic may not see has no name, and the reasons of another clinic may name
 * one.
 */
async function placesOf(
  session: Session,
  clinicId: number,
  history: readonly HistoryEntry[],
  isOwn: boolean,
): Promise<Place[]> {
  const places: Place[] = [];
  for (const entry of history) {
    const { patient_fp: fp, rejected_reason, unmatched_reason } = entry;
    if (fp === null) {
      places.push(
        rejected_reason === null
          ? { kind: "unmatched", reason: isOwn ? unmatched_reason : null }
          : { kind: "rejected", reason: isOwn ? rejected_reason : null },
      );
      continue;
    }
    const found = await findPatient(session, clinicId, fp);
    places.push(
      found?.connected === true ? { kind: "patient", fp, name: found.patient.name } : { kind: "patient of others" },
    );
  }
  return places;
}

/** Returns the user of a revision by the audit's row of the same instant, else the device that sent it. */
function authorOf(
  { at, cause }: HistoryEntry,
  commands: readonly { at: number; by: string }[],
  source: StudySource | null,
): string | null {
  if (cause === "pushed") return source?.device_id ?? null;
  return commands.find((command) => command.at === Date.parse(at))?.by ?? null;
}

/** Returns the events of revisions and conflicts, and of the commands that made no revision. */
function stepsIn(
  revisions: readonly Revision[],
  conflicts: readonly StudyConflict[],
  commands: readonly { at: number; route: string | null; by: string }[],
): TimeLineEvent[] {
  return [
    ...revisions.map(({ revision, at, cause, by, place }) => ({
      ...({ at, kind: "revision" } as const),
      ...{ revision, cause, by, place },
    })),
    ...conflicts.map(({ at, revision, reason }) => ({ at, kind: "conflict" as const, revision, reason })),
    ...commands
      .filter(({ at }) => revisions.every((revision) => Date.parse(revision.at) !== at))
      .map(({ at, route, by }) => ({ at: timestampOf(at), kind: "command" as const, command: route ?? "", by })),
  ];
}

async function readsOf(session: Session, clinicId: number, fp: string): Promise<TimeLineEvent[]> {
  const rows = await session.all(readsOfStudy, { clinicId, fp });
  return rows.map(({ key, user, first, last, times }) => ({
    at: timestampOf(first),
    kind: "read",
    by: key ?? user ?? "",
    is_key: key !== null,
    times,
    last_at: timestampOf(last),
  }));
}

function inTime(events: readonly TimeLineEvent[]): TimeLineEvent[] {
  return events.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** The audit's rows about a study. The condition on the prefix of the fp lets the index of studies serve. */
function auditOf(db: Kysely<Tables>, fp: string) {
  return db.selectFrom("audit").where("audit.fp", "=", fp).where(sql<boolean>`substr(audit.fp, 1, 4) = 'cds_'`);
}

// Commands of the command line name no clinic.
const commandsOn = query((db, p: { clinicId: number; fp: string }) =>
  auditOf(db, p.fp)
    .select(["audit.at", "audit.route"])
    .select((select) => select.fn.coalesce("audit.address", select.val("")).as("by"))
    .where("audit.method", "=", "COMMAND")
    .where((where) => where.or([where("audit.clinic_id", "is", null), where("audit.clinic_id", "=", p.clinicId)]))
    .orderBy("audit.id"),
);

/** Reads of a study by the clinic's keys and users. */
export const readsOfStudy = query((db, p: { clinicId: number; fp: string }) =>
  auditOf(db, p.fp)
    .leftJoin("api_key", "api_key.id", "audit.api_key_id")
    .leftJoin("dashboard_user", "dashboard_user.id", "audit.user_id")
    .select(["api_key.name as key", "dashboard_user.name as user"])
    .select((select) => [
      select.fn.min("audit.at").as("first"),
      select.fn.max("audit.at").as("last"),
      select.fn.sum<number>("audit.times").as("times"),
    ])
    .where("audit.method", "=", "GET")
    // The pictures belong to the page.
    .where("audit.route", "not like", "%/previews%")
    .where("audit.status", "in", [200, 304])
    .where((where) =>
      where.or([where("api_key.clinic_id", "=", p.clinicId), where("audit.clinic_id", "=", p.clinicId)]),
    )
    .groupBy(["api_key.id", "api_key.name", "dashboard_user.id", "dashboard_user.name"])
    .orderBy("first"),
);
