import type { Patient } from "../../../shared/api/patient.ts";
import { flaggedPatient } from "../../../shared/clinical/signalment.ts";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";
import { intervalFacts } from "../../../shared/clinical/species.ts";
import { measurementsOf, resultsOf } from "../../../shared/clinical/results.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored, type StudyColumns } from "../../database/schema.ts";
import { currentRanges } from "../clinics/ranges.ts";
import { canonical } from "./study-content.ts";

/**
 * Flags the results of a stored study for a patient, with the current intervals of the clinic and the catalogue. Intervals
 * are those of the day of the sample. If the patient is null, the results have neither range nor flag. If any analyte is
 * unknown, no result has a flag, and the snapshot is null unless all results are measurements in images.
 */
export async function flagForPatient(
  session: Session,
  study: Pick<StudyColumns, "clinic_id" | "modality" | "device_name" | "acquired_at" | "results" | "snapshot">,
  patient: Patient | null,
): Promise<Pick<StudyColumns, "results" | "snapshot">> {
  const { modality, device_name, clinic_id } = study;
  const acquired_at = new Date(study.acquired_at).toISOString();
  const results = parseStored(study.results);
  const before = parseStored(study.snapshot);
  const measurements = measurementsOf({ modality, results }, before);
  if (measurements === null) {
    const bare = results.map((result) => ({ ...result, reference_range: null, flag: null }));
    // Measurements in images have no intervals, so that their rows hold for every patient.
    const isOfImages = before?.rows.every(({ meaning }) => meaning !== undefined) ?? false;
    return { results: canonical(bare), snapshot: isOfImages ? study.snapshot : null };
  }
  const animal = patient === null ? null : await intervalAnimal(session, patient);
  const context = {
    signalment: animal === null ? null : signalmentAt(animal, acquired_at),
    instrument: before?.instrument ?? device_name,
    acquired_at,
    ranges: (clinic_id === null ? null : await currentRanges(session, clinic_id)) ?? null,
  };
  const flagged = resultsOf(measurements, context, before?.notes);
  const snapshot = {
    ...{ ...flagged.snapshot, animal: animal === null ? null : flaggedPatient(animal) },
    ...(before?.not_reported === undefined ? {} : { not_reported: before.not_reported }),
  };
  return { results: canonical(flagged.results), snapshot: JSON.stringify(snapshot) };
}

/** Returns the patient with the species and breed that select its intervals: a horse, which the API serves as `exotic`. */
export async function intervalAnimal(session: Session, patient: Patient): Promise<Patient> {
  return intervalFacts(patient, await preciseSpeciesOf(session, patient.fp));
}

/** Returns the animal that the API's word means, such as `ferret`; null if the API's word is all that is known. */
export async function preciseSpeciesOf(session: Session, fp: string): Promise<string | null> {
  return (await session.first(preciseSpecies, { fp }))?.precise_species ?? null;
}

const preciseSpecies = query((db, p: { fp: string }) =>
  db.selectFrom("patient").select("precise_species").where("fp", "=", p.fp),
);
