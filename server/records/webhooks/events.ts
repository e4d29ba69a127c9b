import { type Compilable, type Kysely, type RawBuilder, sql } from "kysely";
import { type EventChange, type EventKind, eventKinds } from "../../../shared/api/clinic-event.ts";
import type { WebhookEventType, WebhookType } from "../../dashboard/types/settings/webhooks.ts";
import { currentTrace, traceparentOf } from "../../../shared/network/trace.ts";
import { type ChangedClinic, query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";

// The events of the records of a clinic: rows of `clinic_event`, written in the transaction of the change, so that no change lacks
// its event. Clinics get the events of the records that they read. In one transaction a record has one event of each clinic. The
// end of the transaction gives its events the version of the clinic, by which the feed (feed.ts) is ordered, and makes the rows of
// `webhook_delivery` of them. A delivery that waits for its first attempt covers every later change of the record too, because the
// receiver reads the record when the message arrives.

/** A word of `clinic_event.change`. */
type Change = Tables["clinic_event"]["change"];

/** The types of webhooks, by what happened. What has none is in the feed alone. */
const WEBHOOK_TYPES: Readonly<Record<EventKind, Partial<Record<Change, WebhookType>>>> = {
  patient: {
    created: "patient.changed",
    changed: "patient.changed",
    removed: "patient.changed",
    merged: "patient.changed",
  },
  study: { created: "study.filed", changed: "study.revised", removed: "study.revised" },
  soap: { signed: "soap.signed", amended: "soap.amended" },
  calendar_event: {
    created: "appointment.changed",
    changed: "appointment.changed",
    removed: "appointment.changed",
  },
  inventory_item: { low: "stock.low" },
  order: { created: "order.placed", changed: "order.changed", removed: "order.changed" },
};

/** Adds an event for each clinic that lists the patient: `created` if it did not read the study before, else `changed`. */
export const eventsOfStudy = query(
  (db, p: { fp: string; patientId: number }) =>
    events(db, {
      kind: "study",
      change: sql`case when clinic_study.study_id is null then 'created' else 'changed' end`,
      clinic: sql`clinic_patient.clinic_id`,
      fp: sql`study.fp`,
      revision: sql`study.revision`,
      from: sql`clinic_patient
        join study on study.patient_id = clinic_patient.patient_id
        left join clinic_study on clinic_study.clinic_id = clinic_patient.clinic_id and clinic_study.study_id = study.id`,
      where: sql`study.fp = ${p.fp} and clinic_patient.patient_id = ${p.patientId} and clinic_patient.listed = 1`,
    }),
  ({ patientId }) => ({ patients: [patientId], atEnd: endEvents }),
);

/** Adds an event for each clinic that no longer reads a study, because it left their patient. */
export const eventsOfLostStudies = query(
  (db, p: { fp: string; patientId: number | null; previousPatientId: number }) =>
    events(db, {
      kind: "study",
      change: sql`'removed'`,
      clinic: sql`clinic_study.clinic_id`,
      fp: sql`study.fp`,
      revision: sql`study.revision`,
      from: sql`clinic_study join study on study.id = clinic_study.study_id`,
      where: sql`study.fp = ${p.fp} and clinic_study.clinic_id not in ${listing(p.patientId)}`,
    }),
  ({ previousPatientId }) => ({ patients: [previousPatientId], atEnd: endEvents }),
);

/** Adds events of the studies that clinics lost with a patient. Call it before they leave `clinic_study`. */
export const eventsOfLeftStudies = query(
  (db, p: { patientId: number }) =>
    events(db, {
      kind: "study",
      change: sql`'left'`,
      clinic: sql`clinic_study.clinic_id`,
      fp: sql`study.fp`,
      revision: sql`study.revision`,
      from: sql`study join clinic_study on clinic_study.study_id = study.id`,
      where: sql`study.patient_id = ${p.patientId} and clinic_study.clinic_id not in ${listing(p.patientId)}`,
    }),
  ({ patientId }) => ({ patients: [patientId], atEnd: endEvents }),
);

/** Adds events for the clinics that list a patient, of the studies that they did not read before. */
export const eventsOfNewStudies = query(
  (db, p: { patientId: number }) =>
    events(db, {
      kind: "study",
      change: sql`'created'`,
      clinic: sql`clinic_patient.clinic_id`,
      fp: sql`study.fp`,
      revision: sql`study.revision`,
      from: sql`clinic_patient
        join study on study.patient_id = clinic_patient.patient_id
        left join clinic_study on clinic_study.clinic_id = clinic_patient.clinic_id and clinic_study.study_id = study.id`,
      where: sql`clinic_patient.patient_id = ${p.patientId} and clinic_patient.listed = 1
        and clinic_study.study_id is null`,
    }),
  ({ patientId }) => ({ patients: [patientId], atEnd: endEvents }),
);

// A connection has its last state until the lists are brought up to date. One with the time 0 is new.
const isGone = sql`(clinic_patient.active = 0 or patient.deleted_at is not null)`;
const isNewHere = sql`(clinic_patient.listed = 0 or clinic_patient.patient_updated_at = 0)`;

/** Adds an event for each clinic that lists a patient, or listed it until this transaction. Call it before its lists change. */
export const eventsOfPatient = query(
  (db, p: { patientId: number }) =>
    events(db, {
      kind: "patient",
      change: sql`case when ${isGone} then case when survivor.fp is null then 'removed' else 'merged' end
        when ${isNewHere} then 'created' else 'changed' end`,
      clinic: sql`clinic_patient.clinic_id`,
      fp: sql`clinic_patient.patient_fp`,
      successor: sql`case when ${isGone} then survivor.fp end`,
      from: sql`clinic_patient
        join patient on patient.id = clinic_patient.patient_id
        left join patient as survivor on survivor.id = patient.merged_into_id and exists (
          select 1 from clinic_patient as kept where kept.clinic_id = clinic_patient.clinic_id
            and kept.patient_id = survivor.id and kept.listed = 1)`,
      where: sql`clinic_patient.patient_id = ${p.patientId}
        and (clinic_patient.listed = 1 or clinic_patient.active = 1)`,
    }),
  ({ patientId }) => ({ patients: [patientId], atEnd: endEvents }),
);

/** Adds events of the SOAP records of a patient that a clinic gets or loses. Call it before its lists change. */
export const eventsOfMovedSoap = query(
  (db, p: { patientId: number }) =>
    events(db, {
      kind: "soap",
      change: sql`case when ${isGone} then 'left' else 'created' end`,
      clinic: sql`clinic_patient.clinic_id`,
      fp: sql`soap.fp`,
      from: sql`soap
        join clinic_patient on clinic_patient.patient_id = soap.patient_id
        join patient on patient.id = soap.patient_id`,
      where: sql`soap.patient_id = ${p.patientId} and
        case when ${isGone} then clinic_patient.listed = 1 else ${isNewHere} end`,
    }),
  ({ patientId }) => ({ patients: [patientId], atEnd: endEvents }),
);

/** The clinics that list a patient. */
function listing(patientId: number | null): RawBuilder<unknown> {
  return sql`(select clinic_id from clinic_patient where patient_id = ${patientId} and listed = 1)`;
}

/** A record of one clinic. Call it after the write, and before a removal. */
interface Recorded {
  readonly fp: string;
  readonly clinicId: number;
  readonly change: EventChange;
}

export const eventOfAppointment = ofClinic("calendar_event", sql`calendar_event`);
export const eventOfItem = ofClinic("inventory_item", sql`inventory_item`);
export const eventOfOrder = ofClinic("order", sql`lab_order`);

function ofClinic(kind: EventKind, table: RawBuilder<unknown>) {
  return query(
    (db, p: Recorded) =>
      events(db, {
        kind,
        change: sql`cast(${p.change} as text)`,
        clinic: sql`record.clinic_id`,
        fp: sql`record.fp`,
        from: sql`${table} as record`,
        where: sql`record.fp = ${p.fp}`,
      }),
    ({ clinicId }) => ({ clinics: [clinicId], atEnd: endEvents }),
  );
}

interface WrittenSoap {
  readonly fp: string;
  readonly patientId: number;
  /** The patient before the write; null for a new record. */
  readonly previousPatientId: number | null;
  readonly change: "created" | "changed" | "signed";
}

/** Adds the events of a SOAP record. Call it after the write. */
export async function addEventsOfSoap(session: Session, written: WrittenSoap): Promise<void> {
  const { patientId, previousPatientId, change } = written;
  await session.all(eventsOfSoap, written);
  if (previousPatientId !== null && previousPatientId !== patientId)
    await session.all(eventsOfLostSoap, { ...written, previousPatientId });
  if (change === "signed") await session.all(eventsOfAmended, written);
}

const eventsOfSoap = query(
  (db, p: WrittenSoap) =>
    events(db, {
      kind: "soap",
      change: sql`case when cast(${p.change} as text) = 'changed' and before.clinic_id is null then 'created'
        else cast(${p.change} as text) end`,
      clinic: sql`clinic_patient.clinic_id`,
      fp: sql`soap.fp`,
      from: sql`soap
        join clinic_patient on clinic_patient.patient_id = soap.patient_id
        left join clinic_patient as before on before.clinic_id = clinic_patient.clinic_id
          and before.patient_id = cast(${p.previousPatientId} as bigint) and before.listed = 1`,
      where: sql`soap.fp = ${p.fp} and clinic_patient.listed = 1`,
    }),
  ({ patientId }) => ({ patients: [patientId], atEnd: endEvents }),
);

const eventsOfLostSoap = query(
  (db, p: WrittenSoap & { previousPatientId: number }) =>
    events(db, {
      kind: "soap",
      change: sql`'removed'`,
      clinic: sql`clinic_patient.clinic_id`,
      fp: sql`soap.fp`,
      from: sql`soap, clinic_patient`,
      where: sql`soap.fp = ${p.fp} and clinic_patient.patient_id = ${p.previousPatientId} and clinic_patient.listed = 1
        and clinic_patient.clinic_id not in ${listing(p.patientId)}`,
    }),
  ({ previousPatientId }) => ({ patients: [previousPatientId], atEnd: endEvents }),
);

/** Events of the record that a signed one amends. */
const eventsOfAmended = query(
  (db, p: WrittenSoap) =>
    events(db, {
      kind: "soap",
      change: sql`'amended'`,
      clinic: sql`clinic_patient.clinic_id`,
      fp: sql`original.fp`,
      successor: sql`soap.fp`,
      from: sql`soap
        join soap as original on original.fp = soap.amends_fp
        join clinic_patient on clinic_patient.patient_id = original.patient_id`,
      where: sql`soap.fp = ${p.fp} and original.patient_id = ${p.patientId} and clinic_patient.listed = 1`,
    }),
  ({ patientId }) => ({ patients: [patientId], atEnd: endEvents }),
);

interface EventSource {
  readonly kind: EventKind;
  /** A Change. */
  readonly change: RawBuilder<unknown>;
  readonly clinic: RawBuilder<unknown>;
  readonly fp: RawBuilder<unknown>;
  readonly revision?: RawBuilder<unknown>;
  readonly successor?: RawBuilder<unknown>;
  readonly from: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
}

const unstamped = sql.lit(UNSTAMPED);

/** Inserts an event for each row of the source, or joins it with the record's event of this transaction. */
function events(
  db: Kysely<Tables>,
  { kind, change, clinic, fp, revision = sql`null`, successor = sql`null`, from, where }: EventSource,
): Compilable {
  const insert = sql`
    insert into clinic_event (clinic_id, version, kind, fp, change, at, revision, successor_fp)
    select ${clinic}, ${unstamped}, ${sql.lit(kind)}, ${fp}, ${change}, 0, cast(${revision} as bigint), cast(${successor} as text)
    from ${from} where ${where}
    on conflict (clinic_id, kind, fp) where version = ${unstamped} do update set
      change = case
        when clinic_event.change = 'created' and excluded.change = 'changed' then 'created'
        when clinic_event.change in ('removed', 'left') and excluded.change = 'created' then 'changed'
        when clinic_event.change in ('signed', 'amended', 'low') and excluded.change = 'changed' then clinic_event.change
        else excluded.change end,
      revision = excluded.revision,
      successor_fp = coalesce(excluded.successor_fp, clinic_event.successor_fp)`;
  return { compile: () => insert.compile(db) };
}

/** Rows that one statement stamps. PostgreSQL has 15 s for a statement. */
const ROWS_AT_ONCE = 5000;

/** Gives the events of a transaction the version of their clinic, and makes deliveries of them. */
async function endEvents(session: Session, clinic: ChangedClinic): Promise<void> {
  while ((await session.all(stampEvents, clinic)).length === ROWS_AT_ONCE);
  const trace = currentTrace();
  await session.all(deliverEvents, { ...clinic, traceparent: trace === undefined ? null : traceparentOf(trace) });
}

const stampEvents = uncachedWrite((db, p: ChangedClinic) =>
  db
    .updateTable("clinic_event")
    .set({ version: p.version, at: p.now })
    .where("id", "in", (own) =>
      own
        .selectFrom("clinic_event")
        .select("id")
        .where("clinic_id", "=", p.id)
        .where("version", "=", sql.lit(UNSTAMPED))
        .limit(sql.lit(ROWS_AT_ONCE)),
    )
    .returning("id"),
);

const typeOfEvent = sql`case ${sql.join(
  eventKinds.flatMap((kind) =>
    Object.entries(WEBHOOK_TYPES[kind]).map(
      ([change, type]) =>
        sql`when event.kind = ${sql.lit(kind)} and event.change = ${sql.lit(change)} then ${sql.lit(type)}`,
    ),
  ),
  sql` `,
)} end`;

const deliverEvents = uncachedWrite((db, p: ChangedClinic & { readonly traceparent: string | null }) =>
  deliveries(db, {
    type: typeOfEvent,
    fp: sql`event.fp`,
    at: sql`event.at`,
    traceparent: sql`cast(${p.traceparent} as text)`,
    from: sql`webhook join clinic_event as event on event.clinic_id = webhook.clinic_id`,
    where: sql`webhook.clinic_id = ${p.id} and event.kind in (${sql.join(eventKinds.map((kind) => sql.lit(kind)))})
      and event.version = ${p.version}`,
    order: sql`event.id`,
  }),
);

/** Writes a message of the test button, or makes the one that waits due: the user looks for its outcome. */
export const testEvent = uncachedWrite((db, p: { webhookId: number; now: number }) =>
  deliveries(db, {
    type: sql`${sql.lit(TEST)}`,
    fp: sql`clinic.fp`,
    at: sql`cast(${p.now} as bigint)`,
    from: sql`webhook join clinic on clinic.id = webhook.clinic_id`,
    where: sql`webhook.id = ${p.webhookId}`,
    order: sql`webhook.id`,
  }),
);

const TEST: WebhookEventType = "webhook.test";

interface DeliverySource {
  /** A WebhookEventType; null for no delivery. */
  readonly type: RawBuilder<unknown>;
  readonly fp: RawBuilder<unknown>;
  readonly at: RawBuilder<unknown>;
  readonly traceparent?: RawBuilder<unknown>;
  readonly from: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  readonly order: RawBuilder<unknown>;
}

/** Inserts a delivery for each row of the source whose webhook chose its type. */
function deliveries(
  db: Kysely<Tables>,
  { type, fp, at, traceparent = sql`null`, from, where, order }: DeliverySource,
): Compilable {
  const insert = sql`
    insert into webhook_delivery (webhook_id, type, fp, state, changed_at, attempts, next_at, traceparent)
    select webhook.id, ${type}, ${fp}, 'new', ${at}, 0, ${at}, ${traceparent} from ${from}
    where ${where} and (${type} = ${sql.lit(TEST)} or ' ' || webhook.types || ' ' like '% ' || ${type} || ' %')
    order by ${order}
    on conflict (webhook_id, type, fp) where state = 'new' do update set changed_at = excluded.changed_at, traceparent = excluded.traceparent,
      next_at = case when excluded.type = ${sql.lit(TEST)} then excluded.next_at else webhook_delivery.next_at end`;
  return { compile: () => insert.compile(db) };
}
