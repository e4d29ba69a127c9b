import type { Patient } from "../../../shared/api/patient.ts";
import type { Result, Snapshot, Study } from "../../../shared/api/study.ts";
import { animalAt, flaggedPatient } from "../../../shared/clinical/reference.ts";
import { measurementsOf, resultsOf } from "../../../shared/clinical/results.ts";
import type { Session } from "../database/query.ts";
import type { StudyColumns } from "../database/schema.ts";
import { currentRanges } from "../ranges.ts";
import { canonical } from "./study-content.ts";

/**
 * A stored study's results with range and flag for the patient, by the clinic's intervals and the catalogue of now for the day
 * of the sample; without a patient they have neither. If a result is of no known analyte, nothing is flagged, and the snapshot
 * is null unless all results are measurements in images.
 */
export async function flagFor(
  session: Session,
  study: Pick<StudyColumns, "clinic_id" | "modality" | "device_name" | "acquired_at" | "results" | "snapshot">,
  patient: Patient | null,
): Promise<Pick<StudyColumns, "results" | "snapshot">> {
  const { modality, device_name, clinic_id } = study;
  const acquired_at = new Date(study.acquired_at).toISOString();
  const results = JSON.parse(study.results) as Result[];
  const before = study.snapshot === null ? null : (JSON.parse(study.snapshot) as Snapshot);
  const measurements = measurementsOf({ modality: modality as Study["modality"], results }, before);
  if (measurements === null) {
    const bare = results.map((result) => ({ ...result, reference_range: null, flag: null }));
    // Measurements in images have no intervals, so that their rows stay true for every patient.
    const isOfImages = before?.rows.every(({ meaning }) => meaning !== undefined) ?? false;
    return { results: canonical(bare), snapshot: isOfImages ? study.snapshot : null };
  }
  const circumstances = {
    animal: patient === null ? null : animalAt(patient, acquired_at),
    instrument: before?.instrument ?? device_name,
    acquired_at,
    ranges: (clinic_id === null ? null : await currentRanges(session, clinic_id)) ?? null,
  };
  const flagged = resultsOf(measurements, circumstances, before?.notes);
  const snapshot = { ...flagged.snapshot, animal: patient === null ? null : flaggedPatient(patient) };
  return { results: canonical(flagged.results), snapshot: JSON.stringify(snapshot) };
}
