import type { Generated } from "kysely";

// Ids are the database's own integers; an fp appears only where a row meets the outside. Instants are milliseconds since 1970, UTC.
// Only types that SQLite and PostgreSQL share: text, bigint, integer 0/1 for booleans, JSON as text.

export interface Tables {
  clinic: { id: Generated<number>; fp: string; name: string };
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
  patient_identifier: { patient_id: number; identifier: string };
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
  };
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
  received_at: number;
}

/** Append only: a migration that left the house is never edited. `id` is the column type of a key the database counts up. */
export const migrations: readonly ((id: string) => string)[] = [
  (id) => `
    create table clinic (id ${id}, fp text not null unique, name text not null);
    create table "user" (
      id ${id}, fp text not null unique, name text not null, clinic_id bigint not null references clinic (id)
    );
    create table customer (id ${id}, fp text not null unique, time_zone text);

    create table patient (
      id ${id},
      fp text not null unique,
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
      patient_id bigint not null references patient (id), identifier text not null, primary key (patient_id, identifier)
    );
    create index patient_identifier_lookup on patient_identifier (identifier);

    create table connection (
      clinic_id bigint not null references clinic (id),
      patient_id bigint not null references patient (id),
      active integer not null,
      listed integer not null,
      patient_fp text not null,
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
      fp text not null unique,
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
];
