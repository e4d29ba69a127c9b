import { query, type Session } from "../../database/query.ts";

/**
 * Returns a text that differs when a clinic's dashboard may show something else: a record of the read API, an unmatched study, a
 * heartbeat, a conflict, a seen study, a follow-up or an alert, or the clinic's intervals. Constant cost.
 */
export async function changeMark(session: Session, clinicId: number): Promise<string> {
  const row = await session.first(mark, { clinicId });
  return Object.values(row ?? {}).join(" ");
}

const mark = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic")
    .select("clinic.version")
    .select((select) => [
      select
        .selectFrom("study")
        .select((study) => study.fn.max("study.id").as("last"))
        .as("study"),
      select
        .selectFrom("study_revision")
        .select((revision) => revision.fn.max("study_revision.replaced_at").as("last"))
        .as("revision"),
      select
        .selectFrom("heartbeat")
        .select((heartbeat) => heartbeat.fn.max("heartbeat.received_at").as("last"))
        .where("heartbeat.clinic_id", "=", p.clinicId)
        .as("heartbeat"),
      select
        .selectFrom("study_conflict")
        .select((conflict) => conflict.fn.max("study_conflict.id").as("last"))
        .where("study_conflict.clinic_id", "=", p.clinicId)
        .as("conflict"),
      select
        .selectFrom("study_seen")
        .select((seen) => seen.fn.max("study_seen.seen_at").as("last"))
        .where("study_seen.clinic_id", "=", p.clinicId)
        .as("seen"),
      select
        .selectFrom("follow_up_event")
        .select((event) => event.fn.max("follow_up_event.id").as("last"))
        .where("follow_up_event.clinic_id", "=", p.clinicId)
        .as("follow_up"),
      select
        .selectFrom("clinic_alerts")
        .select("clinic_alerts.changed_at")
        .where("clinic_alerts.clinic_id", "=", p.clinicId)
        .as("alerts"),
    ])
    .where("clinic.id", "=", p.clinicId),
);
