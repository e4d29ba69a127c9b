import { reasonOf } from "../../../shared/api/reason.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import { type ContradictedFact, contradictedFacts } from "../../../shared/clinical/candidates.ts";
import { namesSpecies, speciesContradiction } from "../filing/species-rule.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import type { Session } from "../../database/query.ts";
import { parseStored, type StudyColumns } from "../../database/schema.ts";
import { findPatient } from "../patients/patients.ts";
import { controlsOf, qualityColumn } from "../quality-marks/remark-studies.ts";
import { flagForPatient, preciseSpeciesOf } from "../studies/flags.ts";
import { historyOf } from "../studies/history.ts";
import { reviseStudy, type StoredStudy, type StudyWrite } from "../studies/studies.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";

// Commands of a user on a study, which the caller has read in the same transaction. Each one adds a revision and audit rows. It
// returns why it changes nothing, else null.

/** A patient of the clinic, to file a study to. */
export interface OwnPatient {
  readonly id: number;
  readonly patient: Patient;
}

export type ClinicActor = AuditActor & { readonly clinicId: number };

/** Where a study goes. The typed species confirms a contradiction between the device and the patient. */
export interface Target {
  readonly patient: OwnPatient;
  readonly typedSpecies: string;
}

/**
 * Files an unmatched study to a patient. Flags the results for the patient's species and the intervals of the day of the sample.
 * The history and the audit record it if the device stated another species. `checked` are the facts of the patient that the user has
 * checked, although the device contradicts them.
 */
export async function assignStudy(
  session: Session,
  stored: StoredStudy,
  { patient, typedSpecies, checked }: Target & { readonly checked: readonly ContradictedFact[] },
  actor: AuditActor,
): Promise<Refusal | null> {
  if (stored.rejected_reason !== null) return refusal("STUDY.REJECTED");
  // The agent files a study without a new revision, when a resend names its patient.
  if (stored.patient_id !== null && stored.placed_by_user === 0) return refusal("STUDY.FILED_BY_AGENT");
  const placed = await placeAt(session, stored, { patient, typedSpecies });
  if ("code" in placed) return placed;
  const hint = parseStored(stored.patient_hint);
  const contradicted = hint === null ? [] : contradictedFacts(hint, patient.patient);
  if (contradicted.some((fact) => !checked.includes(fact)))
    return refusal("MATCH.UNCHECKED_FACTS", patient.patient.name);
  const { isDespite, ...columns } = placed;
  await addRevision(session, stored, { ...columns, cause: isDespite ? "assigned despite species" : "assigned" }, actor);
  const command = isDespite ? "unmatched assign --despite species" : "unmatched assign";
  await auditCommand(session, command, [stored.fp, patient.patient.fp], actor);
  return null;
}

/** Removes an unmatched study from the list, because it belongs to no patient. */
export async function rejectStudy(
  session: Session,
  stored: StoredStudy,
  reason: string,
  actor: AuditActor,
): Promise<Refusal | null> {
  if (stored.patient_id !== null) return refusal("STUDY.FILED");
  if (stored.rejected_reason !== null) return refusal("STUDY.REJECTED");
  await addRevision(session, stored, { rejected_reason: reason, cause: "rejected" }, actor);
  await auditCommand(session, "unmatched reject", [stored.fp], actor);
  return null;
}

/** Undoes a placement or a rejection. The study is unmatched again, without ranges and flags. */
export async function reopenStudy(session: Session, stored: StoredStudy, actor: AuditActor): Promise<Refusal | null> {
  const isRejected = stored.rejected_reason !== null;
  if (stored.placed_by_user === 0 || (stored.patient_id === null && !isRejected)) return refusal("STUDY.NOT_PLACED");
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
  await auditCommand(session, "unmatched reopen", [stored.fp, stored.patient_fp], actor);
  return null;
}

/** Moves a filed study of the clinic to another patient, however it was filed, and keeps the reason. */
export async function moveStudy(
  session: Session,
  stored: StoredStudy,
  { reason, ...target }: Target & { readonly reason: string },
  actor: ClinicActor,
): Promise<Refusal | null> {
  const { clinicId: clinic_id } = actor;
  const refused = foreignStudy(stored, clinic_id) ?? withoutPatient(stored);
  if (refused !== null) return refused;
  // An imported study becomes the clinic's own, with the clinic's intervals.
  const placed = await placeAt(session, { ...stored, clinic_id }, target);
  if ("code" in placed) return placed;
  const { isDespite: _isDespite, ...columns } = placed;
  const own = await ownColumns(session, stored, clinic_id);
  await addRevision(session, stored, { ...columns, ...own, cause: "moved", cause_reason: reason }, actor);
  await auditCommand(session, "study move", [stored.fp, stored.patient_fp, target.patient.patient.fp], actor);
  return null;
}

/** Takes a filed study of the clinic from its patient, however it was filed, and keeps the reason. It is unmatched then. */
export async function takeBackStudy(
  session: Session,
  stored: StoredStudy,
  reason: string,
  actor: ClinicActor,
): Promise<Refusal | null> {
  const { clinicId: clinic_id } = actor;
  const refused = foreignStudy(stored, clinic_id) ?? withoutPatient(stored);
  if (refused !== null) return refused;
  const flagged = await flagForPatient(session, { ...stored, clinic_id }, null);
  const unmatched_reason = JSON.stringify(reasonOf("PERSON.TOOK_BACK", stored.patient_fp ?? "", reason));
  const taken = { patient_id: null, unmatched_reason, cause: "taken back", cause_reason: reason } as const;
  const own = await ownColumns(session, stored, clinic_id);
  await addRevision(session, stored, { ...flagged, ...own, ...taken }, actor);
  await auditCommand(session, "study take back", [stored.fp, stored.patient_fp], actor);
  return null;
}

/** Undoes the last move of a study: it is filed again to the patient that it left. */
export async function undoMove(session: Session, stored: StoredStudy, actor: ClinicActor): Promise<Refusal | null> {
  const refused = foreignStudy(stored, actor.clinicId);
  if (refused !== null) return refused;
  if (!isMoved(stored)) return refusal("STUDY.NOT_MOVED");
  const before = (await historyOf(session, stored)).at(-2)?.patient_fp ?? null;
  const patient = before === null ? undefined : await findPatient(session, actor.clinicId, before);
  if (patient?.connected !== true) return refusal("PATIENT.LEFT");
  const flagged = await flagForPatient(session, stored, patient.patient);
  const undone = { patient_id: patient.id, unmatched_reason: null, rejected_reason: null, cause: "undone" } as const;
  await addRevision(session, stored, { ...flagged, ...undone }, actor);
  await auditCommand(session, "study undo move", [stored.fp, before], actor);
  return null;
}

/** Whether the last change of a study moved or withdrew it, so that undoMove() can undo it. */
export function isMoved({ cause }: Pick<StoredStudy, "cause">): boolean {
  return cause === "moved" || cause === "taken back" || cause === "withdrawn";
}

/** Flags a filed study for the facts of its patient as they are now. Its place stays. */
export async function flagAgain(session: Session, stored: StoredStudy, actor: ClinicActor): Promise<Refusal | null> {
  const refused = foreignStudy(stored, actor.clinicId);
  if (refused !== null) return refused;
  if (stored.flagged_species === null || stored.patient_fp === null) return refusal("STUDY.FLAGGED");
  const patient = await findPatient(session, actor.clinicId, stored.patient_fp);
  if (patient?.connected !== true) return refusal("PATIENT.LEFT");
  const flagged = await flagForPatient(session, stored, patient.patient);
  const { placed_by_user } = stored;
  await addRevision(session, stored, { ...flagged, placed_by_user, cause: "flagged again" }, actor);
  await auditCommand(session, "study flag again", [stored.fp, stored.patient_fp], actor);
  return null;
}

/** Returns the columns of a study at its new patient, with a note if the user confirmed another species than the device's. */
async function placeAt(
  session: Session,
  stored: StoredStudy,
  { patient: { id, patient }, typedSpecies }: Target,
): Promise<
  Refusal | (Pick<StudyColumns, "patient_id" | "unmatched_reason" | "results" | "snapshot"> & { isDespite: boolean })
> {
  if (stored.patient_id === id) return refusal("STUDY.FILED_THERE", patient.name);
  const hint = parseStored(stored.patient_hint);
  const precise = await preciseSpeciesOf(session, patient.fp);
  const contradiction = speciesContradiction(hint, patient, precise);
  if (contradiction !== null && !namesSpecies(typedSpecies, patient, precise)) return contradiction;
  const flagged = await flagForPatient(session, stored, patient);
  const placed = { ...flagged, patient_id: id, unmatched_reason: null };
  if (contradiction === null) return { ...placed, isDespite: false };
  const [stated, known] = contradiction.values;
  const note = `filed to ${patient.fp} despite the species: the device states ${stated}, the patient is a ${known}`;
  return { ...placed, snapshot: withNote(flagged.snapshot, note), isDespite: true };
}

/** Adds a note to a snapshot. Null stays null: the cause of the revision then records the fact alone. */
function withNote(snapshot: StudyColumns["snapshot"], note: string): string | null {
  if (snapshot === null) return null;
  const parsed = parseStored(snapshot);
  return JSON.stringify({ ...parsed, notes: [...parsed.notes, note] });
}

/** An imported study has no clinic of its own: each clinic that sees its patient may correct it. */
function foreignStudy({ clinic_id }: StoredStudy, clinicId: number): Refusal | null {
  return clinic_id === null || clinic_id === clinicId ? null : refusal("STUDY.OTHER_CLINIC");
}

/** An imported study becomes the own one of the clinic that moves it, with the marks of its controls. */
async function ownColumns(session: Session, stored: StoredStudy, clinicId: number): Promise<Partial<StudyWrite>> {
  if (stored.clinic_id !== null) return {};
  return { clinic_id: clinicId, quality: await qualityColumn(controlsOf(session, clinicId), stored, stored.quality) };
}

function withoutPatient({ patient_id }: StoredStudy): Refusal | null {
  return patient_id === null ? refusal("STUDY.UNMATCHED") : null;
}

async function addRevision(
  session: Session,
  stored: StoredStudy,
  changed: Partial<StudyWrite> & Pick<StudyColumns, "cause">,
  { now }: Pick<AuditActor, "now">,
): Promise<void> {
  await reviseStudy(session, stored, { placed_by_user: 1, ...changed }, now);
}
