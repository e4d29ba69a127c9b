import type { Patient } from "../../../shared/api/patient.ts";
import { shown } from "../../../shared/api/problems.ts";
import type { PatientHint, Snapshot } from "../../../shared/api/study.ts";
import { readSpecies } from "../../../shared/clinical/species.ts";
import { type AuditActor, auditCommand } from "../audit.ts";
import { query, type Session } from "../database/query.ts";
import type { StudyColumns } from "../database/schema.ts";
import { findPatient } from "../patients/patients.ts";
import { flagFor } from "./flags.ts";
import { findStored, replaceStudy, type StoredStudy } from "./studies.ts";
import { parsed } from "./study-content.ts";

/**
 * Files a study to the patient: range and flag are computed once, for the patient's species and the interval of the day of the
 * sample. A study that is filed already moves. A patient of another species than the device stated needs `despite`, which the
 * history and the audit keep. To be run in a transaction, as all that follow.
 */
export async function assignStudy(
  session: Session,
  { fp, patientFp, despite, ...act }: AuditActor & { fp: string; patientFp: string; despite?: "species" },
): Promise<string | null> {
  const stored = await findStored(session, fp);
  const problem = whyNotTouch(stored, fp);
  if (stored?.clinic_id == null) return problem;
  const patient = await findPatient(session, stored.clinic_id, patientFp);
  if (patient === undefined) return missingPatientProblem(session, patientFp);
  if (!patient.connected) return `patient ${patientFp} has no active connection to the study's clinic`;
  if (stored.patient_id === patient.id) return `${fp} is filed to ${patientFp} already`;
  const contradiction = speciesContradiction(stored, patient.patient);
  if (contradiction !== null && despite !== "species") {
    return `${contradiction}, expected a patient of the device's species, or --despite species to file it all the same`;
  }
  const flagged = await flagFor(session, stored, patient.patient);
  const placed = { patient_id: patient.id, unmatched_reason: null };
  if (contradiction === null) {
    await change(session, stored, { ...flagged, ...placed, cause: "assigned" }, act);
    await auditCommand(session, "unmatched assign", [fp, patientFp], act);
  } else {
    const snapshot = noted(flagged.snapshot, `filed to ${patientFp} despite the species: ${contradiction}`);
    await change(session, stored, { ...flagged, snapshot, ...placed, cause: "assigned despite species" }, act);
    await auditCommand(session, "unmatched assign --despite species", [fp, patientFp], act);
  }
  return null;
}

/** Says why a patient is not found: deleted, or never imported. */
export async function missingPatientProblem(session: Session, fp: string): Promise<string> {
  const isDeleted = (await session.first(deletedPatient, { fp })) !== undefined;
  return isDeleted
    ? `patient ${fp} is deleted, expected a patient of the clinic`
    : `patient ${fp} does not exist, expected the fp of an imported patient`;
}

/** Null where the device stated no species, or a word that the species map does not know. */
function speciesContradiction(stored: StoredStudy, { fp, species }: Patient): string | null {
  const words = (parsed(stored.patient_hint) as PatientHint | null)?.species ?? "";
  const stated = readSpecies(words);
  if (stated === null || stated === (readSpecies(species) ?? species)) return null;
  return `the device states the species ${shown(words)} (${stated}) and patient ${fp} is a ${species}`;
}

/** A snapshot with one more note; null stays null, the cause of the revision says it then. */
function noted(snapshot: string | null, note: string): string | null {
  if (snapshot === null) return null;
  const kept = JSON.parse(snapshot) as Snapshot;
  return JSON.stringify({ ...kept, notes: [...kept.notes, note] });
}

/** Takes a study off the list: it is nobody's. */
export async function rejectStudy(
  session: Session,
  { fp, reason, ...act }: AuditActor & { fp: string; reason: string },
): Promise<string | null> {
  const stored = await findStored(session, fp);
  const problem = whyNotTouch(stored, fp);
  if (stored?.clinic_id == null) return problem;
  if (stored.patient_id !== null) return `${fp} is filed to ${stored.patient_fp}, expected one that is unmatched`;
  if (stored.rejected_reason !== null) return `${fp} is rejected already: ${stored.rejected_reason}`;
  await change(session, stored, { rejected_reason: reason, cause: "rejected" }, act);
  await auditCommand(session, "unmatched reject", [fp], act);
  return null;
}

/** Takes back what a person did: the study waits for a person again, without range and flag. */
export async function reopenStudy(
  session: Session,
  { fp, ...act }: AuditActor & { fp: string },
): Promise<string | null> {
  const stored = await findStored(session, fp);
  const problem = whyNotTouch(stored, fp);
  if (stored?.clinic_id == null) return problem;
  const isRejected = stored.rejected_reason !== null;
  if (stored.placed_by_user === 0 || (stored.patient_id === null && !isRejected)) {
    return `${fp} was neither assigned nor rejected by a person`;
  }
  const unmatched_reason = isRejected
    ? "a person rejected it and took that back"
    : `a person took it back from ${stored.patient_fp}`;
  const flagged = await flagFor(session, stored, null);
  await change(
    session,
    stored,
    { ...flagged, patient_id: null, unmatched_reason, rejected_reason: null, cause: "undone" },
    act,
  );
  await auditCommand(session, "unmatched reopen", [fp, stored.patient_fp], act);
  return null;
}

function whyNotTouch(stored: StoredStudy | undefined, fp: string): string | null {
  if (stored === undefined) return `study ${fp} does not exist`;
  if (stored.clinic_id === null) return `${fp} was imported, expected a study that a clinic's agent sent`;
  return null;
}

async function change(
  session: Session,
  stored: StoredStudy,
  changed: Partial<StudyColumns> & Pick<StudyColumns, "cause">,
  { now }: AuditActor,
): Promise<void> {
  const { id: _id, patient_fp: _patient, ...columns } = stored;
  const row = { ...columns, ...changed, revision: stored.revision + 1, placed_by_user: 1, received_at: now };
  await replaceStudy(session, stored, row, now);
}

const deletedPatient = query((db, p: { fp: string }) =>
  db.selectFrom("patient").select("id").where("fp", "=", p.fp).where("deleted_at", "is not", null),
);
