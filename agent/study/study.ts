import type { ClinicRanges } from "../../shared/clinical/clinic-ranges.ts";
import type { Patient } from "../../shared/api/patient.ts";
import { resultsOf } from "../../shared/clinical/results.ts";
import {
  COMMENT_CHARS_MAX,
  COMMENTS_MAX,
  type NotReported,
  type Result,
  type StudySource,
} from "../../shared/api/study.ts";
import { flaggedPatient, signalmentAt } from "../../shared/clinical/signalment.ts";
import { describe, type Report } from "../report/report.ts";
import type { StudyBody } from "../report/revision.ts";

/**
 * Creates the study of a Report, with flags for the patient's species, age and sex at `acquired_at`. Without a patient the
 * species is unknown, so results have neither range nor flag.
 */
export function study(
  report: Report,
  patient: Patient | null,
  source: StudySource,
  model: string | null = null,
  ranges: ClinicRanges | null = null,
): StudyBody {
  const { device_name, modality, acquired_at, dedupe_key, patient_hint } = report;
  const signalment = patient === null ? null : signalmentAt(patient, acquired_at);
  const context = { signalment, instrument: model ?? device_name, acquired_at, ranges };
  const { results, snapshot } = resultsOf(report.rows, context, [...report.notes, ...describe(report)]);
  const comments = commentsOf(report.comments);
  const body = {
    patient_fp: patient?.fp ?? null,
    modality,
    device_name,
    status: "COMPLETED" as const,
    acquired_at,
    results,
    ...(comments.length === 0 ? {} : { comments }),
    dedupe_key,
    source,
    patient_hint,
  };
  const isCollected = report.collect?.repeatedBy !== undefined;
  const rows = isCollected ? snapshot.rows.map((row) => ({ ...row, measured_at: acquired_at })) : snapshot.rows;
  const notReported = gapsOf(report, results);
  const flaggedFor = {
    ...{ ...snapshot, rows, animal: patient === null ? null : flaggedPatient(patient) },
    ...(notReported.length === 0 ? {} : { not_reported: notReported }),
  };
  return {
    body,
    snapshot: flaggedFor,
    ...(report.withdrawn === undefined ? {} : { withdrawn: report.withdrawn }),
  };
}

/** Returns each comment once. A longer one goes on in the next, so that no word is lost. */
function commentsOf(texts: readonly string[]): string[] {
  const once = [...new Set(texts.map((text) => text.trim()))];
  const parts = once.flatMap((text) => text.match(new RegExp(`.{1,${COMMENT_CHARS_MAX}}`, "gs")) ?? []);
  return parts.slice(0, COMMENTS_MAX);
}

/** Returns one result without a value for each test; none for a test that another row reports. */
function gapsOf({ notReported = [] }: Report, results: readonly Result[]): NotReported[] {
  const reported = new Set(results.map(({ analyte }) => analyte));
  const byTest = new Map(notReported.map((gap) => [gap.analyte, gap]));
  return [...byTest.values()].filter(({ analyte }) => !reported.has(analyte));
}
