import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import type { Session } from "../../database/query.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { reviseStudy, type StoredStudy } from "../studies/studies.ts";
import type { StoredOrder } from "./orders.ts";

// A user ties results to the order that they answer, and unties them again.

/**
 * Attaches an order to the results that answer it, as a user read them on the tube: never by animal and time alone. Run it in a
 * transaction. @returns why it changes nothing, else null
 */
export async function attachOrder(
  session: Session,
  { fp, clinic_id, patient_id, placer_number }: StoredOrder,
  study: StoredStudy,
  actor: AuditActor,
): Promise<Refusal | null> {
  if (study.clinic_id !== clinic_id || study.patient_id !== patient_id) return refusal("ORDER.OTHER_PATIENT");
  if (study.order_fp !== null) return refusal("ORDER.OTHER_ORDER");
  const attached = { order_fp: fp, order_number: placer_number, flagged_species: study.flagged_species };
  await reviseStudy(session, study, { ...attached, cause: "order attached" }, actor.now);
  await auditCommand(session, "order attach", [fp, study.fp], actor);
  return null;
}

/** Undoes attachOrder(), while it is the last change of the study. Run it in a transaction. @returns whether it was */
export async function detachOrder(
  session: Session,
  { fp }: StoredOrder,
  study: StoredStudy,
  actor: AuditActor,
): Promise<boolean> {
  if (study.order_fp !== fp || study.cause !== "order attached") return false;
  const detached = { order_fp: null, order_number: null, flagged_species: study.flagged_species };
  await reviseStudy(session, study, { ...detached, cause: "undone" }, actor.now);
  await auditCommand(session, "order detach", [fp, study.fp], actor);
  return true;
}
