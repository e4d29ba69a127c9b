import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import { openFailures } from "../../../shared/clinical/control/study-quality.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import type { StudyPage } from "../../dashboard/types/results/results.ts";
import { readRemark } from "../studies/study-remark.ts";
import { studyRows } from "./study-rows.ts";
import { withBefore } from "../comparison/results-before.ts";
import type { Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { findPatient, type FoundPatient } from "../patients/patients.ts";
import { rangesOfStudies } from "../studies/stored-results.ts";
import { isTyped } from "../studies/history.ts";
import { isMoved } from "../unmatched/commands.ts";
import { openStudy } from "../studies/open-studies.ts";
import { findStoredStudy, type StoredStudy } from "../studies/studies.ts";
import { toStudy } from "../studies/study-content.ts";
import { gapsIn } from "../trail/gaps.ts";
import { studyEvents } from "../trail/study-events.ts";

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
  const snapshot = parseStored(stored.snapshot);
  const source = isOwn ? parseStored(stored.source) : null;
  const ranges = (await rangesOfStudies(session, [stored]))(stored);
  const study = toStudy(stored);
  const { history, places, revisions, conflicts, timeLine } = await studyEvents(session, clinicId, stored);
  const samples = source?.sample_ids ?? [];
  const quality = parseStored(stored.quality);
  const hasFailure = quality !== null && openFailures(quality).length > 0;
  return {
    fp,
    place: places.at(-1) ?? { kind: "patient of others" },
    patient: patient === undefined ? null : patientOf(patient),
    hint: isOwn ? parseStored(stored.patient_hint) : null,
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
    quality,
    can: { ...rightsOn(stored, isOwn || stored.clinic_id === null), release: isOwn && hasFailure },
    is_typed: isTyped(history, stored, clinicId),
    sets: snapshot === null ? null : { catalogue: snapshot.catalogue, clinic: snapshot.ranges },
    revisions: revisions.toReversed(),
    conflicts,
    time_line: timeLine,
    gaps: gapsIn(timeLine),
  };
}

function rightsOn(stored: StoredStudy, isEditable: boolean): Omit<StudyPage["can"], "release"> {
  return {
    move: isEditable && stored.patient_id !== null,
    undo: isEditable && isMoved(stored),
    flag: isEditable && stored.flagged_species !== null,
  };
}

function patientOf({ patient, precise_species }: FoundPatient) {
  const { fp, name, species, breed, sex, date_of_birth } = patient;
  return { fp, name, species: precise_species ?? species, breed, sex, date_of_birth };
}
