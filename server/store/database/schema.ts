import type { Generated } from "kysely";
import type { EventStatus, EventType } from "../../../shared/api/calendar.ts";
import type { Currency } from "../../../shared/api/inventory.ts";
import type { SoapStatus } from "../../../shared/api/soap.ts";

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
  clinic_patient: {
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
  /** Studies that contradict stored ones: kept for a person, never filed. */
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
  clinic_reference_interval_set: {
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
  claimed_patient_fp: string | null;
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
  /** Snapshot of the flags' inputs, as JSON; null if the agent sent none. */
  snapshot: string | null;
  received_at: number;
  /** The agent's number of the revision that this one rests on, which a person's acts do not raise; null where no agent sent it. */
  pushed_revision: number | null;
  /** Cause of this revision. */
  cause: StudyCause;
  /** A person has placed it (or taken it from its patient), and since then only a person moves it. */
  placed_by_user: number;
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
