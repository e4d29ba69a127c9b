import type { Patient } from "../../../shared/api/patient.ts";
import { flagMismatchNote } from "./flagging.ts";
import { announceStudy } from "../changes/clinic-studies.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { flagForPatient, intervalAnimal } from "../studies/flags.ts";
import { findIntactStudy } from "../studies/studies.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";

// Flags are stored, so that a correction of the patient leaves them as they were. Each such study is marked with the species of its
// flags until a person has it flagged again: the day's doctor saw the old ones.

/**
 * Marks the studies of a patient, or the one with `fp`, that would have other ranges or flags for its facts as they are now, and
 * unmarks the others. Call it after each correction. A damaged study stays as it is.
 */
export async function markOutdatedFlags(
  session: Session,
  patientId: number,
  patient: Patient,
  now: number,
  only: string | null = null,
): Promise<void> {
  const fps = only === null ? (await session.all(flaggedOf, { patientId })).map(({ fp }) => fp) : [only];
  const facts = fps.length === 0 ? patient : await intervalAnimal(session, patient);
  for (const fp of fps) {
    const study = await findIntactStudy(session, fp);
    if (study?.patient_id !== patientId) continue;
    const snapshot = parseStored(study.snapshot);
    const animal = snapshot?.animal ?? null;
    if (snapshot === null || animal === null) continue;
    const flagged = { patient_fp: patient.fp, acquired_at: timestampOf(study.acquired_at), snapshot };
    const isOutdated =
      flagMismatchNote(flagged, facts, patient) !== null &&
      (await flagForPatient(session, study, patient)).results !== study.results;
    const species = isOutdated ? animal.species : null;
    if (species === study.flagged_species) continue;
    await session.all(mark, { id: study.id, patientId, species });
    // The mark is a part of the study that clients read.
    await announceStudy(session, { fp, patientId, previousPatientId: patientId, now });
  }
}

const flaggedOf = query((db, p: { patientId: number }) =>
  db
    .selectFrom("study")
    .select("fp")
    .where("patient_id", "=", p.patientId)
    .where("snapshot", "is not", null)
    .where("results", "!=", "[]"),
);

const mark = query(
  (db, p: { id: number; patientId: number; species: string | null }) =>
    db.updateTable("study").set({ flagged_species: p.species }).where("id", "=", p.id),
  ({ patientId }) => ({ patients: [patientId] }),
);
