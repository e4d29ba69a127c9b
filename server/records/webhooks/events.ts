import { type Compilable, type Kysely, type RawBuilder, sql } from "kysely";
import type { WebhookEventType } from "../../dashboard/types/settings/webhooks.ts";
import { uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";

// Events of webhooks: rows of `webhook_delivery`, written in the transaction of the change, so that no change lacks its event.
// Clinics get the events of the records that they read. An event that waits for its first attempt covers every later change of
// the record too, because the receiver reads the record when the message arrives.

/**
 * Writes an event for each clinic that lists the patient: `study.filed` if it did not read the study before, else
 * `study.revised`.
 */
export const eventsOfStudy = uncachedWrite((db, p: { fp: string; patientId: number; now: number }) =>
  events(db, p.now, {
    type: sql`case when clinic_study.study_id is null then 'study.filed' else 'study.revised' end`,
    fp: sql`study.fp`,
    from: sql`webhook
        join clinic_patient on clinic_patient.clinic_id = webhook.clinic_id
        join study on study.patient_id = clinic_patient.patient_id
        left join clinic_study on clinic_study.clinic_id = webhook.clinic_id and clinic_study.study_id = study.id`,
    where: sql`study.fp = ${p.fp} and clinic_patient.patient_id = ${p.patientId} and clinic_patient.listed = 1`,
  }),
);

/** Writes an event for each clinic that no longer reads a study, because it left their patient. */
export const eventsOfLostStudies = uncachedWrite((db, p: { fp: string; patientId: number | null; now: number }) =>
  events(db, p.now, {
    type: sql`'study.revised'`,
    fp: sql`study.fp`,
    from: sql`webhook
        join clinic_study on clinic_study.clinic_id = webhook.clinic_id
        join study on study.id = clinic_study.study_id`,
    where: sql`study.fp = ${p.fp} and webhook.clinic_id not in
        (select clinic_id from clinic_patient where patient_id = ${p.patientId} and listed = 1)`,
  }),
);

/** Writes events for the clinics that list a patient, of the studies that they did not read before. */
export const eventsOfNewStudies = uncachedWrite((db, p: { patientId: number; now: number }) =>
  events(db, p.now, {
    type: sql`'study.filed'`,
    fp: sql`study.fp`,
    from: sql`webhook
        join clinic_patient on clinic_patient.clinic_id = webhook.clinic_id
        join study on study.patient_id = clinic_patient.patient_id
        left join clinic_study on clinic_study.clinic_id = webhook.clinic_id and clinic_study.study_id = study.id`,
    where: sql`clinic_patient.patient_id = ${p.patientId} and clinic_patient.listed = 1
        and clinic_study.study_id is null`,
  }),
);

/** Writes an event for each clinic that lists a patient, or listed it until this transaction. */
export const eventsOfPatient = uncachedWrite((db, p: { patientId: number; now: number }) =>
  events(db, p.now, {
    type: sql`'patient.changed'`,
    fp: sql`clinic_patient.patient_fp`,
    from: sql`webhook join clinic_patient on clinic_patient.clinic_id = webhook.clinic_id`,
    where: sql`clinic_patient.patient_id = ${p.patientId}
        and (clinic_patient.listed = 1 or clinic_patient.active = 1)`,
  }),
);

/** Writes a message of the test button. */
export const testEvent = uncachedWrite((db, p: { webhookId: number; now: number }) =>
  events(db, p.now, {
    type: sql`'webhook.test'`,
    fp: sql`clinic.fp`,
    from: sql`webhook join clinic on clinic.id = webhook.clinic_id`,
    where: sql`webhook.id = ${p.webhookId}`,
  }),
);

interface EventSource {
  /** A WebhookEventType. */
  readonly type: RawBuilder<unknown>;
  readonly fp: RawBuilder<unknown>;
  readonly from: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
}

const TEST: WebhookEventType = "webhook.test";

/** Inserts an event for each row of the source whose webhook chose its type. */
function events(db: Kysely<Tables>, now: number, { type, fp, from, where }: EventSource): Compilable {
  const at = sql`cast(${now} as bigint)`;
  const insert = sql`
    insert into webhook_delivery (webhook_id, type, fp, state, changed_at, attempts, next_at)
    select webhook.id, ${type}, ${fp}, 'new', ${at}, 0, ${at} from ${from}
    where ${where} and (${type} = ${sql.lit(TEST)} or ' ' || webhook.types || ' ' like '% ' || ${type} || ' %')
    on conflict (webhook_id, type, fp) where state = 'new' do update set changed_at = excluded.changed_at`;
  return { compile: () => insert.compile(db) };
}
