/** SQL that differs between the engines. */
export interface Engine {
  /** Column type of a key that the database counts up. */
  readonly id: string;
  /** Type of a text column that orders lists: by bytes in both engines. */
  readonly orderedText: string;
  /** The time of the statement, in milliseconds since 1970. */
  readonly now: string;
  /** Whether several servers may use one database. */
  readonly shared: boolean;
  /**
   * Creates a trigger that refuses an UPDATE or DELETE of rows for which `when` holds, in terms of old and new, and `unless` does not.
   * Only `unless` may query other rows.
   */
  readonly refuse: (trigger: {
    name: string;
    event: "update" | "delete";
    table: string;
    when: string;
    unless?: string;
    message: string;
  }) => string;
  /**
   * Lets a column be null. An engine that cannot change it makes the tables `again`, the one with the column first, with the
   * statements of `create`, and drops `index` before.
   */
  readonly optional: (change: {
    table: string;
    column: string;
    again: readonly string[];
    index: string;
    create: string;
  }) => string;
  /** Drops such a trigger. */
  readonly allow: (trigger: { name: string; table: string }) => string;
}

/** The tables in the order of their references. */
function baseline(engine: Engine): string {
  return [clinics, patients, studies, soap, calendar, stock, access, dashboard, agents, webhooks]
    .map((part) => part(engine))
    .join("");
}

const clinics = ({ id, orderedText }: Engine) => `
  create table clinic (
    id ${id}, fp ${orderedText} not null unique, name text not null,
    version bigint not null default 0, lists_version bigint not null default 0, stamp bigint not null default 0
  );
  create table "user" (
    id ${id}, fp ${orderedText} not null unique, name text not null, clinic_id bigint not null references clinic (id)
  );
  create table customer (id ${id}, fp ${orderedText} not null unique, time_zone text);
  create table clinic_settings (
    clinic_id bigint not null primary key references clinic (id),
    language text,
    time_zone text,
    confirms_connections integer not null default 1
  );
  create table clinic_alerts (
    clinic_id bigint not null primary key references clinic (id),
    settings text,
    book text,
    changed_at bigint not null
  );
  create table clinic_reference_interval_set (
    id ${id},
    clinic_id bigint not null references clinic (id),
    version text not null,
    imported_at bigint not null,
    low_quality integer not null,
    content text not null
  );
  create index clinic_reference_interval_set_latest on clinic_reference_interval_set (clinic_id, id);
`;

const patients = ({ id, orderedText }: Engine) => `
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
    patient_id bigint not null references patient (id),
    identifier ${orderedText} not null,
    position integer not null default 0,
    primary key (patient_id, identifier)
  );
  create index patient_identifier_lookup on patient_identifier (identifier);

  create table clinic_patient (
    clinic_id bigint not null references clinic (id),
    patient_id bigint not null references patient (id),
    active integer not null,
    listed integer not null,
    patient_fp ${orderedText} not null,
    patient_species text not null,
    patient_updated_at bigint not null,
    primary key (clinic_id, patient_id)
  );
  create index clinic_patient_by_patient on clinic_patient (patient_id);
  create index clinic_patient_list on clinic_patient
    (clinic_id, listed, patient_updated_at desc, patient_fp desc, patient_id);
  create index clinic_patient_list_by_species on clinic_patient
    (clinic_id, listed, patient_species, patient_updated_at desc, patient_fp desc, patient_id);
`;

// The facts that are read every 30 s and for each open page must not read old studies: the critical ones, the unmatched ones, and
// the rhythm of each device. On SQLite indexes hold the columns of a list, because a row is long; PostgreSQL keeps long texts
// apart.
const studies = ({ id, orderedText, shared }: Engine) => `
  create table study (
    id ${id},
    fp ${orderedText} not null unique,
    clinic_id bigint references clinic (id),
    patient_id bigint references patient (id),
    unmatched_reason text,
    claimed_patient_fp text,
    placed_by_user integer not null default 0,
    rejected_reason text,
    modality text not null,
    device_name text not null,
    status text not null,
    acquired_at bigint not null,
    results text not null,
    comments text,
    revision integer not null,
    pushed_revision integer,
    cause text not null default 'pushed',
    cause_reason text,
    flagged_species text,
    dedupe_key text,
    content_hash text not null,
    source text,
    patient_hint text,
    snapshot text,
    received_at bigint not null,
    severity integer not null default 0,
    search_words text,
    checksum bigint
  );
  create unique index study_dedupe on study (clinic_id, dedupe_key);
  create index study_patient on study (patient_id, acquired_at);
  create index study_of_clinic on study (clinic_id, acquired_at);
  create index study_by_receipt on study (received_at);
  create index study_list on study
    (patient_id, acquired_at, id${shared ? "" : ", clinic_id, modality, device_name, severity, search_words"});
  create index study_unmatched on study (id) where patient_id is null;
  create index study_to_place on study (clinic_id, received_at) where patient_id is null and rejected_reason is null;
  create index study_changed_here on study (clinic_id, received_at) where cause <> 'pushed';
  create index study_flagged_before on study (patient_id) where flagged_species is not null;
  create index study_critical on study (received_at) where severity = 2;
  ${shared ? "" : "create index study_times on study (clinic_id, acquired_at, device_name, source) where source is not null;"}

  create table study_revision (
    study_id bigint not null references study (id),
    revision integer not null,
    pushed_revision integer,
    content_hash text not null,
    body text not null,
    received_at bigint not null,
    replaced_at bigint not null,
    primary key (study_id, revision)
  );
  create index study_revision_by_time on study_revision (replaced_at);

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

  -- The studies that each clinic reads, by their last change.
  create table clinic_study (
    clinic_id bigint not null references clinic (id),
    study_id bigint not null references study (id),
    changed_at bigint not null,
    primary key (clinic_id, study_id)
  );
  create index clinic_study_by_change on clinic_study (clinic_id, changed_at, study_id);
  create index clinic_study_of_study on clinic_study (study_id);

  -- The transactions that changed what a clinic lists, and when each became visible; see stamps.ts.
  create table clinic_commit (
    clinic_id bigint not null references clinic (id),
    version bigint not null,
    stamp bigint not null,
    oldest bigint not null,
    visible_at bigint not null,
    primary key (clinic_id, version)
  );
  create index clinic_commit_by_time on clinic_commit (clinic_id, visible_at, oldest);

  -- The patients and studies that left the lists of a clinic and did not return.
  create table clinic_removal (
    clinic_id bigint not null references clinic (id),
    fp ${orderedText} not null,
    removed_at bigint not null,
    primary key (clinic_id, fp)
  );
  create index clinic_removal_by_time on clinic_removal (clinic_id, removed_at, fp);

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
`;

// Triggers hold the status order of a SOAP record.
const soap = ({ id, orderedText, refuse }: Engine) => `
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
    when: signedChange(soapContent),
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
`;

const calendar = ({ id, orderedText }: Engine) => `
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
  create index calendar_event_of_patient on calendar_event (patient_id, start_at);
`;

const stock = ({ id, orderedText }: Engine) => `
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
`;

// rolled_from is the key that a roll replaced, so that the revocation of an agent reaches a predecessor within its grace period. Every
// request writes a row of the audit, and an index costs three times the row: studies alone have one.
// Servers that share a database share their request counts; a single server counts in memory. Unlogged: a crash may forget a count,
// and a request must not wait for the disk.
const access = ({ id, shared }: Engine) => `
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
    last_used_at bigint,
    rolled_from bigint
  );
  create index api_key_clinic on api_key (clinic_id);

  create table heartbeat (
    clinic_id bigint not null references clinic (id),
    api_key_id bigint not null references api_key (id),
    received_at bigint not null,
    body text not null,
    primary key (clinic_id, api_key_id)
  );

  create table audit (
    id ${id},
    at bigint not null,
    request_id text,
    api_key_id bigint references api_key (id),
    user_id bigint,
    clinic_id bigint,
    method text,
    route text,
    fp text,
    count integer,
    status integer,
    address text,
    times integer not null
  );
  create index audit_of_study on audit (fp) where substr(fp, 1, 4) = 'cds_';
  ${shared ? requestCounts : ""}
`;

const requestCounts = `
  create unlogged table request_count (
    name text primary key,
    short_used bigint not null,
    short_ends_at bigint not null,
    long_used bigint not null,
    long_ends_at bigint not null,
    taken boolean not null
  );
`;

const dashboard = ({ id, orderedText }: Engine) => `
  create table dashboard_user (
    id ${id},
    public_id ${orderedText} not null unique,
    name text not null,
    sign_in_name ${orderedText} not null unique,
    password text not null,
    totp_secret text,
    totp_last_step bigint,
    wrong_factors bigint not null default 0,
    factors_ended_at bigint,
    created_at bigint not null,
    disabled_at bigint
  );
  create table recovery_code (
    user_id bigint not null references dashboard_user (id),
    digest ${orderedText} not null,
    primary key (user_id, digest)
  );
  create table known_browser (
    digest ${orderedText} not null,
    user_id bigint not null references dashboard_user (id),
    tries bigint not null,
    signed_in_at bigint not null,
    primary key (digest, user_id)
  );
  create index known_browser_of_user on known_browser (user_id, signed_in_at);
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
    user_id bigint references dashboard_user (id)
  );
  create index connection_change_of_patient on connection_change (patient_id, clinic_id);
  create table connection_request (
    id ${id},
    clinic_id bigint not null references clinic (id),
    patient_fp ${orderedText} not null,
    user_id bigint not null references dashboard_user (id),
    state text not null,
    asked_at bigint not null,
    opened_at bigint,
    ended_at bigint
  );
  create index connection_request_of_clinic on connection_request (clinic_id, patient_fp);
  create table connection_host (
    request_id bigint not null references connection_request (id),
    clinic_id bigint not null references clinic (id),
    patient_id bigint not null references patient (id),
    state text not null,
    user_id bigint references dashboard_user (id),
    primary key (request_id, clinic_id)
  );
  create index connection_host_of_patient on connection_host (clinic_id, patient_id);
  create table study_seen (
    clinic_id bigint not null references clinic (id),
    study_id bigint not null references study (id),
    revision bigint not null,
    seen_at bigint not null,
    user_id bigint not null references dashboard_user (id),
    primary key (clinic_id, study_id)
  );
  create index study_seen_by_time on study_seen (clinic_id, seen_at);
  create table done_write (
    user_id bigint not null references dashboard_user (id),
    id_digest ${orderedText} not null,
    request_digest text not null,
    answer text,
    done_at bigint not null,
    primary key (user_id, id_digest)
  );
  create index done_write_of_user on done_write (user_id, done_at);
  create index done_write_by_time on done_write (done_at);
`;

// Agents of clinic PCs, the codes that pair them, the devices that users write for them, and the last roll-out.
const agents = ({ id, orderedText }: Engine) => `
  create table pairing_code (
    clinic_id bigint not null primary key references clinic (id),
    selector ${orderedText} not null unique,
    digest text not null,
    proof_key text not null,
    expires_at bigint not null,
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
  create table rollout (
    clinic_id bigint not null primary key references clinic (id),
    version text not null,
    pcs text not null,
    started_at bigint not null,
    stopped_at bigint,
    user_id bigint not null references dashboard_user (id)
  );
`;

const webhooks = ({ id, orderedText }: Engine) => `
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
`;

// Animals, owners and orders that practice software sends or users enter.
const practiceSoftware = ({ id, orderedText }: Engine) => `
  alter table clinic add column suspended_at bigint;
  alter table clinic_settings add column skipped_steps text;
  alter table customer add column name text;
  alter table customer add column phone text;
  alter table customer add column email text;
  alter table customer add column language text;
  alter table patient add column precise_species text;
  alter table patient add column deceased_at bigint;
  alter table patient_identifier add column type text;
  create table patient_source (
    clinic_id bigint not null references clinic (id),
    source ${orderedText} not null,
    external_id ${orderedText} not null,
    patient_id bigint references patient (id),
    source_updated_at bigint,
    removed integer not null,
    primary key (clinic_id, source, external_id)
  );
  create table customer_source (
    clinic_id bigint not null references clinic (id),
    source ${orderedText} not null,
    external_id ${orderedText} not null,
    customer_id bigint not null references customer (id),
    source_updated_at bigint,
    primary key (clinic_id, source, external_id)
  );
  create table sync_answer (
    api_key_id bigint not null references api_key (id),
    id_digest ${orderedText} not null,
    request_digest text not null,
    answer text not null,
    answered_at bigint not null,
    primary key (api_key_id, id_digest)
  );
  create index sync_answer_by_time on sync_answer (answered_at);
  create table lab_order (
    id ${id},
    fp ${orderedText} not null unique,
    clinic_id bigint not null references clinic (id),
    patient_id bigint not null references patient (id),
    accession ${orderedText} not null unique,
    device_id text,
    panel text,
    tests text not null,
    source ${orderedText},
    placer_number ${orderedText},
    ordered_at bigint not null,
    user_id bigint references dashboard_user (id),
    api_key_id bigint references api_key (id),
    offered_at bigint,
    cancelled_at bigint,
    cancelled_user_id bigint references dashboard_user (id),
    cancelled_key_id bigint references api_key (id),
    changed_at bigint not null
  );
  create unique index lab_order_of_source on lab_order (clinic_id, source, placer_number) where source is not null;
  create index lab_order_of_clinic on lab_order (clinic_id, ordered_at);
  create index lab_order_by_change on lab_order (clinic_id, changed_at, id);
  create index lab_order_of_patient on lab_order (patient_id);
  alter table study add column order_fp text;
  alter table study add column order_number text;
  create index study_of_order on study (order_fp) where order_fp is not null;
`;

// What the entrances changed, for undo, and animals that were merged into others, which takes their signed records along.
const batches = ({ id, orderedText, refuse, allow }: Engine) => `
  create table batch (
    id ${id},
    fp ${orderedText} not null unique,
    clinic_id bigint not null references clinic (id),
    door text not null,
    source text,
    user_id bigint references dashboard_user (id),
    api_key_id bigint references api_key (id),
    at bigint not null,
    created bigint not null default 0,
    changed bigint not null default 0,
    removed bigint not null default 0,
    row_count bigint not null default 0,
    undone_at bigint
  );
  create index batch_of_clinic on batch (clinic_id, id);
  create index batch_by_time on batch (at);
  create table batch_row (
    id ${id},
    batch_id bigint not null references batch (id),
    kind ${orderedText} not null,
    subject ${orderedText} not null,
    change text not null,
    before text,
    after text not null,
    unique (batch_id, kind, subject)
  );
  alter table patient add column merged_into_id bigint references patient (id);
  create index patient_merged on patient (merged_into_id) where merged_into_id is not null;
  alter table patient_source add column merged_into text;
  create index patient_of_owner on patient (owner_customer_id);
  create index patient_source_of_patient on patient_source (patient_id);
  create index customer_source_of_customer on customer_source (customer_id);
  ${allow({ name: "soap_signed_stays", table: "soap" })}
  ${refuse({
    name: "soap_signed_stays",
    event: "update",
    table: "soap",
    when: signedChange(soapContent.filter((column) => column !== "patient_id")),
    message: "a signed SOAP record is never changed, amend it",
  })}
  ${refuse({
    name: "soap_signed_keeps_patient",
    event: "update",
    table: "soap",
    when: signedChange(["patient_id"]),
    unless: `exists (select 1 from patient where id = old.patient_id and merged_into_id = new.patient_id
      or id = new.patient_id and merged_into_id = old.patient_id)`,
    message: "a signed SOAP record is never changed, amend it",
  })}
`;

/** Whether a signed SOAP record changes in one of the columns. */
function signedChange(columns: readonly string[]): string {
  const changes = columns.map((column) => `old.${column} is distinct from new.${column}`);
  return `old.status in ('SIGNED', 'LOCKED') and (${changes.join(" or ")})`;
}

// Files of animals and owners that users import.
const fileImports = (engine: Engine) => fileImportTables(engine, "not null ");

const fileImportTables = ({ id, orderedText }: Engine, needsUser: "not null " | "") => `
  create table file_import (
    id ${id},
    public_id ${orderedText} not null unique,
    clinic_id bigint not null references clinic (id),
    user_id bigint ${needsUser}references dashboard_user (id),
    file_name text not null,
    phase text not null,
    choices text not null,
    reading text,
    fault text,
    done bigint not null,
    result text,
    batch_id bigint,
    batch_fp text,
    lease_until bigint not null,
    started_at bigint not null,
    finished_at bigint
  );
  create index file_import_of_clinic on file_import (clinic_id, id);
  create table file_import_part (
    import_id bigint not null references file_import (id),
    position bigint not null,
    content text not null,
    primary key (import_id, position)
  );
  create table file_import_refusal (
    import_id bigint not null references file_import (id),
    position bigint not null,
    line bigint not null,
    faults text not null,
    primary key (import_id, position)
  );
`;

// What a clinic chose for its orders, and results without an order of which a person noted the charge.
const orderReminders = () => `
  alter table clinic_settings add column not_run_hours bigint not null default 2;
  create table study_charge (
    clinic_id bigint not null references clinic (id),
    study_id bigint not null references study (id),
    user_id bigint not null references dashboard_user (id),
    at bigint not null,
    primary key (clinic_id, study_id)
  );
`;

// Appointments that practice software sends.
const appointments = ({ orderedText }: Engine) => `
  create table event_source (
    clinic_id bigint not null references clinic (id),
    source ${orderedText} not null,
    external_id ${orderedText} not null,
    event_id bigint references calendar_event (id),
    source_updated_at bigint,
    removed integer not null,
    primary key (clinic_id, source, external_id)
  );
  create index event_source_of_event on event_source (event_id);
`;

// Files that an agent brings from a watched folder. No user sends them, and the same file comes once.
const folderFiles = (engine: Engine) => `
  ${engine.optional({
    table: "file_import",
    column: "user_id",
    // SQLite changes no column: the tables are made again.
    again: ["file_import", "file_import_part", "file_import_refusal"],
    index: "file_import_of_clinic",
    create: fileImportTables(engine, ""),
  })}
  alter table file_import add column api_key_id bigint references api_key (id);
  create table imported_file (
    clinic_id bigint not null references clinic (id),
    digest ${engine.orderedText} not null,
    import_id bigint not null,
    at bigint not null,
    primary key (clinic_id, digest)
  );
`;

// The outcomes of the last changes that an agent brought, for their repetitions.
const registryAnswers = ({ orderedText }: Engine) => `
  create table registry_answer (
    api_key_id bigint not null references api_key (id),
    source ${orderedText} not null,
    answers text not null,
    answered_at bigint not null,
    primary key (api_key_id, source)
  );
`;

// The archive's viewer that a clinic chose, and the frames of clips.
const pictures = () => `
  alter table clinic_settings add column viewer_template text;
  alter table study_preview add column frames bigint not null default 0;
`;

// A responsible member and remarks for the studies of each clinic; the critical limits that clinics accepted.
const followUps = ({ id }: Engine) => `
  create table follow_up (
    clinic_id bigint not null references clinic (id),
    study_id bigint not null references study (id),
    responsible_id bigint references dashboard_user (id),
    opened_at bigint not null,
    assigned_at bigint,
    done_at bigint,
    primary key (clinic_id, study_id)
  );
  create index follow_up_open on follow_up (clinic_id, responsible_id, opened_at) where done_at is null;
  create table follow_up_event (
    id ${id},
    clinic_id bigint not null references clinic (id),
    study_id bigint not null references study (id),
    at bigint not null,
    kind text not null,
    user_id bigint references dashboard_user (id),
    member_id bigint references dashboard_user (id),
    words text
  );
  create index follow_up_event_of_study on follow_up_event (study_id, clinic_id, id);
  create index follow_up_event_of_clinic on follow_up_event (clinic_id, id);
  create index study_abnormal on study (clinic_id, received_at) where severity > 0;
  alter table clinic_reference_interval_set add column limits text;
`;

// Links under which owners open a report, and the mail server that an admin of all clinics set.
const reportSharing = ({ id, orderedText }: Engine) => `
  create table report_link (
    id ${id},
    public_id ${orderedText} not null unique,
    digest ${orderedText} not null unique,
    clinic_id bigint not null references clinic (id),
    study_id bigint not null references study (id),
    patient_fp ${orderedText} not null,
    owner_id bigint not null references customer (id),
    user_id bigint not null references dashboard_user (id),
    language text not null,
    zone text not null,
    made_at bigint not null,
    ends_at bigint not null,
    revoked_at bigint,
    first_opened_at bigint,
    last_opened_at bigint,
    opened bigint not null default 0
  );
  create index report_link_of_study on report_link (study_id, clinic_id);
  create table mail_server (
    id integer not null primary key,
    setting text not null,
    password text,
    changed_at bigint not null
  );
`;

// The head of a clinic's reports, and the remark of a vet for the owner on a study. A remark is about one animal: a study that moves
// leaves it behind.
const ownerReports = ({ orderedText }: Engine) => `
  create table clinic_report (
    clinic_id bigint primary key references clinic (id),
    address text not null,
    phone text not null,
    logo text
  );
  create table study_remark (
    clinic_id bigint not null references clinic (id),
    study_fp ${orderedText} not null,
    patient_fp text not null,
    remark text not null,
    author text not null,
    at bigint not null,
    primary key (clinic_id, study_fp)
  );
`;

// The status that the undo of a cancelled event restores.
const cancelledEvents = () => `
  alter table calendar_event add column cancelled_from text;
`;

// How each quantity of stock came about. The sum of an item's movements is its quantity on hand, and the sum of a batch's its
// quantity; what no batch accounts for has movements without one. Stock of before opens with what there is.
const stockMovements = ({ id, now }: Engine) => `
  create table stock_movement (
    id ${id},
    item_id bigint not null references inventory_item (id),
    batch_id bigint references inventory_batch (id),
    quantity bigint not null,
    reason text not null,
    patient_id bigint references patient (id),
    user_id bigint references dashboard_user (id),
    at bigint not null,
    undoes_id bigint unique references stock_movement (id)
  );
  create index stock_movement_of_item on stock_movement (item_id, id);
  create index stock_movement_of_patient on stock_movement (patient_id, id) where patient_id is not null;
  insert into stock_movement (item_id, batch_id, quantity, reason, at)
    select item_id, id, quantity, 'opening', ${now} from inventory_batch where quantity > 0 order by id;
  insert into stock_movement (item_id, batch_id, quantity, reason, at)
    select id, null, rest, 'opening', ${now} from (
      select item.id, item.quantity_on_hand - coalesce(
        (select sum(batch.quantity) from inventory_batch as batch where batch.item_id = item.id), 0) as rest
      from inventory_item as item
    ) as counted where rest <> 0 order by id;
`;

// Intervals from a clinic's own healthy animals, which a vet accepts or dismisses.
const intervalProposals = ({ id, orderedText }: Engine) => `
  create table interval_proposal (
    id ${id},
    public_id ${orderedText} not null unique,
    clinic_id bigint not null references clinic (id),
    user_id bigint not null references dashboard_user (id),
    made_at bigint not null,
    content text not null,
    accepted integer,
    decided_by text,
    decided_user_id bigint references dashboard_user (id),
    decided_at bigint,
    row_id text
  );
  create index interval_proposal_of_clinic on interval_proposal (clinic_id, id);
`;

// The units in which a clinic reads results, as JSON.
const units = () => `
  alter table clinic_settings add column units text;
`;

/** Profiles of devices that a clinic has of its own. A revision never changes. */
const ownProfiles = ({ id, orderedText }: Engine) => `
  create table own_profile (
    id ${id},
    clinic_id bigint not null references clinic (id),
    profile ${orderedText} not null,
    text text not null,
    sha256 text not null,
    saved_at bigint not null,
    user_id bigint not null references dashboard_user (id),
    unique (clinic_id, profile)
  );
`;

// What happened to the records of each clinic. `version` is that of the clinic, or UNSTAMPED while the transaction runs, in which a
// record has one event. What is at the floor of a clinic or before it is removed.
const clinicEvents = ({ id, orderedText }: Engine) => `
  create table clinic_event (
    id ${id},
    clinic_id bigint not null references clinic (id),
    version bigint not null,
    kind ${orderedText} not null,
    fp ${orderedText} not null,
    change text not null,
    at bigint not null,
    revision bigint,
    successor_fp text
  );
  create unique index clinic_event_new on clinic_event (clinic_id, kind, fp) where version = 8640000000000000;
  create index clinic_event_by_kind on clinic_event (clinic_id, kind, version, id);
  create table clinic_event_floor (
    clinic_id bigint primary key references clinic (id),
    version bigint not null,
    event_id bigint not null
  );
`;

// A webhook's second secret, the pause that it makes itself, and the order of the deliveries of one record.
const webhookPauses = () => `
  alter table webhook add column old_secret text;
  alter table webhook add column old_secret_ends_at bigint;
  alter table webhook add column failing_since bigint;
  alter table webhook add column pause_code text;
  alter table webhook add column paused_at bigint;
  drop index webhook_delivery_due;
  create index webhook_delivery_due on webhook_delivery (webhook_id, next_at, id)
    where state in ('new', 'sending', 'retrying');
  create index webhook_delivery_of_record on webhook_delivery (webhook_id, fp, id)
    where state in ('new', 'sending', 'retrying');
`;

// What the lists of changes of SOAP records, events and items read. Records of before have the time at which they were made, or 0.
const listedChanges = () => `
  create table clinic_soap (
    clinic_id bigint not null references clinic (id),
    soap_id bigint not null references soap (id),
    changed_at bigint not null,
    primary key (clinic_id, soap_id)
  );
  insert into clinic_soap (clinic_id, soap_id, changed_at)
    select clinic.id, soap.id, case when coalesce(soap.signed_at, soap.created_at) < clinic.stamp
      then coalesce(soap.signed_at, soap.created_at) else clinic.stamp end
    from soap join clinic_patient as reader on reader.patient_id = soap.patient_id and reader.listed = 1
      join clinic on clinic.id = reader.clinic_id;
  create index clinic_soap_by_change on clinic_soap (clinic_id, changed_at, soap_id);
  create index clinic_soap_of_record on clinic_soap (soap_id);
  alter table calendar_event add column changed_at bigint not null default 0;
  create index calendar_event_by_change on calendar_event (clinic_id, changed_at, fp);
  alter table inventory_item add column changed_at bigint not null default 0;
  create index inventory_item_by_change on inventory_item (clinic_id, changed_at, fp);
`;

/** Profiles that an agent's key sent in place of a user: the table is made again, because SQLite changes no column. */
const sentProfiles = ({ id, orderedText }: Engine) => `
  alter table own_profile rename to own_profile_before;
  create table own_profile (
    id ${id},
    clinic_id bigint not null references clinic (id),
    profile ${orderedText} not null,
    text text not null,
    sha256 text not null,
    saved_at bigint not null,
    user_id bigint references dashboard_user (id),
    api_key_id bigint references api_key (id),
    unique (clinic_id, profile)
  );
  insert into own_profile (clinic_id, profile, text, sha256, saved_at, user_id)
    select clinic_id, profile, text, sha256, saved_at, user_id from own_profile_before order by id;
  drop table own_profile_before;
`;

// Where a clinic's results go besides the dashboard, and the queue of each destination. An agent names its own ones.
const destinations = ({ id, orderedText }: Engine) => `
  create table destination (
    id ${id},
    public_id ${orderedText} not null unique,
    clinic_id bigint not null references clinic (id),
    agent_id bigint references agent (id),
    slug ${orderedText} not null,
    kind text not null,
    address text,
    options text not null,
    paused integer not null default 0,
    created_at bigint not null,
    removed_at bigint
  );
  create index destination_of_clinic on destination (clinic_id, id);
  create unique index destination_of_agent on destination (agent_id, slug) where agent_id is not null;
  create table destination_delivery (
    id ${id},
    destination_id bigint not null references destination (id),
    study_fp ${orderedText} not null,
    place bigint not null,
    state text not null,
    changed_at bigint not null,
    changes bigint not null,
    revision bigint,
    control_id ${orderedText},
    file_name text,
    payload text,
    sha256 text,
    held text,
    attempts bigint not null,
    next_at bigint not null,
    ended_at bigint
  );
  create unique index destination_delivery_new on destination_delivery (destination_id, study_fp) where state = 'new';
  create index destination_delivery_open on destination_delivery (destination_id, place, id)
    where state in ('new', 'retrying', 'sending');
  create index destination_delivery_parked on destination_delivery (destination_id, id) where state = 'parked';
  create index destination_delivery_place on destination_delivery (destination_id, place);
  create index destination_delivery_of_study on destination_delivery (study_fp, destination_id, id);
  create index destination_delivery_ended on destination_delivery (ended_at) where ended_at is not null;
  create table destination_attempt (
    delivery_id bigint not null references destination_delivery (id),
    number bigint not null,
    started_at bigint not null,
    ended_at bigint,
    outcome text,
    code text,
    text text,
    primary key (delivery_id, number)
  );
`;

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

// A study's page lists who was told of it.
const deliveriesOfStudies = () => `
  create index webhook_delivery_of_study on webhook_delivery (fp) where substr(fp, 1, 4) = 'cds_';
`;

// Quality control: runs of control material, their series and targets, and events of devices.
const qualityControl = ({ id, orderedText }: Engine) => `
  create table control_series (
    id ${id},
    clinic_id bigint not null references clinic (id),
    device_id text not null, analyte text not null, unit text not null, material text not null,
    level text not null, lot text not null,
    expires text,
    runs bigint not null default 0, counted bigint not null default 0,
    mean double precision, sd double precision,
    last_at bigint, recent_at bigint,
    full_at bigint, full_mean double precision, full_sd double precision,
    unique (clinic_id, device_id, analyte, unit, material, level, lot)
  );
  create table control_target (
    series_id bigint not null references control_series (id),
    from_at bigint not null,
    mean double precision not null, sd double precision not null, basis text not null, runs bigint,
    author text, user_id bigint references dashboard_user (id), at bigint not null,
    primary key (series_id, from_at)
  );
  create table control_run (
    id ${id},
    fp ${orderedText} not null,
    clinic_id bigint not null references clinic (id),
    dedupe_key text not null,
    device_id text not null, device_name text not null, serial text,
    measured_at bigint not null, received_at bigint not null,
    sample text not null, material text, level text, lot text, expires text,
    named integer not null, own_check integer not null,
    comment text, source text,
    author text, user_id bigint references dashboard_user (id),
    unique (clinic_id, fp),
    unique (clinic_id, device_id, dedupe_key)
  );
  create index control_run_of_sample on control_run (clinic_id, device_id, sample, measured_at);
  create index control_run_of_device on control_run (clinic_id, device_id, measured_at);
  create index control_run_of_analytes on control_run (clinic_id, device_id, measured_at) where own_check = 0;
  create index control_run_unnamed on control_run (clinic_id, device_id, sample) where named = 0;
  create table control_value (
    id ${id},
    run_id bigint not null references control_run (id),
    series_id bigint references control_series (id),
    measured_at bigint not null,
    analyte text not null, code_source text, unit text not null,
    value double precision, comparator text, text text not null, device_flag text,
    printed_mean double precision, printed_sd double precision, printed_low double precision, printed_high double precision,
    excluded_at bigint, excluded_by text, excluded_reason text
  );
  create index control_value_of_series on control_value (series_id, measured_at, id);
  create index control_value_of_run on control_value (run_id);
  create table control_name (
    clinic_id bigint not null references clinic (id),
    device_id text not null, sample text not null, sent_level text not null, from_at bigint not null,
    material text, level text not null, lot text not null, expires text,
    author text not null, user_id bigint not null references dashboard_user (id), at bigint not null,
    primary key (clinic_id, device_id, sample, sent_level, from_at)
  );
  create table control_explanation (
    clinic_id bigint not null references clinic (id),
    violation text not null,
    text text not null,
    author text not null, user_id bigint not null references dashboard_user (id), at bigint not null,
    primary key (clinic_id, violation)
  );
  create table control_setting (
    clinic_id bigint not null references clinic (id),
    device_id text not null, analyte text not null,
    value text not null,
    author text not null, user_id bigint not null references dashboard_user (id), at bigint not null,
    primary key (clinic_id, device_id, analyte)
  );
  create table device_event (
    id ${id},
    fp ${orderedText} not null,
    clinic_id bigint not null references clinic (id),
    dedupe_key text not null,
    device_id text not null, device_name text not null,
    at bigint not null, received_at bigint not null,
    event text not null, subject text, lot text, expires text, count double precision, text text,
    source text,
    author text, user_id bigint references dashboard_user (id),
    unique (clinic_id, fp),
    unique (clinic_id, device_id, dedupe_key)
  );
  create index device_event_of_device on device_event (clinic_id, device_id, at);
`;

// The state of a device's controls when it measured a study.
const studyQuality = () => `
  alter table study add column quality text;
`;

// The marks that the alert watch looks at before it reads a clinic, and the work that one of several servers does.
const watchedByOne = ({ orderedText }: Engine) => `
  alter table heartbeat add column news text;
  alter table heartbeat add column changes bigint not null default 0;
  create table lease (
    name ${orderedText} not null primary key,
    holder text not null,
    renewals bigint not null
  );
`;

// When the data of an owner were erased, and how long the clinic keeps what has an end, as JSON (RetentionPolicy).
const erasure = () => `
  alter table customer add column erased_at bigint;
  alter table clinic_settings add column retention text;
`;

// The trace of the request that caused a delivery, so that the receiver of a webhook continues it.
const traces = () => "alter table webhook_delivery add column traceparent text";

// Operators of the server are apart from the users of clinics. The looks of an operator into a clinic and the API calls are kept.
const operators = ({ id }: Engine) => `
  alter table dashboard_user add column is_operator integer not null default 0;
  alter table dashboard_session add column realm text not null default 'clinic';
  alter table clinic add column studies_max bigint;
  alter table heartbeat add column version text;
  alter table heartbeat add column faulty_devices integer not null default 0;
  create table support_access (
    id ${id},
    clinic_id bigint not null references clinic (id),
    user_id bigint not null references dashboard_user (id),
    reason text not null,
    begins_at bigint not null,
    ends_at bigint not null
  );
  create index support_access_of_user on support_access (user_id, ends_at);
  create table api_calls (
    clinic_id bigint not null references clinic (id),
    month text not null,
    calls bigint not null,
    primary key (clinic_id, month)
  );
`;

// Users who sign in through a provider (OpenID Connect), the provider's sessions, and digests of what works once.
const singleSignOn = ({ orderedText }: Engine) => `
  create table oidc_identity (
    issuer ${orderedText} not null,
    subject ${orderedText} not null,
    realm ${orderedText} not null,
    user_id bigint not null unique references dashboard_user (id),
    primary key (issuer, subject, realm)
  );
  create table oidc_spent (
    digest ${orderedText} not null primary key,
    ends_at bigint not null
  );
  alter table dashboard_session add column oidc_issuer text;
  alter table dashboard_session add column oidc_sid text;
`;

/** The numbers that animals lost, with the time: a sample of before must not be filed to the animal that has the number now. */
const formerNumbers = ({ orderedText }: Engine) => `
  create table former_number (
    identifier ${orderedText} not null,
    patient_id bigint not null references patient (id),
    left_at bigint not null,
    primary key (identifier, patient_id)
  );
`;

// A clinic that left keeps the counts of its erased rows, as JSON (ClinicErasure). Its signed records go too. The indexes find what refers to a
// record that is deleted.
const clinicErasure = ({ refuse, allow }: Engine) => `
  alter table clinic add column erasure text;
  ${allow({ name: "soap_signed_remains", table: "soap" })}
  ${refuse({
    name: "soap_signed_remains",
    event: "delete",
    table: "soap",
    when: "old.status in ('SIGNED', 'LOCKED')",
    unless: "exists (select 1 from clinic where clinic.id = old.clinic_id and clinic.erasure is not null)",
    message: "a signed SOAP record is never deleted",
  })}
  create index study_seen_of_study on study_seen (study_id);
  create index follow_up_of_study on follow_up (study_id);
  create index study_charge_of_study on study_charge (study_id);
  create index stock_movement_of_batch on stock_movement (batch_id) where batch_id is not null;
  create index calendar_event_of_user on calendar_event (assigned_user_id) where assigned_user_id is not null;
`;

// The list of the clinics reads the age of their queues, and not the heartbeats. The audit of the operators reads the few rows on
// clinics.
const queueAges = () => `
  alter table heartbeat add column queue_oldest_at bigint;
  create index audit_of_clinic on audit (id) where method = 'COMMAND' and substr(fp, 1, 7) = 'clinic_';
`;

// Soft limits of the operator for a clinic, and what its meters read in place of heartbeats and studies. The notice of the operator, of
// which there is at most one.
const quotas = () => `
  alter table clinic add column quotas text;
  alter table heartbeat add column devices bigint;
  create table clinic_storage (
    clinic_id bigint primary key references clinic (id),
    bytes bigint not null,
    measured_at bigint not null
  );
  create table announcement (
    made_at bigint primary key,
    english text not null,
    turkish text not null,
    from_at bigint not null,
    until_at bigint not null
  );
`;

/**
 * The baseline, then what each later version changes. Released entries stay as they are, because databases of clinics have run
 * them.
 */
const versions: readonly ((engine: Engine) => string)[] = [
  baseline,
  practiceSoftware,
  batches,
  fileImports,
  orderReminders,
  appointments,
  folderFiles,
  registryAnswers,
  pictures,
  followUps,
  reportSharing,
  ownerReports,
  cancelledEvents,
  stockMovements,
  intervalProposals,
  units,
  ownProfiles,
  deliveriesOfStudies,
  clinicEvents,
  webhookPauses,
  listedChanges,
  sentProfiles,
  destinations,
  qualityControl,
  studyQuality,
  watchedByOne,
  erasure,
  traces,
  operators,
  singleSignOn,
  formerNumbers,
  clinicErasure,
  queueAges,
  quotas,
];

/** Version of the schema that this program knows. */
export const SCHEMA_VERSION = versions.length;

/** @returns the statements of each version of the schema */
export function migrationsFor(engine: Engine): string[] {
  return versions.map((sql) => sql(engine));
}
