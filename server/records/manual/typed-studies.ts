import { createHash } from "node:crypto";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { currentRanges } from "../clinics/ranges.ts";
import type { Session } from "../../database/query.ts";
import { findPatient } from "../patients/patients.ts";
import { intervalAnimal } from "../studies/flags.ts";
import { historyOf, isTyped } from "../studies/history.ts";
import { reviseStudy, type StoredStudy } from "../studies/studies.ts";
import { canonical, describeStudy } from "../studies/study-content.ts";
import { type ManualEntry, resultsOfEntry } from "./manual-study.ts";

// Corrections of a study that a user typed. Both are revisions, so that the history keeps what was read before.

type ClinicActor = AuditActor & { readonly clinicId: number };

/** Replaces the values of a typed study, with ranges and flags for its patient. @returns why it changes nothing, else null */
export async function correctStudy(
  session: Session,
  stored: StoredStudy,
  entry: ManualEntry,
  actor: ClinicActor,
): Promise<Refusal | null> {
  const refused = await notTyped(session, stored, actor);
  if (refused !== null) return refused;
  const patient =
    stored.patient_fp === null ? undefined : await findPatient(session, actor.clinicId, stored.patient_fp);
  if (patient?.connected !== true) return refusal("PATIENT.LEFT");
  const { modality, device_name, acquired_at } = entry;
  const ranges = (await currentRanges(session, actor.clinicId)) ?? null;
  const animal = await intervalAnimal(session, patient.patient);
  const { results, snapshot } = resultsOfEntry(entry, animal, ranges);
  const study = { fp: stored.fp, modality, device_name, status: "COMPLETED" as const, acquired_at, results };
  const described = describeStudy(study);
  const changed = {
    ...described,
    content_hash: createHash("sha256").update(canonical(described)).digest("hex"),
    snapshot: JSON.stringify(snapshot),
    cause: "corrected" as const,
  };
  await reviseStudy(session, stored, changed, actor.now);
  await auditCommand(session, "study correct", [stored.fp, stored.patient_fp], actor);
  return null;
}

/** Takes a typed study out of all lists, and keeps the reason. undoMove() brings it back. @returns why it changes nothing */
export async function withdrawStudy(
  session: Session,
  stored: StoredStudy,
  reason: string,
  actor: ClinicActor,
): Promise<Refusal | null> {
  const refused = await notTyped(session, stored, actor);
  if (refused !== null) return refused;
  const changed = {
    ...{ patient_id: null, rejected_reason: reason, placed_by_user: 1 },
    ...{ cause: "withdrawn" as const, cause_reason: reason },
  };
  await reviseStudy(session, stored, changed, actor.now);
  await auditCommand(session, "study withdraw", [stored.fp, stored.patient_fp], actor);
  return null;
}

async function notTyped(session: Session, stored: StoredStudy, { clinicId }: ClinicActor): Promise<Refusal | null> {
  if (!isTyped(await historyOf(session, stored), stored, clinicId)) return refusal("STUDY.NOT_TYPED");
  return stored.patient_id === null ? refusal("STUDY.UNMATCHED") : null;
}
