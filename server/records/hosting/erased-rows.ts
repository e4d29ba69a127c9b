import { type RawBuilder, sql } from "kysely";
import { type Query, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import type { ClinicErasedKind } from "../../dashboard/types/operator.ts";

// The rows of a clinic that leaves, table by table, those that refer to others first. A test compares the tables with the schema.

/** Rows that one statement deletes. */
export const ROWS_AT_ONCE = 500;

interface OfClinic {
  readonly clinicId: number;
}

/** Rows of one table that are deleted. */
export interface ErasedRows {
  readonly table: keyof Tables;
  readonly kind: ClinicErasedKind;
  readonly remove: Query<OfClinic, unknown>;
}

/** Deletes some rows of a table, and returns one row for each. */
function removal<P>(table: keyof Tables, key: string, which: (p: P) => RawBuilder<unknown>): Query<P, unknown> {
  const columns = sql.join(key.split(" ").map((name) => sql.ref(name)));
  // Rows may refer to earlier ones of their table, such as an undo to its movement: the last go first.
  const order = key === "id" ? sql`order by id desc` : sql``;
  return uncachedWrite((db, p: P) => ({
    compile: () =>
      sql`delete from ${sql.table(table)} where (${columns}) in (select ${columns} from ${sql.table(table)}
        where ${which(p)} ${order} limit ${sql.lit(ROWS_AT_ONCE)}) returning 1 as removed`.compile(db),
  }));
}

/** The rows of a table with `clinic_id`. */
function own(table: keyof Tables, key: string, kind: ClinicErasedKind = "others"): ErasedRows {
  return { table, kind, remove: removal(table, key, ({ clinicId }: OfClinic) => sql`clinic_id = ${clinicId}`) };
}

/** The rows of a table that refer to rows with `clinic_id` of another one. */
function hung(table: keyof Tables, key: string, column: string, parent: keyof Tables): ErasedRows {
  const which = ({ clinicId }: OfClinic) =>
    sql`${sql.ref(column)} in (select id from ${sql.table(parent)} where clinic_id = ${clinicId})`;
  return { table, kind: "others", remove: removal(table, key, which) };
}

/** The rows that refer to deliveries of the receivers of a clinic. */
function attempts(table: keyof Tables, delivery: keyof Tables, receiver: keyof Tables): ErasedRows {
  const which = ({ clinicId }: OfClinic) =>
    sql`delivery_id in (select delivery.id from ${sql.table(delivery)} as delivery
      join ${sql.table(receiver)} as receiver on receiver.id = delivery.${sql.ref(`${receiver}_id`)}
      where receiver.clinic_id = ${clinicId})`;
  return { table, kind: "others", remove: removal(table, "delivery_id number", which) };
}

/** The rows of a clinic apart from its animals, owners and studies. */
export const ownRows: readonly ErasedRows[] = [
  own("pairing_code", "clinic_id"),
  attempts("webhook_attempt", "webhook_delivery", "webhook"),
  hung("webhook_delivery", "id", "webhook_id", "webhook"),
  own("webhook", "id"),
  attempts("destination_attempt", "destination_delivery", "destination"),
  hung("destination_delivery", "id", "destination_id", "destination"),
  own("destination", "id"),
  hung("agent_configuration", "agent_id", "agent_id", "agent"),
  own("agent", "id"),
  own("heartbeat", "clinic_id api_key_id"),
  own("rollout", "clinic_id"),
  hung("sync_answer", "api_key_id id_digest", "api_key_id", "api_key"),
  hung("registry_answer", "api_key_id source", "api_key_id", "api_key"),
  hung("file_import_part", "import_id position", "import_id", "file_import"),
  hung("file_import_refusal", "import_id position", "import_id", "file_import"),
  own("file_import", "id"),
  own("imported_file", "clinic_id digest"),
  hung("batch_row", "id", "batch_id", "batch"),
  own("batch", "id"),
  hung("control_value", "id", "run_id", "control_run"),
  hung("control_target", "series_id from_at", "series_id", "control_series"),
  own("control_run", "id", "controls"),
  own("control_series", "id"),
  own("control_name", "clinic_id device_id sample sent_level from_at"),
  own("control_explanation", "clinic_id violation"),
  own("control_setting", "clinic_id device_id analyte"),
  own("device_event", "id"),
  own("event_source", "clinic_id source external_id"),
  own("calendar_event", "id", "events"),
  hung("stock_movement", "id", "item_id", "inventory_item"),
  hung("inventory_batch", "id", "item_id", "inventory_item"),
  own("inventory_item", "id", "items"),
  own("lab_order", "id", "orders"),
  own("patient_source", "clinic_id source external_id"),
  own("report_link", "id"),
  own("study_remark", "clinic_id study_fp"),
  own("study_seen", "clinic_id study_id"),
  own("study_charge", "clinic_id study_id"),
  own("follow_up", "clinic_id study_id"),
  own("follow_up_event", "id"),
  own("study_conflict", "id"),
  own("clinic_study", "clinic_id study_id"),
  own("clinic_soap", "clinic_id soap_id"),
  hung("connection_host", "request_id clinic_id", "request_id", "connection_request"),
  own("connection_host", "request_id clinic_id"),
  own("connection_request", "id"),
  own("unknown_code", "id"),
  own("code_mapping", "clinic_id device_id code"),
  own("clinic_reference_interval_set", "id"),
  own("interval_proposal", "id"),
  own("own_profile", "id"),
  own("clinic_report", "clinic_id"),
  own("clinic_alerts", "clinic_id"),
  own("clinic_settings", "clinic_id"),
  own("support_access", "id"),
  own("api_calls", "clinic_id month"),
  own("clinic_storage", "clinic_id"),
  own("clinic_removal", "clinic_id fp"),
  own("clinic_event", "id"),
  own("clinic_event_floor", "clinic_id"),
  own("clinic_commit", "clinic_id version"),
  own("user", "id"),
];

/** The rows that are left once its animals are gone: its connections to those of other clinics. */
export const lastRows: readonly ErasedRows[] = [
  own("connection_change", "id"),
  own("clinic_patient", "clinic_id patient_id"),
];

/** Rows of the audit that one request reads: they have no index by clinic. */
export const AUDIT_ROWS_READ = 50_000;

/**
 * Deletes the rows of a part of the audit that the keys and users of the clinic made, or users in it. What its users did in another
 * clinic stays, and so do the commands of operators on the clinic itself.
 */
export const auditRows = uncachedWrite((db, p: OfClinic & { after: number; to: number }) => ({
  compile: () =>
    sql`delete from audit where id > ${p.after} and id <= ${p.to}
      and (clinic_id = ${p.clinicId} or api_key_id in (select id from api_key where clinic_id = ${p.clinicId})
        or (clinic_id is null and user_id in (select user_id from dashboard_user_clinic as member
          where clinic_id = ${p.clinicId} and not exists (select 1 from dashboard_user_clinic as other
            where other.user_id = member.user_id and other.clinic_id <> ${p.clinicId}))))
      and not (method = 'COMMAND' and substr(fp, 1, 7) = 'clinic_')
      returning 1 as removed`.compile(db),
}));
