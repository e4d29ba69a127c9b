import type { Migration } from "../../../shared/care/schema-steps.ts";

/** SQL that differs between the engines. */
export interface Engine {
  /** Column type of a key that the database counts up. */
  readonly id: string;
  /** Type of a text column that orders lists: by bytes in both engines. */
  readonly orderedText: string;
  /** Whether several servers may use one database. */
  readonly shared: boolean;
  /** Creates a trigger that refuses an UPDATE or DELETE of rows for which `when` holds, in terms of old and new. */
  readonly refuse: (trigger: {
    name: string;
    event: "update" | "delete";
    table: string;
    when: string;
    message: string;
  }) => string;
  /** Creates a trigger that runs `statement` for each inserted or deleted row, in terms of new or old. */
  readonly after: (trigger: RowTrigger) => string;
  /** Removes a trigger that `after` created. */
  readonly dropAfter: (trigger: RowTrigger) => string;
  /** Trigger that clears a checksum when a program that does not know it changes the columns, and the removal of that trigger. */
  readonly onOtherChange: {
    readonly clear: (checksum: ClearedChecksum) => string;
    readonly keep: (checksum: ClearedChecksum) => string;
  };
  /** Renames an index; `on` is its table and columns. */
  readonly renameIndex: (index: { from: string; to: string; on: string }) => string;
}

export interface RowTrigger {
  readonly name: string;
  readonly event: "insert" | "delete";
  readonly table: string;
  readonly statement: string;
}

export interface ClearedChecksum {
  readonly table: string;
  readonly column: string;
  readonly of: readonly string[];
}

/** Condition that the columns changed and the checksum did not, in terms of old and new. */
export function isOtherChange({ column, of }: ClearedChecksum): string {
  const changed = of.map((name) => `new.${name} is distinct from old.${name}`).join(" or ");
  return `new.${column} = old.${column} and (${changed})`;
}

/** The migrations of 0.1.0, which have no undo. A released migration never changes. */
const first: readonly ((id: string, engine: Engine) => string)[] = [
  (id, { orderedText }) => `
    create table clinic (id ${id}, fp ${orderedText} not null unique, name text not null);
    create table "user" (
      id ${id}, fp ${orderedText} not null unique, name text not null, clinic_id bigint not null references clinic (id)
    );
    create table customer (id ${id}, fp ${orderedText} not null unique, time_zone text);

    create table patient (
      id ${id},
      fp ${orderedText} not null unique,
      name text not null,
      species text not null,
      breed text,
      sex text,
      date_of_birth text,
      weight_kg double precision,
      owner_customer_id bigint not null references customer (id),
      created_at bigint not null,
      updated_at bigint not null,
      deleted_at bigint
    );
    create table patient_identifier (
      patient_id bigint not null references patient (id), identifier ${orderedText} not null, primary key (patient_id, identifier)
    );
    create index patient_identifier_lookup on patient_identifier (identifier);

    create table connection (
      clinic_id bigint not null references clinic (id),
      patient_id bigint not null references patient (id),
      active integer not null,
      listed integer not null,
      patient_fp ${orderedText} not null,
      patient_species text not null,
      patient_updated_at bigint not null,
      primary key (clinic_id, patient_id)
    );
    create index connection_patient on connection (patient_id);
    create index connection_list on connection
      (clinic_id, listed, patient_updated_at desc, patient_fp desc, patient_id);
    create index connection_list_by_species on connection
      (clinic_id, listed, patient_species, patient_updated_at desc, patient_fp desc, patient_id);

    create table study (
      id ${id},
      fp ${orderedText} not null unique,
      clinic_id bigint references clinic (id),
      patient_id bigint references patient (id),
      unmatched_reason text,
      sent_patient_fp text,
      modality text not null,
      device_name text not null,
      status text not null,
      acquired_at bigint not null,
      results text not null,
      revision integer not null,
      dedupe_key text,
      content_hash text not null,
      source text,
      patient_hint text,
      received_at bigint not null
    );
    create unique index study_dedupe on study (clinic_id, dedupe_key);
    create index study_patient on study (patient_id, acquired_at);

    create table study_revision (
      study_id bigint not null references study (id),
      revision integer not null,
      content_hash text not null,
      body text not null,
      received_at bigint not null,
      replaced_at bigint not null,
      primary key (study_id, revision)
    );

    create table api_key (
      id ${id},
      public_id text not null unique,
      clinic_id bigint not null references clinic (id),
      name text not null,
      type text not null,
      permissions text not null,
      digest text not null unique,
      prefix text not null,
      last_four text not null,
      created_at bigint not null,
      expires_at bigint,
      revoked_at bigint,
      last_used_at bigint
    );
    create index api_key_clinic on api_key (clinic_id);

    create table heartbeat (
      clinic_id bigint not null references clinic (id),
      api_key_id bigint not null references api_key (id),
      received_at bigint not null,
      body text not null,
      primary key (clinic_id, api_key_id)
    );
  `,
  // Medical records, calendar and stock. Triggers hold the status order of a SOAP record.
  (id, { orderedText, refuse }) => `
    alter table patient_identifier add column position integer not null default 0;

    create table soap (
      id ${id},
      fp ${orderedText} not null unique,
      patient_id bigint not null references patient (id),
      clinic_id bigint not null references clinic (id),
      soap_type text not null,
      status text not null check (status in ('DRAFT', 'IN_PROGRESS', 'SIGNED', 'LOCKED')),
      subjective text,
      objective text,
      assessment text,
      plan text,
      signed_at bigint,
      created_at bigint not null,
      amends_fp text,
      check ((signed_at is not null) = (status in ('SIGNED', 'LOCKED')))
    );
    create index soap_patient on soap (patient_id, created_at);
    ${refuse({
      name: "soap_signed_stays",
      event: "update",
      table: "soap",
      when: `old.status in ('SIGNED', 'LOCKED') and (${soapContent.map((column) => `old.${column} is distinct from new.${column}`).join(" or ")})`,
      message: "a signed SOAP record is never changed, amend it",
    })}
    ${refuse({
      name: "soap_signed_remains",
      event: "delete",
      table: "soap",
      when: "old.status in ('SIGNED', 'LOCKED')",
      message: "a signed SOAP record is never deleted",
    })}
    ${refuse({
      name: "soap_moves",
      event: "update",
      table: "soap",
      when: `old.status <> new.status and not (
        old.status = 'DRAFT' and new.status = 'IN_PROGRESS'
        or old.status = 'IN_PROGRESS' and new.status = 'SIGNED'
        or old.status = 'SIGNED' and new.status = 'LOCKED'
      )`,
      message: "a SOAP record moves from DRAFT over IN_PROGRESS and SIGNED to LOCKED only",
    })}

    create table calendar_event (
      id ${id},
      fp ${orderedText} not null unique,
      clinic_id bigint not null references clinic (id),
      title text not null,
      type text not null,
      status text not null,
      start_at bigint not null,
      end_at bigint not null,
      patient_id bigint references patient (id),
      assigned_user_id bigint references "user" (id)
    );
    create index calendar_event_list on calendar_event (clinic_id, start_at, fp);

    create table inventory_item (
      id ${id},
      fp ${orderedText} not null unique,
      clinic_id bigint not null references clinic (id),
      name ${orderedText} not null,
      category text not null,
      sku text,
      unit text not null,
      quantity_on_hand bigint not null check (quantity_on_hand >= 0),
      low_stock_threshold bigint not null,
      unit_price_cents bigint not null,
      currency text not null,
      is_virtual integer not null
    );
    create index inventory_item_list on inventory_item
      (clinic_id, name, fp, id, quantity_on_hand, low_stock_threshold);
    create index inventory_item_list_by_category on inventory_item
      (clinic_id, category, name, fp, id, quantity_on_hand, low_stock_threshold);

    create table inventory_batch (
      id ${id},
      item_id bigint not null references inventory_item (id),
      lot text,
      quantity bigint not null check (quantity >= 0),
      received_at bigint not null,
      expiry_date text
    );
    create unique index inventory_batch_identity on inventory_batch
      (item_id, received_at, coalesce(lot, ''), coalesce(expiry_date, ''));
  `,
  // The audit has no index: every request writes a row, and a user reads the rows in the order of writing.
  (id) => `
    create table audit (
      id ${id},
      at bigint not null,
      request_id text,
      api_key_id bigint references api_key (id),
      method text,
      route text,
      fp text,
      count integer,
      status integer,
      address text,
      times integer not null
    );
  `,
  () => `
    alter table clinic add column version bigint not null default 0;
    alter table clinic add column lists_version bigint not null default 0;
  `,
  // Servers that share a database share their request counts; a single server counts in memory. Unlogged: a crash may
  // forget a count, and a request must not wait for the disk.
  (_id, { shared }) =>
    shared
      ? `create unlogged table request_count (
           name text primary key,
           short_used bigint not null,
           short_ends_at bigint not null,
           long_used bigint not null,
           long_ends_at bigint not null,
           taken boolean not null
         )`
      : "",
  (id) => `
    create table clinic_ranges (
      id ${id},
      clinic_id bigint not null references clinic (id),
      version text not null,
      imported_at bigint not null,
      low_quality integer not null,
      content text not null
    );
    create index clinic_ranges_latest on clinic_ranges (clinic_id, id);
    alter table study add column snapshot text;
  `,
  // Commands of a user raise the revision too, so that the sender's number gets a column of its own.
  (id) => `
    alter table study add column pushed_revision integer;
    alter table study add column cause text not null default 'pushed';
    alter table study add column by_person integer not null default 0;
    alter table study add column rejected_reason text;
    update study set pushed_revision = revision;
    update study set cause = 'imported' where clinic_id is null;
    create index study_unmatched on study (id) where patient_id is null;

    alter table study_revision add column pushed_revision integer;
    update study_revision set pushed_revision = revision;

    create table study_conflict (
      id ${id},
      study_id bigint not null references study (id),
      clinic_id bigint not null references clinic (id),
      content_hash text not null,
      revision integer not null,
      reason text not null,
      body text not null,
      received_at bigint not null
    );
    create unique index study_conflict_content on study_conflict (study_id, content_hash);
  `,
  // Renames two tables and two columns of `study`.
  (_id, { renameIndex }) => `
    alter table connection rename to clinic_patient;
    ${renameIndex({ from: "connection_patient", to: "clinic_patient_by_patient", on: "clinic_patient (patient_id)" })}
    ${renameIndex({
      from: "connection_list",
      to: "clinic_patient_list",
      on: "clinic_patient (clinic_id, listed, patient_updated_at desc, patient_fp desc, patient_id)",
    })}
    ${renameIndex({
      from: "connection_list_by_species",
      to: "clinic_patient_list_by_species",
      on: "clinic_patient (clinic_id, listed, patient_species, patient_updated_at desc, patient_fp desc, patient_id)",
    })}
    alter table clinic_ranges rename to clinic_reference_interval_set;
    ${renameIndex({
      from: "clinic_ranges_latest",
      to: "clinic_reference_interval_set_latest",
      on: "clinic_reference_interval_set (clinic_id, id)",
    })}
    alter table study rename column sent_patient_fp to claimed_patient_fp;
    alter table study rename column by_person to placed_by_user;
  `,
  (id, { orderedText }) => `
    create table unknown_code (
      id ${id},
      clinic_id bigint not null references clinic (id),
      device_id ${orderedText} not null,
      code ${orderedText} not null,
      label text,
      unit text,
      value text,
      studies bigint not null,
      first_seen_at bigint not null,
      last_seen_at bigint not null
    );
    create unique index unknown_code_of_device on unknown_code (clinic_id, device_id, code);
  `,
  // The dashboard: its users and sessions, settings of a clinic, and mappings of device codes.
  (id, { orderedText }) => `
    create table dashboard_user (
      id ${id},
      public_id ${orderedText} not null unique,
      name text not null,
      sign_in_name ${orderedText} not null unique,
      password text not null,
      totp_secret text,
      totp_last_step bigint,
      created_at bigint not null,
      disabled_at bigint
    );
    create table dashboard_user_clinic (
      user_id bigint not null references dashboard_user (id),
      clinic_id bigint not null references clinic (id),
      role text not null,
      primary key (user_id, clinic_id)
    );
    create table dashboard_session (
      id ${id},
      public_id ${orderedText} not null unique,
      digest ${orderedText} not null unique,
      user_id bigint not null references dashboard_user (id),
      created_at bigint not null,
      last_used_at bigint not null,
      expires_at bigint not null,
      address text,
      browser text
    );
    create index dashboard_session_of_user on dashboard_session (user_id);
    create table clinic_settings (
      clinic_id bigint not null primary key references clinic (id),
      language text,
      time_zone text
    );
    create table code_mapping (
      clinic_id bigint not null references clinic (id),
      device_id ${orderedText} not null,
      code ${orderedText} not null,
      analyte text not null,
      mapped_at bigint not null,
      user_id bigint not null references dashboard_user (id),
      primary key (clinic_id, device_id, code)
    );
    create table connection_change (
      id ${id},
      clinic_id bigint not null references clinic (id),
      patient_id bigint not null references patient (id),
      active integer not null,
      changed_at bigint not null,
      user_id bigint not null references dashboard_user (id)
    );
    create index connection_change_of_patient on connection_change (patient_id, clinic_id);
    alter table audit add column user_id bigint;
    alter table audit add column clinic_id bigint;
    create index study_of_clinic on study (clinic_id, acquired_at);
    create index study_revision_by_time on study_revision (replaced_at);
  `,
  // The list of results. On SQLite an index holds its columns, because a row is long; PostgreSQL keeps long texts apart.
  // The audit has an index for studies alone, since an index costs three times the row.
  (_id, { shared }) => `
    alter table study add column severity integer not null default 0;
    alter table study add column search_words text;
    update study set severity = 2 where results like '%"flag":"critical"%';
    update study set severity = 1
      where severity = 0 and (results like '%"flag":"low"%' or results like '%"flag":"high"%');
    update study set search_words = lower(substr(source, ${shared ? "strpos" : "instr"}(source, '"sample_ids":[') + 13))
      where source like '%"sample_ids":[%';
    create index study_list on study (patient_id, acquired_at, id
      ${shared ? "" : ", clinic_id, modality, device_name, severity, search_words"});
    create index audit_of_study on audit (fp) where substr(fp, 1, 4) = 'cds_';
  `,
  // Studies that users saw, and small pictures of image studies.
  () => `
    create table study_seen (
      clinic_id bigint not null references clinic (id),
      study_id bigint not null references study (id),
      revision bigint not null,
      seen_at bigint not null,
      user_id bigint not null references dashboard_user (id),
      primary key (clinic_id, study_id)
    );
    create index study_seen_by_time on study_seen (clinic_id, seen_at);
    create index study_conflict_of_clinic on study_conflict (clinic_id, id);
    create table study_preview (
      study_id bigint not null references study (id),
      position bigint not null,
      width bigint not null,
      height bigint not null,
      png text not null,
      received_at bigint not null,
      primary key (study_id, position)
    );
    create index study_by_receipt on study (received_at);
  `,
  // The page of a patient lists its appointments.
  () => "create index calendar_event_of_patient on calendar_event (patient_id, start_at);",
  // The studies that each clinic reads, by their last change, and the webhooks of a clinic with what they send.
  (id, { orderedText }) => `
    create table clinic_study (
      clinic_id bigint not null references clinic (id),
      study_id bigint not null references study (id),
      changed_at bigint not null,
      primary key (clinic_id, study_id)
    );
    insert into clinic_study (clinic_id, study_id, changed_at)
      select clinic_patient.clinic_id, study.id, study.received_at
      from study join clinic_patient on clinic_patient.patient_id = study.patient_id
      where clinic_patient.listed = 1;
    create index clinic_study_by_change on clinic_study (clinic_id, changed_at, study_id);
    create index clinic_study_of_study on clinic_study (study_id);
    create table webhook (
      id ${id},
      public_id ${orderedText} not null unique,
      clinic_id bigint not null references clinic (id),
      url text not null,
      secret text not null,
      types text not null,
      paused integer not null default 0,
      created_at bigint not null
    );
    create index webhook_of_clinic on webhook (clinic_id);
    create table webhook_delivery (
      id ${id},
      webhook_id bigint not null references webhook (id),
      type text not null,
      fp ${orderedText} not null,
      state text not null,
      changed_at bigint not null,
      attempts bigint not null,
      next_at bigint not null
    );
    create unique index webhook_delivery_new on webhook_delivery (webhook_id, type, fp) where state = 'new';
    create index webhook_delivery_of_webhook on webhook_delivery (webhook_id, id);
    create index webhook_delivery_due on webhook_delivery (next_at) where state in ('new', 'sending', 'retrying');
    create index webhook_delivery_by_change on webhook_delivery (changed_at);
    create table webhook_attempt (
      delivery_id bigint not null references webhook_delivery (id),
      number bigint not null,
      started_at bigint not null,
      ended_at bigint,
      status bigint,
      reason text,
      primary key (delivery_id, number)
    );
    `,
  // Agents of clinic PCs, the codes that pair them, and the devices that users write for them.
  (id, { orderedText }) => `
    create table pairing_code (
      clinic_id bigint not null primary key references clinic (id),
      selector ${orderedText} not null unique,
      digest text not null,
      expires_at bigint not null,
      wrong_tries bigint not null,
      api_key_id bigint references api_key (id),
      user_id bigint not null references dashboard_user (id)
    );
    create table agent (
      id ${id},
      fp ${orderedText} not null unique,
      clinic_id bigint not null references clinic (id),
      api_key_id bigint not null unique references api_key (id),
      paired_at bigint
    );
    create index agent_of_clinic on agent (clinic_id);
    create table agent_configuration (
      agent_id bigint not null primary key references agent (id),
      version bigint not null,
      devices text not null,
      saved_at bigint not null,
      user_id bigint not null references dashboard_user (id)
    );
  `,
  // Alerts, and whom each clinic tells of them.
  () => `
    create table clinic_alerts (
      clinic_id bigint not null primary key references clinic (id),
      settings text,
      book text,
      changed_at bigint not null
    );
  `,
];

const soapContent = [
  "id",
  "fp",
  "patient_id",
  "clinic_id",
  "soap_type",
  "subjective",
  "objective",
  "assessment",
  "plan",
  "signed_at",
  "created_at",
  "amends_fp",
];

const studyChecksum = {
  table: "study",
  column: "checksum",
  of: ["patient_id", "modality", "device_name", "status", "acquired_at", "results"],
};
const studyDetailsChecksum = {
  table: "study",
  column: "details_checksum",
  of: ["source", "patient_hint", "snapshot"],
};

const patientChecksum = {
  table: "patient",
  column: "checksum",
  of: [
    "fp",
    "name",
    "species",
    "breed",
    "sex",
    "date_of_birth",
    "weight_kg",
    "owner_customer_id",
    "created_at",
    "deleted_at",
  ],
};
const soapChecksum = {
  table: "soap",
  column: "checksum",
  of: soapContent.filter((name) => name !== "id").concat("status"),
};

// Triggers, so that a server that does not know the counts keeps them too.
const studyCounts: readonly RowTrigger[] = [
  { name: "clinic_study_added", event: "insert", row: "new", change: 1 } as const,
  { name: "clinic_study_removed", event: "delete", row: "old", change: -1 } as const,
].map(({ name, event, row, change }) => ({
  ...{ name, event, table: "clinic_study" },
  statement: `insert into clinic_study_change (clinic_id, change) values (${row}.clinic_id, ${change});`,
}));

/** Locks that PostgreSQL holds on a table until the end of the migrations, weakest first. Readers pass all but the last. */
export const TABLE_LOCKS = ["row exclusive", "share", "share row exclusive", "access exclusive"] as const;
export type TableLock = (typeof TABLE_LOCKS)[number];

/**
 * A migration of a database that servers use meanwhile. Its statements change the catalogue of PostgreSQL alone: they read, write and
 * rewrite no row of a table that exists, so that their locks last for milliseconds. Its `indexes` are built before them.
 */
export interface ServerMigration extends Migration {
  /** Whether a server that lacks it goes on beside it, and starts again. */
  readonly beside: boolean;
  /** The strongest lock on each table that exists before it, on PostgreSQL. */
  readonly locks: Readonly<Record<string, TableLock>>;
}

/** The migrations after them, with their undo. Append only. */
const undoable: readonly ((id: string, engine: Engine) => ServerMigration)[] = [
  // The version of the program that applied a migration, the statements that undo it, and whether older servers go on beside it.
  (_id, { shared }) => ({
    beside: true,
    locks: { migration: "access exclusive" },
    sql: `
      alter table migration add column program text;
      alter table migration add column undo text;
      ${shared ? "alter table migration add column beside boolean;" : ""}
    `,
    undo: `
      ${shared ? "alter table migration drop column beside;" : ""}
      alter table migration drop column undo;
      alter table migration drop column program;
    `,
  }),
  // The line of keys that rolls make, so that the revocation of an agent reaches a predecessor within its grace period. Without a
  // reference, because SQLite drops no column that has one.
  () => ({
    beside: true,
    locks: { api_key: "access exclusive" },
    sql: "alter table api_key add column rolled_from bigint;",
    undo: "alter table api_key drop column rolled_from;",
  }),
  // The last update of the clinic PCs, and how far each PC is.
  () => ({
    beside: true,
    locks: { clinic: "share row exclusive", dashboard_user: "share row exclusive" },
    sql: `
      create table rollout (
        clinic_id bigint not null primary key references clinic (id),
        version text not null,
        pcs text not null,
        started_at bigint not null,
        stopped_at bigint,
        user_id bigint not null references dashboard_user (id)
      );
    `,
    undo: "drop table rollout;",
  }),
  // Checksums of studies. A server that knows none may still write beside this one: its change clears them.
  (_id, { onOtherChange }) => ({
    beside: true,
    locks: { study: "access exclusive", study_revision: "access exclusive" },
    sql: `
      alter table study add column checksum bigint;
      alter table study add column details_checksum bigint;
      alter table study_revision add column checksum bigint;
      ${onOtherChange.clear(studyChecksum)}
      ${onOtherChange.clear(studyDetailsChecksum)}
    `,
    undo: `
      ${onOtherChange.keep(studyChecksum)}
      ${onOtherChange.keep(studyDetailsChecksum)}
      alter table study_revision drop column checksum;
      alter table study drop column details_checksum;
      alter table study drop column checksum;
    `,
  }),
  // Facts that are computed every 30 s and for each open page must not read old studies: the critical ones, those that wait for a
  // patient, and the rhythm of each device. On SQLite an index holds the columns of the rhythm, because a row is long.
  (_id, { shared }) => {
    const indexes = [
      { name: "study_critical", on: "study (received_at) where severity = 2" },
      {
        name: "study_to_place",
        on: "study (clinic_id, received_at) where patient_id is null and rejected_reason is null",
      },
    ];
    const times =
      "create index study_times on study (clinic_id, acquired_at, device_name, source) where source is not null;";
    return {
      beside: true,
      locks: { study: "share" },
      indexes,
      sql: `
        ${indexes.map(({ name, on }) => `create index if not exists ${name} on ${on};`).join("\n")}
        ${shared ? "" : times}
      `,
      undo: `
        ${shared ? "" : "drop index study_times;"}
        drop index study_to_place;
        drop index study_critical;
      `,
    };
  },
  // Checksums of patients, their identifiers and SOAP records. The rows of identifiers are never updated.
  (_id, { onOtherChange }) => ({
    beside: true,
    locks: { patient: "access exclusive", patient_identifier: "access exclusive", soap: "access exclusive" },
    sql: `
      alter table patient add column checksum bigint;
      alter table patient_identifier add column checksum bigint;
      alter table soap add column checksum bigint;
      ${onOtherChange.clear(patientChecksum)}
      ${onOtherChange.clear(soapChecksum)}
    `,
    undo: `
      ${onOtherChange.keep(patientChecksum)}
      ${onOtherChange.keep(soapChecksum)}
      alter table soap drop column checksum;
      alter table patient_identifier drop column checksum;
      alter table patient drop column checksum;
    `,
  }),
  // The number of studies that each clinic reads. A clinic without a row is counted while servers run; see study-counts.ts.
  (_id, { after, dropAfter }) => ({
    beside: true,
    locks: { clinic: "share row exclusive", clinic_study: "share row exclusive" },
    sql: `
      create table clinic_study_count (
        clinic_id bigint not null primary key references clinic (id),
        studies bigint not null
      );
      create table clinic_study_change (clinic_id bigint not null, change bigint not null);
      create index clinic_study_change_of_clinic on clinic_study_change (clinic_id);
      ${studyCounts.map(after).join("\n")}
    `,
    undo: `
      ${studyCounts.map(dropAfter).join("\n")}
      drop table clinic_study_change;
      drop table clinic_study_count;
    `,
  }),
];

/** Version of the schema that this program knows. */
export const SCHEMA_VERSION = first.length + undoable.length;

export function migrationsFor(engine: Engine): Migration[] {
  return [...first.map((sql) => ({ sql: sql(engine.id, engine), undo: null })), ...onlineMigrationsFor(engine)];
}

/** The migrations that run while other servers use the database. */
export function onlineMigrationsFor(engine: Engine): ServerMigration[] {
  return undoable.map((migration) => migration(engine.id, engine));
}
