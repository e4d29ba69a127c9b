import { createHash } from "node:crypto";
import { newFp } from "../../../shared/api/fp.ts";
import { type ManualEntry, resultsOfEntry } from "./manual-study.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { canonical, describeStudy } from "../studies/study-content.ts";
import { findPatient } from "../patients/patients.ts";
import { query, type Session } from "../../database/query.ts";
import { writeClinic } from "../clinics/keys.ts";
import { currentRanges } from "../clinics/ranges.ts";
import { intervalAnimal } from "../studies/flags.ts";
import { insertStudy } from "../studies/studies.ts";

/** A typed study, its patient and its clinic. */
export interface NewManualStudy {
  clinicId: number;
  patientFp: string;
  entry: ManualEntry;
  /** Chosen by the page, so that a second request with it stores nothing. */
  entryId?: string;
}

/** Stores a typed study of a patient with ranges and flags. Run it in a transaction. @returns its fp or the problem */
export async function addStudy(
  session: Session,
  { clinicId, patientFp, entry, entryId, ...actor }: AuditActor & NewManualStudy,
): Promise<{ fp: string } | { problem: string }> {
  const dedupe_key = entryId === undefined ? null : `manual ${entryId}`;
  if (dedupe_key !== null) {
    // A repeat at the same time waits here, and then finds the study.
    await session.all(writeClinic, { id: clinicId });
    const stored = await session.first(byDedupeKey, { clinicId, dedupeKey: dedupe_key });
    if (stored !== undefined) return stored;
  }
  const patient = await findPatient(session, clinicId, patientFp);
  if (patient === undefined) return { problem: await missingPatientProblem(session, patientFp) };
  if (!patient.connected) return { problem: `patient ${patientFp} has no active connection to the clinic` };
  const { modality, device_name, acquired_at } = entry;
  const ranges = (await currentRanges(session, clinicId)) ?? null;
  const animal = await intervalAnimal(session, patient.patient);
  const { results, snapshot } = resultsOfEntry(entry, animal, ranges);
  const fp = newFp("cds");
  const study = { fp, modality, device_name, status: "COMPLETED" as const, acquired_at, results };
  const described = describeStudy(study);
  await insertStudy(session, {
    ...described,
    fp,
    clinic_id: clinicId,
    patient_id: patient.id,
    unmatched_reason: null,
    claimed_patient_fp: patientFp,
    revision: 1,
    dedupe_key,
    content_hash: createHash("sha256").update(canonical(described)).digest("hex"),
    source: null,
    patient_hint: null,
    snapshot: JSON.stringify(snapshot),
    received_at: actor.now,
    pushed_revision: null,
    cause: "entered",
    placed_by_user: 1,
    rejected_reason: null,
  });
  await auditCommand(session, "study add", [fp, patientFp], { ...actor, clinicId });
  return { fp };
}

/** @returns the reason why a patient is not found: deleted or never imported */
async function missingPatientProblem(session: Session, fp: string): Promise<string> {
  const isDeleted = (await session.first(deletedPatient, { fp })) !== undefined;
  return isDeleted
    ? `patient ${fp} is deleted, expected a patient of the clinic`
    : `patient ${fp} does not exist, expected the fp of an imported patient`;
}

const deletedPatient = query((db, p: { fp: string }) =>
  db.selectFrom("patient").select("id").where("fp", "=", p.fp).where("deleted_at", "is not", null),
);

const byDedupeKey = query((db, p: { clinicId: number; dedupeKey: string }) =>
  db.selectFrom("study").select("fp").where("clinic_id", "=", p.clinicId).where("dedupe_key", "=", p.dedupeKey),
);
