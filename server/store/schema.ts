import type { Generated } from "kysely";
import type { EventStatus, EventType } from "../../shared/api/calendar.ts";
import type { Currency } from "../../shared/api/inventory.ts";
import type { SoapStatus } from "../../shared/api/soap.ts";

// Ids are the database's own integers; an fp appears only where a row meets the outside. Instants are milliseconds since 1970, UTC.
// Only types that SQLite and PostgreSQL share: text, bigint, integer 0/1 for booleans, JSON as text.

export interface Tables {
  clinic: {
    id: Generated<number>;
    fp: string;
    name: string;
    /** Raised with all that the clinic's answers depend on; see versions.ts. */
    version: Generated<number>;
    /** Raised when patients enter, leave or move in its lists. */
    lists_version: Generated<number>;
  };
  user: { id: Generated<number>; fp: string; name: string; clinic_id: number };
  customer: { id: Generated<number>; fp: string; time_zone: string | null };
  patient: {
    id: Generated<number>;
    fp: string;
    name: string;
    species: string;
    breed: string | null;
    sex: string | null;
    date_of_birth: string | null;
    weight_kg: number | null;
    owner_customer_id: number;
    created_at: number;
    updated_at: number;
    deleted_at: number | null;
  };
  patient_identifier: {
    patient_id: number;
    identifier: string;
    /** Where it stands in the import file's list; 0 for all that were stored before this was kept. */
    position: number;
  };
  connection: {
    clinic_id: number;
    patient_id: number;
    active: number;
    /** Active, and the patient not deleted: this row stands in the clinic's list. */
    listed: number;
    /** Copies from the patient, so that one index holds a clinic's list in its order. `relist` keeps them. */
    patient_fp: string;
    patient_species: string;
    patient_updated_at: number;
  };
  study: StudyColumns & { id: Generated<number> };
  study_revision: {
    study_id: number;
    revision: number;
    content_hash: string;
    /** The replaced revision as JSON, with what the agent sent beside the study. */
    body: string;
    received_at: number;
    replaced_at: number;
    pushed_revision: number | null;
  };
  /** What an agent sent that contradicts what is stored: kept for a person, never filed. */
  study_conflict: ConflictColumns & { id: Generated<number> };
  api_key: {
    id: Generated<number>;
    public_id: string;
    clinic_id: number;
    name: string;
    type: "integration" | "device" | "partner";
    permissions: string;
    digest: string;
    prefix: string;
    last_four: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    last_used_at: number | null;
  };
  heartbeat: { clinic_id: number; api_key_id: number; received_at: number; body: string };
  soap: SoapColumns & { id: Generated<number> };
  calendar_event: EventColumns & { id: Generated<number> };
  inventory_item: ItemColumns & { id: Generated<number> };
  inventory_batch: BatchColumns & { id: Generated<number> };
  /** A clinic's own intervals: every import is a version, the last one is in use. */
  clinic_ranges: {
    id: Generated<number>;
    clinic_id: number;
    version: string;
    imported_at: number;
    low_quality: number;
    /** The rows as JSON. */
    content: string;
  };
  audit: AuditColumns & { id: Generated<number> };
  /** Only where servers share the database. */
  request_count: RequestCount;
}

export interface SoapColumns {
  fp: string;
  patient_id: number;
  /** The clinic that performed the examination and owns the record. */
  clinic_id: number;
  soap_type: string;
  status: SoapStatus;
  subjective: string | null;
  objective: string | null;
  assessment: string | null;
  plan: string | null;
  signed_at: number | null;
  created_at: number;
  /** The record that this one corrects. An fp, since a file may hold the correction before what it corrects. */
  amends_fp: string | null;
}

export interface EventColumns {
  fp: string;
  clinic_id: number;
  title: string;
  type: EventType;
  status: EventStatus;
  start_at: number;
  end_at: number;
  patient_id: number | null;
  assigned_user_id: number | null;
}

export interface ItemColumns {
  fp: string;
  clinic_id: number;
  name: string;
  category: string;
  sku: string | null;
  unit: string;
  quantity_on_hand: number;
  low_stock_threshold: number;
  unit_price_cents: number;
  currency: Currency;
  is_virtual: number;
}

export interface BatchColumns {
  item_id: number;
  lot: string | null;
  quantity: number;
  received_at: number;
  expiry_date: string | null;
}

export interface StudyColumns {
  fp: string;
  /** The clinic whose agent pushed it; null for an imported study. */
  clinic_id: number | null;
  /** Null while it is held as unmatched. */
  patient_id: number | null;
  unmatched_reason: string | null;
  /** The patient the agent named, kept also when we do not know it. */
  sent_patient_fp: string | null;
  modality: string;
  device_name: string;
  status: string;
  acquired_at: number;
  results: string;
  revision: number;
  dedupe_key: string | null;
  content_hash: string;
  source: string | null;
  patient_hint: string | null;
  /** What its results were computed from, as JSON; null where nobody said. */
  snapshot: string | null;
  received_at: number;
  /** The agent's number of the revision that this one rests on, which a person's acts do not raise; null where no agent sent it. */
  pushed_revision: number | null;
  /** What made this revision. */
  cause: StudyCause;
  /** A person has placed it (or taken it from its patient), and since then only a person moves it. */
  by_person: number;
  /** Why a person took it off the list of the unmatched. */
  rejected_reason: string | null;
}

export type StudyCause =
  | ("pushed" | "imported" | "assigned" | "undone" | "rejected" | "entered")
  /** A person filed it to a patient of another species than the device stated. */
  | "assigned despite species";

export interface ConflictColumns {
  /** The stored study that it contradicts. */
  study_id: number;
  /** The clinic whose agent sent it. */
  clinic_id: number;
  content_hash: string;
  revision: number;
  reason: string;
  /** The study as it was pushed. */
  body: string;
  received_at: number;
}

export interface AuditColumns {
  /** When the request was over; of several, the first. */
  at: number;
  request_id: string | null;
  /** The key that was presented, also a revoked or expired one; null for one we do not know. */
  api_key_id: number | null;
  method: string | null;
  route: string | null;
  fp: string | null;
  /** Items of a list, studies of a push. */
  count: number | null;
  /** Null when the client went away before an answer. */
  status: number | null;
  address: string | null;
  /** How many requests this row stands for. What is not the same for all of them is null. */
  times: number;
}

/** How many requests one name has made in its two windows; see Counters in limits.ts. */
export interface RequestCount {
  name: string;
  short_used: number;
  short_ends_at: number;
  long_used: number;
  long_ends_at: number;
  /** Whether the last request was let through. */
  taken: boolean;
}

/** What the engines write differently. */
export interface Engine {
  /** The column type of a key the database counts up. */
  readonly id: string;
  /** The type of a text column whose rows are listed in its order: by bytes in both engines. */
  readonly orderedText: string;
  /** Several servers may work on one database. */
  readonly shared: boolean;
  /** A trigger that refuses an UPDATE or DELETE of rows for which `when`, in terms of old and new, holds. */
  readonly refuse: (trigger: {
    name: string;
    event: "update" | "delete";
    table: string;
    when: string;
    message: string;
  }) => string;
}

/** Append only: a migration that left the house is never edited. `id` is the column type of a key the database counts up. */
export const migrations: readonly ((id: string, engine: Engine) => string)[] = [
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
  // Medical records, calendar and stock. The moves of a SOAP record are held by the database itself (api.md 73).
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
  // The audit has no index: it is written with every request and read by a person, in the order in which it was written.
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
  // Servers that share a database count requests together; one that is alone counts in its memory. Unlogged: a count is
  // worth no wait for a disk, and a crash may forget it.
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
  // Until now every study came from an agent or a file, and its revision was the sender's.
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

/** What a database of this version still needs, in order; throws when a newer program wrote it. `database` is for the sentence. */
export function missingMigrations(
  database: string,
  version: number,
  engine: Engine,
): { number: number; statements: string }[] {
  if (version > migrations.length) {
    throw new Error(
      `${database} has schema version ${version}, this program knows versions up to ${migrations.length}: use the newer program`,
    );
  }
  return migrations
    .map((statements, index) => ({ number: index + 1, statements: statements(engine.id, engine) }))
    .slice(version);
}
