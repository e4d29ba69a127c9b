import { reasonOf } from "../../../shared/api/reason.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import { shown } from "../../../shared/schema/problems.ts";
import type { PatientHint, Snapshot } from "../../../shared/api/study.ts";
import { readSpecies } from "../../../shared/clinical/species.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { query, type Session } from "../../database/query.ts";
import type { StudyColumns } from "../../database/schema.ts";
import { findPatient } from "../patients/patients.ts";
import { flagForPatient } from "../studies/flags.ts";
import { historyOf } from "../studies/history.ts";
import { findStoredStudy, replaceStudy, type StoredStudy, type StudyWrite } from "../studies/studies.ts";
import { parseStored } from "../studies/study-content.ts";

// Commands of a user on a study. Each one adds a revision and audit rows, and needs a transaction. It returns the reason if
// it changes nothing, else null.

/**
 * Files an unmatched study to a patient, or moves a filed one. Flags the results for the patient's species and the intervals
 * of the day of the sample. If the device stated another species, `despite` is required. The history and the audit record it.
 */
export async function assignStudy(
  session: Session,
  { fp, patientFp, despite, ...actor }: AuditActor & { fp: string; patientFp: string; despite?: "species" },
): Promise<string | null> {
  const stored = await findStoredStudy(session, fp);
  const problem = commandProblem(stored, fp);
  if (stored?.clinic_id == null) return problem;
  const patient = await findPatient(session, stored.clinic_id, patientFp);
  if (patient === undefined) return missingPatientProblem(session, patientFp);
  if (!patient.connected) return `patient ${patientFp} has no active connection to the study's clinic`;
  if (stored.patient_id === patient.id) return `${fp} is filed to ${patientFp} already`;
  const contradiction = speciesContradiction(stored, patient.patient);
  if (contradiction !== null && despite !== "species") {
    return `${contradiction}, expected a patient of the device's species, or --despite species to file it all the same`;
  }
  const flagged = await flagForPatient(session, stored, patient.patient);
  const assigned = { patient_id: patient.id, unmatched_reason: null };
  if (contradiction === null) {
    await addRevision(session, stored, { ...flagged, ...assigned, cause: "assigned" }, actor);
    await auditCommand(session, "unmatched assign", [fp, patientFp], actor);
  } else {
    const snapshot = withNote(flagged.snapshot, `filed to ${patientFp} despite the species: ${contradiction}`);
    await addRevision(session, stored, { ...flagged, snapshot, ...assigned, cause: "assigned despite species" }, actor);
    await auditCommand(session, "unmatched assign --despite species", [fp, patientFp], actor);
  }
  return null;
}

/** @returns the reason why a patient is not found: deleted or never imported */
export async function missingPatientProblem(session: Session, fp: string): Promise<string> {
  const isDeleted = (await session.first(deletedPatient, { fp })) !== undefined;
  return isDeleted
    ? `patient ${fp} is deleted, expected a patient of the clinic`
    : `patient ${fp} does not exist, expected the fp of an imported patient`;
}

/**
 * Returns the device's word for the species if it contradicts the patient's. Null if the device stated none, or a word that the
 * species map does not contain.
 */
export function contradictedSpecies(
  { patient_hint }: Pick<StoredStudy, "patient_hint">,
  { species }: Pick<Patient, "species">,
): string | null {
  const words = (parseStored(patient_hint) as PatientHint | null)?.species ?? "";
  const stated = readSpecies(words);
  return stated === null || stated === (readSpecies(species) ?? species) ? null : words;
}

function speciesContradiction(stored: StoredStudy, patient: Patient): string | null {
  const words = contradictedSpecies(stored, patient);
  if (words === null) return null;
  const { fp, species } = patient;
  return `the device states the species ${shown(words)} (${readSpecies(words)}) and patient ${fp} is a ${species}`;
}

/** Adds a note to a snapshot. Null stays null: the cause of the revision then tells the fact alone. */
function withNote(snapshot: string | null, note: string): string | null {
  if (snapshot === null) return null;
  const parsed = JSON.parse(snapshot) as Snapshot;
  return JSON.stringify({ ...parsed, notes: [...parsed.notes, note] });
}

/** Removes an unmatched study from the list, because it belongs to no patient. */
export async function rejectStudy(
  session: Session,
  { fp, reason, ...actor }: AuditActor & { fp: string; reason: string },
): Promise<string | null> {
  const stored = await findStoredStudy(session, fp);
  const problem = commandProblem(stored, fp);
  if (stored?.clinic_id == null) return problem;
  if (stored.patient_id !== null) return `${fp} is filed to ${stored.patient_fp}, expected one that is unmatched`;
  if (stored.rejected_reason !== null) return `${fp} is rejected already: ${stored.rejected_reason}`;
  await addRevision(session, stored, { rejected_reason: reason, cause: "rejected" }, actor);
  await auditCommand(session, "unmatched reject", [fp], actor);
  return null;
}

/** Undoes an assignment or a rejection. The study is unmatched again, without ranges and flags. */
export async function reopenStudy(
  session: Session,
  { fp, ...actor }: AuditActor & { fp: string },
): Promise<string | null> {
  const stored = await findStoredStudy(session, fp);
  const problem = commandProblem(stored, fp);
  if (stored?.clinic_id == null) return problem;
  const isRejected = stored.rejected_reason !== null;
  if (stored.placed_by_user === 0 || (stored.patient_id === null && !isRejected)) {
    return `${fp} was neither assigned nor rejected by a user`;
  }
  const unmatched_reason = JSON.stringify(
    isRejected ? reasonOf("PERSON.UNREJECTED") : reasonOf("PERSON.REOPENED", stored.patient_fp ?? ""),
  );
  const flagged = await flagForPatient(session, stored, null);
  await addRevision(
    session,
    stored,
    { ...flagged, patient_id: null, unmatched_reason, rejected_reason: null, cause: "undone" },
    actor,
  );
  await auditCommand(session, "unmatched reopen", [fp, stored.patient_fp], actor);
  return null;
}

/**
 * Moves a filed study of the clinic, however it was filed, to another patient, or with null back to the desk, and keeps the reason.
 * `actor.clinicId` is the clinic of the user: it gets an imported study as its own. `despite` as for assignStudy().
 */
export async function moveStudy(
  session: Session,
  {
    fp,
    clinicId,
    patientFp,
    reason,
    despite,
    ...actor
  }: AuditActor & { fp: string; clinicId: number; patientFp: string | null; reason: string; despite?: "species" },
): Promise<string | null> {
  const stored = await findStoredStudy(session, fp);
  const problem = moveProblem(stored, fp, clinicId);
  if (stored === undefined || problem !== null) return problem;
  if (stored.patient_id === null) return `${fp} is filed to no patient, expected a filed study`;
  // An imported study becomes the clinic's own, with the clinic's intervals.
  const own = { ...stored, clinic_id: clinicId };
  if (patientFp === null) {
    const unmatched_reason = JSON.stringify(reasonOf("PERSON.TOOK_BACK", stored.patient_fp ?? "", reason));
    const flagged = await flagForPatient(session, own, null);
    const taken = { patient_id: null, unmatched_reason, cause: "taken back", cause_reason: reason } as const;
    await addRevision(session, stored, { ...flagged, clinic_id: clinicId, ...taken }, actor);
    await auditCommand(session, "study take back", [fp, stored.patient_fp], { ...actor, clinicId });
    return null;
  }
  const patient = await findPatient(session, clinicId, patientFp);
  if (patient === undefined) return missingPatientProblem(session, patientFp);
  if (!patient.connected) return `patient ${patientFp} has no active connection to the study's clinic`;
  if (stored.patient_id === patient.id) return `${fp} is filed to ${patientFp} already`;
  const contradiction = speciesContradiction(stored, patient.patient);
  if (contradiction !== null && despite !== "species") {
    return `${contradiction}, expected a patient of the device's species`;
  }
  const flagged = await flagForPatient(session, own, patient.patient);
  const note = `filed to ${patientFp} despite the species: ${contradiction}`;
  const snapshot = contradiction === null ? flagged.snapshot : withNote(flagged.snapshot, note);
  const moved = { patient_id: patient.id, unmatched_reason: null, cause: "moved", cause_reason: reason } as const;
  await addRevision(session, stored, { ...flagged, snapshot, clinic_id: clinicId, ...moved }, actor);
  await auditCommand(session, "study move", [fp, stored.patient_fp, patientFp], { ...actor, clinicId });
  return null;
}

/** Undoes the last move of a study: it is filed again to the patient that it left. */
export async function undoMove(
  session: Session,
  { fp, clinicId, ...actor }: AuditActor & { fp: string; clinicId: number },
): Promise<string | null> {
  const stored = await findStoredStudy(session, fp);
  const problem = moveProblem(stored, fp, clinicId);
  if (stored === undefined || problem !== null) return problem;
  if (!isMoved(stored)) return `${fp} was not moved by its last change`;
  const before = (await historyOf(session, fp)).at(-2)?.patient_fp ?? null;
  const patient = before === null ? undefined : await findPatient(session, clinicId, before);
  if (patient?.connected !== true) return `patient ${before} is no longer a patient of the clinic`;
  const flagged = await flagForPatient(session, stored, patient.patient);
  const undone = { patient_id: patient.id, unmatched_reason: null, cause: "undone" } as const;
  await addRevision(session, stored, { ...flagged, ...undone }, actor);
  await auditCommand(session, "study undo move", [fp, before], { ...actor, clinicId });
  return null;
}

/** Whether the last change of a study moved it, so that undoMove() can undo it. */
export function isMoved({ cause }: Pick<StoredStudy, "cause">): boolean {
  return cause === "moved" || cause === "taken back";
}

/** Flags a filed study for the facts of its patient as they are now. Its place stays. */
export async function flagAgain(
  session: Session,
  { fp, clinicId, ...actor }: AuditActor & { fp: string; clinicId: number },
): Promise<string | null> {
  const stored = await findStoredStudy(session, fp);
  const problem = moveProblem(stored, fp, clinicId);
  if (stored === undefined || problem !== null) return problem;
  if (stored.flagged_species === null || stored.patient_fp === null) return `${fp} is flagged for its patient as it is`;
  const patient = await findPatient(session, clinicId, stored.patient_fp);
  if (patient?.connected !== true) return `patient ${stored.patient_fp} is no longer a patient of the clinic`;
  const flagged = await flagForPatient(session, stored, patient.patient);
  const { placed_by_user } = stored;
  await addRevision(session, stored, { ...flagged, placed_by_user, cause: "flagged again" }, actor);
  await auditCommand(session, "study flag again", [fp, stored.patient_fp], { ...actor, clinicId });
  return null;
}

/** An imported study has no clinic of its own: each clinic that sees its patient may correct it. */
function moveProblem(stored: StoredStudy | undefined, fp: string, clinicId: number): string | null {
  if (stored === undefined) return `study ${fp} does not exist`;
  if (stored.clinic_id !== null && stored.clinic_id !== clinicId) return `${fp} is a study of another clinic`;
  return null;
}

function commandProblem(stored: StoredStudy | undefined, fp: string): string | null {
  if (stored === undefined) return `study ${fp} does not exist`;
  if (stored.clinic_id === null) return `${fp} was imported, expected a study that a clinic's agent sent`;
  return null;
}

async function addRevision(
  session: Session,
  stored: StoredStudy,
  changed: Partial<StudyWrite> & Pick<StudyColumns, "cause">,
  { now }: Pick<AuditActor, "now">,
): Promise<void> {
  const { id: _id, patient_fp: _patient, cause_reason: _reason, flagged_species: _species, ...columns } = stored;
  const row = { ...columns, placed_by_user: 1, ...changed, revision: stored.revision + 1, received_at: now };
  await replaceStudy(session, stored, row, now);
}

const deletedPatient = query((db, p: { fp: string }) =>
  db.selectFrom("patient").select("id").where("fp", "=", p.fp).where("deleted_at", "is not", null),
);
