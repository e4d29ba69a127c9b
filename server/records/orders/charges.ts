import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import { query, type Session } from "../../database/query.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import type { StoredStudy } from "../studies/studies.ts";

// A clinic easily forgets to charge for a result without an order: a user marks each one as settled.

/**
 * Notes that a user looked after the charge of results without an order, or takes the note back. The first user stays. Run it in a
 * transaction. @returns why it changes nothing, else null
 */
export async function noteCharge(
  session: Session,
  study: StoredStudy,
  isCharged: boolean,
  actor: Required<AuditActor>,
): Promise<Refusal | null> {
  const { clinicId, userId, now } = actor;
  if (study.clinic_id !== clinicId) return refusal("STUDY.OTHER_CLINIC");
  if (study.order_fp !== null) return refusal("ORDER.OTHER_ORDER");
  if (isCharged) await session.all(insert, { clinicId, studyId: study.id, userId, now });
  else await session.all(remove, { clinicId, studyId: study.id });
  await auditCommand(session, isCharged ? "charge noted" : "charge open", [study.fp], actor);
  return null;
}

const insert = query(
  (db, p: { clinicId: number; studyId: number; userId: number; now: number }) =>
    db
      .insertInto("study_charge")
      .values({ clinic_id: p.clinicId, study_id: p.studyId, user_id: p.userId, at: p.now })
      .onConflict((conflict) => conflict.columns(["clinic_id", "study_id"]).doNothing()),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const remove = query(
  (db, p: { clinicId: number; studyId: number }) =>
    db.deleteFrom("study_charge").where("clinic_id", "=", p.clinicId).where("study_id", "=", p.studyId),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);
