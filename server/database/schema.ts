import type { Generated } from "kysely";
import type {
  Heartbeat,
  MatchedBy,
  PatientHint,
  PushedStudy,
  Result,
  Snapshot,
  Study,
  StudySource,
} from "../../shared/api/study.ts";
import type { ClinicRange } from "../../shared/clinical/clinic-ranges.ts";
import type { StudyQuality } from "../../shared/clinical/control/study-quality.ts";
import type { AcceptedLimit } from "../../shared/clinical/critical-limits.ts";
import type { UnitChoice } from "../../shared/clinical/units/unit-choice.ts";
import type { Reason } from "../../shared/api/reason.ts";
import type { EventStatus, EventType } from "../../shared/api/calendar.ts";
import type { EventChange, EventKind } from "../../shared/api/clinic-event.ts";
import type { DeviceEventKind } from "../../shared/api/quality.ts";
import type { Currency } from "../../shared/api/inventory.ts";
import type { SoapStatus } from "../../shared/api/soap.ts";
import type { Language } from "../../shared/api/language.ts";
import type {
  FileChoices,
  FileFault,
  FileReading,
  FileResult,
  ImportPhase,
  LineFault,
} from "../dashboard/types/file-import.ts";
import type { Realm, Role } from "../dashboard/types/settings/session.ts";
import type { HostState, RequestState } from "../dashboard/types/connections.ts";
import type { MovementReason } from "../dashboard/types/stock.ts";
import type { Target } from "../dashboard/types/quality.ts";
import type { RetentionPolicy } from "../dashboard/types/settings/clinic-settings.ts";
import type {
  DeliveryOutcome,
  DestinationKind,
  DestinationOptions,
  DestinationState,
} from "../dashboard/types/settings/destinations.ts";
import type { MailSetting } from "../dashboard/types/settings/mail-server.ts";
import type { ProposalContent } from "../dashboard/types/settings/own-intervals.ts";
import type { DeliveryState, PauseCode, WebhookEventType } from "../dashboard/types/settings/webhooks.ts";

// The tables. Ids are integers of the database; fps are the ids of the API. Times are milliseconds since 1970, UTC.
// Columns have types that SQLite and PostgreSQL share: text, bigint, integer 0/1 for booleans, JSON as text.

/** The JSON of a value as text. The type of the value exists for the compiler alone. */
export type Json<T> = string & { readonly [parsed]?: T };
declare const parsed: unique symbol;

/** Parses a JSON column; null stays null. */
export function parseStored<T>(text: Json<T>): T;
export function parseStored<T>(text: Json<T> | null): T | null;
export function parseStored(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

export interface Tables {
  clinic: {
    id: Generated<number>;
    fp: string;
    name: string;
    /** Version of all data that the clinic reads; see cache-versions.ts. */
    version: Generated<number>;
    /** Version of the order and number of its patients. */
    lists_version: Generated<number>;
    /** Stamp of the last change of its lists of patients and studies; see stamps.ts. */
    stamp: Generated<number>;
    /** When the operator suspended it; null while it is served. */
    suspended_at: Generated<number | null>;
    /** Studies that it may store; null for the limit of the server. */
    studies_max: Generated<number | null>;
    /** Counts of the erased rows of a clinic that leaves, as JSON (ClinicErasure); null for one that stays. The last step makes its fp its name. */
    erasure: Generated<string | null>;
    /** Soft limits by meter, as JSON (Quotas); null without one. */
    quotas: Generated<string | null>;
  };
  user: { id: Generated<number>; fp: string; name: string; clinic_id: number };
  /** Owners. Name, phone and e-mail are for people of the clinic: neither /api/v1 nor a log has them. */
  customer: {
    id: Generated<number>;
    fp: string;
    time_zone: string | null;
    name: Generated<string | null>;
    phone: Generated<string | null>;
    email: Generated<string | null>;
    /** Language of reports for the owner; null for the clinic's. */
    language: Generated<Language | null>;
    /** When its data were erased; null for an owner whose data may be stored. */
    erased_at: Generated<number | null>;
  };
  patient: {
    id: Generated<number>;
    fp: string;
    name: string;
    /** The word that the API serves. */
    species: string;
    /** The animal itself where `species` names a group, such as `horse` or `ferret`. */
    precise_species: string | null;
    breed: string | null;
    sex: string | null;
    date_of_birth: string | null;
    weight_kg: number | null;
    owner_customer_id: number;
    created_at: number;
    updated_at: number;
    deceased_at: number | null;
    deleted_at: number | null;
    /** The animal that has its records since a merge; null for an animal of its own. */
    merged_into_id: number | null;
  };
  patient_identifier: {
    patient_id: number;
    identifier: string;
    /** Null if the door did not say it. */
    type: string | null;
    /** Index in the list of the import file. */
    position: number;
  };
  /** Numbers that an animal no longer has. */
  former_number: {
    identifier: string;
    patient_id: number;
    /** Time of the change that took it. */
    left_at: number;
  };
  /** Names of patients in the practice software of a clinic. */
  patient_source: {
    clinic_id: number;
    source: string;
    external_id: string;
    /** Null for a patient that was removed before it came. */
    patient_id: number | null;
    /** Time of the last change in the software, ms since 1970; null if it never said one. */
    source_updated_at: number | null;
    removed: number;
    /** The external id of the same source into which this one was merged; null for the patient's own. */
    merged_into: Generated<string | null>;
  };
  /** Names of owners in the practice software of a clinic. */
  customer_source: {
    clinic_id: number;
    source: string;
    external_id: string;
    customer_id: number;
    source_updated_at: number | null;
  };
  /** Names of appointments in the practice software of a clinic. */
  event_source: {
    clinic_id: number;
    source: string;
    external_id: string;
    /** Null for an appointment that was cancelled before it came. */
    event_id: number | null;
    source_updated_at: number | null;
    /** Whether the software cancelled it. */
    removed: number;
  };
  /** The changes that one request, file or person made to animals and owners; see records/registry/batches.ts. */
  batch: {
    id: Generated<number>;
    fp: string;
    clinic_id: number;
    door: Door;
    /** Name of the practice software or of the file; null for a person. */
    source: string | null;
    user_id: number | null;
    api_key_id: number | null;
    at: number;
    /** Numbers of animals. */
    created: Generated<number>;
    changed: Generated<number>;
    removed: Generated<number>;
    /** Number of rows in `batch_row`. */
    row_count: Generated<number>;
    undone_at: Generated<number | null>;
  };
  /** A record that a batch changed, in the order of the first change. */
  batch_row: {
    id: Generated<number>;
    batch_id: number;
    kind: string;
    /** The name of the record within its kind. */
    subject: string;
    change: RowChange;
    /** JSON of what the batch found; null if it created the record. */
    before: string | null;
    /** JSON of what the batch left. */
    after: string;
  };
  /** The last file of animals or owners of a clinic; see import/jobs. */
  file_import: FileImportColumns & { id: Generated<number> };
  /** The bytes of such a file, compressed, in base64. */
  file_import_part: { import_id: number; position: number; content: string };
  /** The files that agents brought, so that the same file comes once. */
  imported_file: {
    clinic_id: number;
    digest: string;
    /** Id in `file_import`, also of a file that is removed there. */
    import_id: number;
    at: number;
  };
  /** Lines that an import refuses. */
  file_import_refusal: {
    import_id: number;
    line: number;
    /** Index among the lines of the file. */
    position: number;
    faults: Json<LineFault[]>;
  };
  /** Answers to requests of practice software, for their repetitions. */
  sync_answer: {
    api_key_id: number;
    id_digest: string;
    request_digest: string;
    answer: string;
    answered_at: number;
  };
  /** The outcomes of the last changes of practice software that an agent brought, for their repetitions. */
  registry_answer: {
    api_key_id: number;
    source: string;
    /** Pairs of the key of a change and its outcome as JSON, the last change last. */
    answers: string;
    answered_at: number;
  };
  /** Links under which an owner opens the report of one study; see records/sharing/report-links.ts. */
  report_link: {
    id: Generated<number>;
    public_id: string;
    /** The digest of the secret in the address, which nothing stores. */
    digest: string;
    clinic_id: number;
    study_id: number;
    /** The animal for which it was made. A study that moves to another one ends the link. */
    patient_fp: string;
    /** Its owner at that time. The report does not name another one. */
    owner_id: number;
    user_id: number;
    language: Language;
    /** IANA name of the time zone of printed times. */
    zone: string;
    made_at: number;
    ends_at: number;
    revoked_at: number | null;
    first_opened_at: number | null;
    last_opened_at: number | null;
    /** How often the button of its page was pressed. */
    opened: Generated<number>;
  };
  /** The mail server that the dashboard set, in one row; see operations/mail/stored-mail-server.ts. */
  mail_server: {
    id: number;
    setting: Json<MailSetting>;
    /** Sealed with the pepper; null without one. */
    password: string | null;
    changed_at: number;
  };
  /** Orders of tests. Their state is derived; see records/orders/order-state.ts. */
  lab_order: OrderColumns & { id: Generated<number> };
  clinic_patient: {
    clinic_id: number;
    patient_id: number;
    active: number;
    /** 1 if the connection is active and the patient is not deleted: the row belongs to the clinic's list. */
    listed: number;
    /** Copies of patient columns, so that one index holds a clinic's list in order. `relist` updates them. */
    patient_fp: string;
    patient_species: string;
    patient_updated_at: number;
  };
  study: StudyColumns & OptionalStudyColumns & StudySearchColumns & StudyChecksum & { id: Generated<number> };
  study_revision: {
    study_id: number;
    revision: number;
    content_hash: string;
    body: Json<ReplacedStudy>;
    received_at: number;
    replaced_at: number;
    pushed_revision: number | null;
  };
  /** Pushed studies that contradict stored ones. They are kept for a user and never filed. */
  study_conflict: ConflictColumns & { id: Generated<number> };
  /** Codes of devices that the catalogue does not know. They name no patient and no study. */
  unknown_code: {
    id: Generated<number>;
    clinic_id: number;
    device_id: string;
    code: string;
    label: string | null;
    /** Unit and value of the last result. */
    unit: string | null;
    value: string | null;
    /** Number of studies with the code. */
    studies: number;
    first_seen_at: number;
    last_seen_at: number;
  };
  api_key: {
    id: Generated<number>;
    public_id: string;
    clinic_id: number;
    name: string;
    type: "integration" | "device" | "partner";
    permissions: Json<string[]>;
    digest: string;
    prefix: string;
    last_four: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    last_used_at: number | null;
    /** The first key of its line; null for a key without a predecessor. */
    rolled_from: number | null;
  };
  heartbeat: {
    clinic_id: number;
    api_key_id: number;
    received_at: number;
    body: Json<Heartbeat>;
    /** Digest of what alerts read of it; null for one of before. */
    news: Generated<string | null>;
    /** Raised by each heartbeat with another digest. */
    changes: Generated<number>;
    /** The version of the agent; null if it does not report it. */
    version: Generated<string | null>;
    /** Devices with a fault, or whose bytes their profile does not understand. */
    faulty_devices: Generated<number>;
    /** Null for a heartbeat of before. */
    devices: Generated<number | null>;
    /** Time of the oldest result that waits to be sent; null for an empty queue. */
    queue_oldest_at: number | null;
  };
  soap: SoapColumns & { id: Generated<number> };
  calendar_event: EventColumns & {
    id: Generated<number>;
    /** The status in which a user cancelled it; null for another event. */
    cancelled_from: Generated<EventStatus | null>;
    /** Time of its last change. It never falls from one commit of the clinic to the next; 0 for one of before. */
    changed_at: Generated<number>;
  };
  inventory_item: ItemColumns & {
    id: Generated<number>;
    /** Time of its last change, also of its stock. It never falls from one commit of the clinic to the next; 0 for one of before. */
    changed_at: Generated<number>;
  };
  inventory_batch: BatchColumns & { id: Generated<number> };
  /** Each change of a quantity of stock, with its reason. */
  stock_movement: MovementColumns & { id: Generated<number> };
  /** A clinic's own intervals. Each import is a version, and the last one is in use. */
  clinic_reference_interval_set: {
    id: Generated<number>;
    clinic_id: number;
    version: string;
    imported_at: number;
    low_quality: number;
    content: Json<ClinicRange[]>;
    /** The accepted critical limits. Null before the clinic decided about them. */
    limits: Generated<Json<AcceptedLimit[]> | null>;
  };
  /** Intervals that a clinic computed from its own healthy animals. An accepted one is a row of its intervals, too. */
  interval_proposal: {
    id: Generated<number>;
    public_id: string;
    clinic_id: number;
    user_id: number;
    made_at: number;
    /** Animals, values, limits and what was left out. */
    content: Json<ProposalContent>;
    /** 1 if it was accepted, 0 if it was dismissed; null while nobody decided. */
    accepted: number | null;
    /** Name of the vet who decided, and the user who wrote it. */
    decided_by: string | null;
    decided_user_id: number | null;
    decided_at: number | null;
    /** Id of the row that it became. */
    row_id: string | null;
  };
  audit: AuditColumns & { id: Generated<number> };
  /** People who sign in at the dashboard. `user` holds the staff that the clinic's own software named. */
  dashboard_user: {
    id: Generated<number>;
    public_id: string;
    name: string;
    /** The name that the user types, in lower case. */
    sign_in_name: string;
    /** Parameters, salt and hash of the password; see server/dashboard/auth/password.ts. */
    password: string;
    /** Base32 secret of the second factor; null without one. */
    totp_secret: string | null;
    /** Time step of the last accepted code, so that no code works twice. */
    totp_last_step: number | null;
    /** Wrong second factors after the right password since the last sign-in. */
    wrong_factors: Generated<number>;
    /** 1 for an operator of the server, who belongs to no clinic. */
    is_operator: Generated<number>;
    /** When they became too many; null until then. A new password sets it back. */
    factors_ended_at: number | null;
    created_at: number;
    disabled_at: number | null;
  };
  /** HMAC of the unused codes that replace the second factor. */
  recovery_code: { user_id: number; digest: string };
  /**
   * Users who signed in at a browser. `digest` is the SHA-256 of its cookie, which changes at each sign-in; `tries` are those with
   * the cookie since the user's last sign-in.
   */
  known_browser: { digest: string; user_id: number; tries: number; signed_in_at: number };
  dashboard_user_clinic: { user_id: number; clinic_id: number; role: Role };
  dashboard_session: {
    id: Generated<number>;
    public_id: string;
    /** SHA-256 of the cookie's value, as hex. */
    digest: string;
    user_id: number;
    /** The pages that it opens. */
    realm: Generated<Realm>;
    created_at: number;
    last_used_at: number;
    expires_at: number;
    address: string | null;
    browser: string | null;
    /** The provider that signed the user in, and its session; null for a password. */
    oidc_issuer: string | null;
    oidc_sid: string | null;
  };
  /** Looks of an operator into a clinic. */
  support_access: {
    id: Generated<number>;
    clinic_id: number;
    user_id: number;
    reason: string;
    begins_at: number;
    ends_at: number;
  };
  /** Requests with keys of a clinic, by month such as 2026-11. */
  api_calls: { clinic_id: number; month: string; calls: number };
  /** Bytes of results and pictures, as last measured. */
  clinic_storage: { clinic_id: number; bytes: number; measured_at: number };
  /** The notice of the operator for the users of all clinics. The time at which it was made identifies it. */
  announcement: { made_at: number; english: string; turkish: string; from_at: number; until_at: number };
  /** The user of a subject of a provider. */
  oidc_identity: { issuer: string; subject: string; realm: Realm; user_id: number };
  /** Digests of sign-ins that ended and of logout tokens that were obeyed, until these expire by themselves. */
  oidc_spent: { digest: string; ends_at: number };
  clinic_settings: {
    clinic_id: number;
    language: Language | null;
    time_zone: string | null;
    /** Whether connections of other clinics to its patients wait for its confirmation. */
    confirms_connections: Generated<number>;
    /** First steps that an admin skipped, separated by spaces. */
    skipped_steps: Generated<string | null>;
    /** Hours without results after which an order counts as not run. */
    not_run_hours: Generated<number>;
    /** Address of a study in the archive's viewer, with a place for its UID. */
    viewer_template: string | null;
    /** The units in which results are read; null reads them as they were sent. */
    units: Json<UnitChoice> | null;
    /** Months for which the clinic keeps things that have an end; null for the usual ones. */
    retention: Generated<Json<Partial<RetentionPolicy>> | null>;
  };
  /** The head of a clinic's reports for owners. */
  clinic_report: {
    clinic_id: number;
    address: string;
    phone: string;
    /** A data URL of a PNG or JPEG. */
    logo: string | null;
  };
  /** Remarks of vets for the owner, of which a study has one at most. It counts while the study is of that patient. */
  study_remark: {
    clinic_id: number;
    study_fp: string;
    patient_fp: string;
    remark: string;
    /** Name of the user. */
    author: string;
    at: number;
  };
  /** Analytes that a clinic chose for codes of its devices. Agents fetch them. */
  code_mapping: {
    clinic_id: number;
    device_id: string;
    code: string;
    analyte: string;
    mapped_at: number;
    user_id: number;
  };
  /** Connections of patients that users opened and closed. */
  connection_change: {
    id: Generated<number>;
    clinic_id: number;
    patient_id: number;
    active: number;
    changed_at: number;
    /** Null if another clinic ended the connection. */
    user_id: number | null;
  };
  /** Requests of clinics for connections to patients of others; see dashboard/connection-requests.ts. */
  connection_request: {
    id: Generated<number>;
    clinic_id: number;
    /** The requested fp. It need not exist. */
    patient_fp: string;
    user_id: number;
    state: RequestState;
    asked_at: number;
    opened_at: number | null;
    ended_at: number | null;
  };
  /** The clinics that are connected to the patient of a request. */
  connection_host: {
    request_id: number;
    clinic_id: number;
    patient_id: number;
    state: HostState;
    user_id: number | null;
  };
  /** The last revision of a study that a user of a clinic saw. */
  study_seen: { clinic_id: number; study_id: number; revision: number; seen_at: number; user_id: number };
  /** A study for which a member of a clinic is responsible. Its remarks and changes are in `follow_up_event`. */
  follow_up: {
    clinic_id: number;
    study_id: number;
    /** Null if nobody is. */
    responsible_id: number | null;
    /** When it was opened, or opened again. */
    opened_at: number;
    assigned_at: number | null;
    /** Null while it is open. */
    done_at: number | null;
  };
  follow_up_event: {
    id: Generated<number>;
    clinic_id: number;
    study_id: number;
    at: number;
    kind: "assigned" | "remark" | "done" | "reopened" | "worse" | "moved";
    /** Null for an event that a new revision made. */
    user_id: number | null;
    /** The member that it was assigned to; null for nobody. */
    member_id: number | null;
    /** The remark, or the analytes of a worse revision as a JSON list. */
    words: string | null;
  };
  /** Results without an order of which a user noted the charge. */
  study_charge: { clinic_id: number; study_id: number; user_id: number; at: number };
  /** Writes of the dashboard that are done, for their repetitions; see dashboard/done-writes.ts. */
  done_write: {
    user_id: number;
    id_digest: string;
    request_digest: string;
    answer: string | null;
    done_at: number;
  };
  /** Small pictures of the images of a study, as the clinic's agent draws them. */
  study_preview: {
    study_id: number;
    /** Index of the image in its study, from 1. */
    position: number;
    width: number;
    height: number;
    /** Frames of a clip in the picture; 0 without a clip. */
    frames: Generated<number>;
    /** Base64, or the reference of a picture in a bucket: `object:` and the SHA-256 of its bytes. */
    png: string;
    received_at: number;
  };
  /** Runs of control material. Nothing of it is a study; see records/controls. */
  control_run: ControlRunColumns & { id: Generated<number> };
  /** The values of a control run, in their order. */
  control_value: ControlValueColumns & { id: Generated<number> };
  /** Values that belong together: a device, an analyte in its unit, a level of a lot. `unit` and `material` are "" where there is none. */
  control_series: ControlSeriesKey & {
    id: Generated<number>;
    clinic_id: number;
    expires: string | null;
    /** Number of values that are not excluded, and of those among them that are numbers without `<` or `>`, which count. */
    runs: Generated<number>;
    counted: Generated<number>;
    /** Mean and SD of the values that count; null under two. */
    mean: number | null;
    sd: number | null;
    last_at: number | null;
    /** Time of the oldest value that the overview judges. */
    recent_at: number | null;
    /** Time of the 20th value that counts, and mean and SD of the values up to it; null before. */
    full_at: number | null;
    full_mean: number | null;
    full_sd: number | null;
  };
  /** The targets of a series, each in force from its time until the next one. */
  control_target: {
    series_id: number;
    /** Time of measurement; 0 for the first one. */
    from_at: number;
    mean: number;
    sd: number;
    basis: Target["basis"];
    /** Runs from which an own target was computed. */
    runs: number | null;
    /** Null for a target that the device printed or the first runs gave: it follows the runs until a person sets one. */
    author: string | null;
    user_id: number | null;
    at: number;
  };
  /** Which material a clinic says that a sample of its device is, from a time of measurement on. */
  control_name: {
    clinic_id: number;
    device_id: string;
    sample: string;
    /** The level that the device sends; "" for none. */
    sent_level: string;
    from_at: number;
    material: string | null;
    level: string;
    lot: string;
    expires: string | null;
    author: string;
    user_id: number;
    at: number;
  };
  /** A person's words about a broken rule. `violation` names the rule and the last value that broke it. */
  control_explanation: {
    clinic_id: number;
    violation: string;
    text: string;
    author: string;
    user_id: number;
    at: number;
  };
  /** A clinic's rules for an analyte (device "") and its schedule for a device (analyte ""), as JSON. */
  control_setting: {
    clinic_id: number;
    device_id: string;
    analyte: string;
    value: string;
    author: string;
    user_id: number;
    at: number;
  };
  /** Reagent lots, calibrations, maintenance, counters and faults of devices, sent or typed. */
  device_event: DeviceEventColumns & { id: Generated<number> };
  /** The filed studies that each clinic reads: those of its listed patients. See changes/clinic-studies.ts. */
  clinic_study: {
    clinic_id: number;
    study_id: number;
    /** Time at which the clinic's view of it changed last. It never falls from one commit of the clinic to the next. */
    changed_at: number;
  };
  /** The SOAP records that each clinic reads: those of its listed patients. See changes/clinic-soap.ts. */
  clinic_soap: {
    clinic_id: number;
    soap_id: number;
    /** Time at which the clinic's view of it changed last. It never falls from one commit of the clinic to the next. */
    changed_at: number;
  };
  /** A transaction that changed what a clinic lists; see stamps.ts. */
  clinic_commit: {
    clinic_id: number;
    /** The version that it gave the clinic. */
    version: number;
    stamp: number;
    /** Lowest stamp that it may have given a row. */
    oldest: number;
    /** Time from which every read has its rows. UNSTAMPED until somebody has seen it committed. */
    visible_at: number;
  };
  /** Records that left the lists of a clinic and did not return. */
  clinic_removal: { clinic_id: number; fp: string; removed_at: number };
  /** The events of the records of each clinic; see webhooks/events.ts. */
  clinic_event: ClinicEventColumns & { id: Generated<number> };
  /** The last event of a clinic that is removed. */
  clinic_event_floor: { clinic_id: number; version: number; event_id: number };
  /** Receivers of a clinic's events. */
  webhook: {
    id: Generated<number>;
    public_id: string;
    clinic_id: number;
    url: string;
    /** Signs each message, so that it is stored as it is. */
    secret: string;
    /** The secret before the last rotation, which signs too until its end. */
    old_secret: string | null;
    old_secret_ends_at: number | null;
    /** The chosen event types, separated by spaces. */
    types: string;
    paused: number;
    /** Set if the webhook paused itself. */
    pause_code: PauseCode | null;
    paused_at: number | null;
    /** Time of the first failure since the last success; null after a success. */
    failing_since: number | null;
    created_at: number;
  };
  /** Events that a webhook sends. The transaction of the change writes them. */
  webhook_delivery: DeliveryColumns & { id: Generated<number> };
  /** Every attempt to send, written before the request, so that a crash hides none. */
  webhook_attempt: {
    delivery_id: number;
    number: number;
    started_at: number;
    /** Null while the request is under way, and for ever if the server stopped then. */
    ended_at: number | null;
    status: number | null;
    /** A WebhookReason as JSON, an older one in words; null after a success. */
    reason: string | null;
  };
  /** Receivers of the results of a clinic: practice software over HL7, or a folder of CSV files. */
  destination: DestinationColumns & { id: Generated<number> };
  /** The queue of each destination, and what it got. */
  destination_delivery: DestinationDeliveryColumns & { id: Generated<number> };
  /** Every attempt to send, written before it, so that a crash hides none. */
  destination_attempt: {
    delivery_id: number;
    number: number;
    started_at: number;
    /** Null while it is under way, and for ever if the server or the agent stopped then. */
    ended_at: number | null;
    outcome: DeliveryOutcome | null;
    /** MSA-1, or a code of the sender such as `timeout`; null without one. */
    code: string | null;
    /** The receiver's words. */
    text: string | null;
  };
  /** Work that one server does for all; see operations/lease.ts. */
  lease: {
    name: string;
    /** The server that does it; empty if none does. */
    holder: string;
    /** Raised by each renewal. */
    renewals: number;
  };
  /** Alerts of a clinic; see server/records/alerts/alerts.ts. */
  clinic_alerts: {
    clinic_id: number;
    /** Who is notified of the clinic's alerts, as JSON (Notifications); null before the first choice. */
    settings: string | null;
    /** Open alerts and waiting messages, as JSON (AlertBook); null before the first alert. */
    book: string | null;
    /** Rises with each change of the row, and when a user sees a study. */
    changed_at: number;
  };
  /** PostgreSQL only. */
  request_count: RequestCount;
  /** The last pairing code of each clinic. The store holds its digest. */
  pairing_code: PairingCodeColumns;
  /** Agents of clinic PCs. Each one has one key. */
  agent: AgentColumns & { id: Generated<number> };
  /** The devices that a user last wrote for an agent. */
  rollout: RolloutColumns;
  /** A revision of a clinic's own profile. */
  own_profile: {
    id: Generated<number>;
    clinic_id: number;
    /** The profile with its revision: `own/acme-x1@3`. */
    profile: string;
    text: string;
    /** SHA-256 of the text in hexadecimal digits. */
    sha256: string;
    saved_at: number;
    /** Null for one that an agent sent. */
    user_id: number | null;
    /** The key of the agent that sent it; null for one of a user. */
    api_key_id: Generated<number | null>;
  };
  agent_configuration: {
    agent_id: number;
    /** Grows with each change. */
    version: number;
    /** The devices as YAML. */
    devices: string;
    saved_at: number;
    user_id: number;
  };
}

/** Where a change of an animal comes from. */
export type Door = "hand" | "file" | "sync" | "device" | "merge" | "hl7";

export type RowChange = "created" | "changed" | "removed";

export interface FileImportColumns {
  public_id: string;
  clinic_id: number;
  /** Null for a file of a watched folder whose questions no user has answered. */
  user_id: number | null;
  /** The key of the agent that watches the folder; null for a file of a user. */
  api_key_id: number | null;
  /** The name on the user's computer, for people. */
  file_name: string;
  phase: ImportPhase;
  /** The decisions of a person. */
  choices: Json<FileChoices>;
  /** The decisions about the file; null if it cannot be read. */
  reading: Json<FileReading> | null;
  /** Why it cannot be read. */
  fault: Json<FileFault> | null;
  /** Lines that are through. */
  done: number;
  /** The outcome of the lines. */
  result: Json<FileResult> | null;
  /** The changes of the import, for undo. */
  batch_id: number | null;
  batch_fp: string | null;
  /** Time until which one server works on it; after it another server may go on. */
  lease_until: number;
  started_at: number;
  finished_at: number | null;
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
  /** The corrected record. An fp, because a file may contain a correction before the corrected record. */
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

export interface OrderColumns {
  fp: string;
  clinic_id: number;
  patient_id: number;
  /** The number of its sample: never issued again. */
  accession: string;
  /** The id in agent.yaml; null for any device that queries it. */
  device_id: string | null;
  panel: string | null;
  /** Names of the tests. */
  tests: Json<string[]>;
  /** The software that sent it, and its number there. Null for an order of the dashboard. */
  source: string | null;
  placer_number: string | null;
  ordered_at: number;
  /** Who ordered it: a user or a key. */
  user_id: number | null;
  api_key_id: number | null;
  /** When a device first got it. */
  offered_at: number | null;
  cancelled_at: number | null;
  cancelled_user_id: number | null;
  cancelled_key_id: number | null;
  /** Its last change, or that of its results; agents read orders by it. */
  changed_at: number;
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

export interface MovementColumns {
  item_id: number;
  /** Null for stock that no batch accounts for. */
  batch_id: number | null;
  /** Below 0 if it was taken. */
  quantity: number;
  reason: MovementReason;
  /** The animal for which it was used. */
  patient_id: number | null;
  /** Null if an import or the agent of a PC moved it. */
  user_id: number | null;
  at: number;
  /** The movement that it takes back. */
  undoes_id: number | null;
}

export interface StudyColumns {
  fp: string;
  /** The clinic whose agent pushed it; null for an imported study. */
  clinic_id: number | null;
  /** Null while the study is unmatched. */
  patient_id: number | null;
  unmatched_reason: Json<Reason> | null;
  /** The patient that the agent named, known or not. */
  claimed_patient_fp: string | null;
  modality: Study["modality"];
  device_name: string;
  status: Study["status"];
  acquired_at: number;
  results: Json<Result[]>;
  /** The analyzer's words on the sample; null without any. */
  comments: Json<string[]> | null;
  revision: number;
  dedupe_key: string | null;
  content_hash: string;
  source: Json<StoredSource> | null;
  patient_hint: Json<PatientHint> | null;
  /** The flags' inputs; null if the agent sent none. */
  snapshot: Json<Snapshot> | null;
  received_at: number;
  /** The agent's revision number, which commands of a user do not raise. Null if no agent sent the study. */
  pushed_revision: number | null;
  cause: StudyCause;
  /** 1 after a user placed, rejected, reopened or typed it. Only a user then moves it to another patient. */
  placed_by_user: number;
  /** Reason of the user who removed it from the list of unmatched studies. */
  rejected_reason: string | null;
}

/** A replaced revision of a study. */
export interface ReplacedStudy extends Study {
  /** `study.claimed_patient_fp`; stored JSON keeps this name. */
  sent_patient_fp: string | null;
  unmatched_reason: StudyColumns["unmatched_reason"];
  dedupe_key: string | null;
  source: StoredSource | null;
  patient_hint: PatientHint | null;
  snapshot: Snapshot | null;
  cause: StudyColumns["cause"];
  cause_reason?: string | null;
  rejected_reason: string | null;
}

/** The origin of a stored study. `matched_by` is how its agent found the animal. */
export type StoredSource = StudySource & { readonly matched_by?: MatchedBy["by"] };

/** Facts of a study for the dashboard's list, as studies.ts derives them from the other columns. */
export interface StudySearchColumns {
  /** 0: no value outside its interval, 1: some, 2: a critical one. */
  severity: number;
  /** JSON list of folded words: sample numbers, and the device's words for the patient. */
  search_words: string | null;
}

/** See studies/study-checksum.ts. Null in a row that an operator's SQL wrote. */
export interface StudyChecksum {
  checksum: number | null;
}

/** Columns that a write of a study may omit: they are null then. A new column starts here. */
export interface OptionalStudyColumns {
  /** The reason that a user gave for this revision. */
  cause_reason: string | null;
  /** The species of the flags, if facts of the patient were corrected after it was flagged; see studies/outdated-flags.ts. */
  flagged_species: string | null;
  /** The order that the study answers, and its number in the software that sent it. Facts of an order never change. */
  order_fp: string | null;
  order_number: string | null;
  /**
   * The state of its device's controls then. Null where the clinic kept no controls of the device yet; see
   * records/quality-marks.
   */
  quality: Json<StudyQuality> | null;
}

export type StudyCause =
  | ("pushed" | "imported" | "assigned" | "undone" | "rejected" | "entered")
  /** A user moved a study from its patient to another one, or made it unmatched. */
  | ("moved" | "taken back")
  /** A user corrected the values of a study that was typed, or removed it. */
  | ("corrected" | "withdrawn")
  /** A user had it flagged again for corrected facts of its patient. */
  | "flagged again"
  /** Its patient was deleted, or came back. */
  | ("patient deleted" | "patient restored")
  /** Its patient was merged into another one. */
  | "merged"
  /** A user attached the order that it answers. */
  | "order attached"
  /** A user placed it with a patient of another species than the device stated. */
  | "assigned despite species";

export interface ConflictColumns {
  study_id: number;
  /** The clinic whose agent sent it. */
  clinic_id: number;
  content_hash: string;
  revision: number;
  reason: Json<Reason>;
  /** The pushed study. */
  body: Json<PushedStudy>;
  received_at: number;
}

export interface ClinicEventColumns {
  clinic_id: number;
  /** The version that the transaction gave the clinic. UNSTAMPED until its end. */
  version: number;
  kind: EventKind;
  fp: string;
  /** `left`: a study or SOAP record that the clinic lost with its patient. */
  change: EventChange | "left";
  at: number;
  /** The revision of a study; null for another record. */
  revision: number | null;
  /** The patient that has the records of a merged one, or the record that amends this one. */
  successor_fp: string | null;
}

export interface DeliveryColumns {
  webhook_id: number;
  type: WebhookEventType;
  /** The record that changed. */
  fp: string;
  state: DeliveryState;
  /** Time of the change, or of the last one that waits with it. */
  changed_at: number;
  attempts: number;
  /** Time of the next attempt. While an attempt is under way, the time from which another server may repeat it. */
  next_at: number;
  /** The request that wrote it, as W3C Trace Context names it; null if none did. */
  traceparent: string | null;
}

export interface DestinationColumns {
  public_id: string;
  clinic_id: number;
  /** The agent that delivers and that named it; null if the server delivers. */
  agent_id: number | null;
  /** The name that a user typed, or the id in agent.yaml. */
  slug: string;
  kind: DestinationKind;
  /** `host:port`, or `tls://host:port`, for the server; null for an agent, which knows it itself. */
  address: string | null;
  options: Json<Partial<DestinationOptions>>;
  paused: number;
  created_at: number;
  /** Removed destinations stay for the proof of their deliveries. */
  removed_at: number | null;
}

export interface DestinationDeliveryColumns {
  destination_id: number;
  study_fp: string;
  /** Position in the queue, which never falls. Equal ones are in the order of their ids. */
  place: number;
  state: DestinationState;
  changed_at: number;
  /** Number of changes of the study that it covers, by which a change during the rendering is seen. */
  changes: number;
  /** Revision of the study in `payload`. */
  revision: number | null;
  /** MSH-10: the same in every attempt. */
  control_id: string | null;
  file_name: string | null;
  /** The bytes in base64, once it was the oldest of its destination. Null again after their time. */
  payload: string | null;
  sha256: string | null;
  /** What the receiver holds once it acknowledged, or for which animal it holds nothing then, as JSON. Null without bytes. */
  held: string | null;
  attempts: number;
  /** Time of the next attempt. While an attempt is under way, the time from which another server may repeat it. */
  next_at: number;
  ended_at: number | null;
}

export interface AuditColumns {
  /** End of the request, or of the first of several requests. */
  at: number;
  request_id: string | null;
  /** The presented key, revoked or expired ones included. Null for an unknown key. */
  api_key_id: number | null;
  method: string | null;
  route: string | null;
  fp: string | null;
  /** Number of items in a list, or of studies in a push. */
  count: number | null;
  /** Null if the client disconnected before the response. */
  status: number | null;
  address: string | null;
  /** Number of requests in this row. Columns in which they differ are null. */
  times: number;
  /** The signed-in user, and the clinic in which the user acted. Null for a request with a key. */
  user_id: number | null;
  clinic_id: number | null;
}

/** Requests of one name in its two windows; see Counters in rate-limit-counters.ts. */
export interface RequestCount {
  name: string;
  short_used: number;
  short_ends_at: number;
  long_used: number;
  long_ends_at: number;
  /** Whether the last request was counted. */
  taken: boolean;
}

export interface PairingCodeColumns {
  clinic_id: number;
  /** The first characters, by which the code is found. */
  selector: string;
  /** HMAC of the complete code. */
  digest: string;
  /** The key of the proofs of the code, encrypted with the pepper. */
  proof_key: string;
  expires_at: number;
  /** The key that it was exchanged for; null for an unused code. */
  api_key_id: number | null;
  /** The user who made it. */
  user_id: number;
}

export interface AgentColumns {
  fp: string;
  clinic_id: number;
  api_key_id: number;
  /** Null for an agent whose key a person made. */
  paired_at: number | null;
}

export interface RolloutColumns {
  clinic_id: number;
  version: string;
  /** The PCs in their order, as JSON (RolloutPc). */
  pcs: string;
  started_at: number;
  stopped_at: number | null;
  /** The user who started it. */
  user_id: number;
}

export interface ControlRunColumns {
  fp: string;
  clinic_id: number;
  dedupe_key: string;
  device_id: string;
  device_name: string;
  serial: string | null;
  measured_at: number;
  received_at: number;
  /** The name by which the clinic answers what it is; see records/controls/naming.ts. */
  sample: string;
  /** Material, level and lot as sent. */
  material: string | null;
  level: string | null;
  lot: string | null;
  expires: string | null;
  /** 0 while level or lot is unknown. Its values have no series then. */
  named: number;
  /** 1 if no value is of an analyte: the device's check of itself, such as the VetScan's with each rotor. */
  own_check: number;
  comment: string | null;
  /** As JSON (QualitySource); null for a typed one. */
  source: string | null;
  /** Name of the user who typed it; null for a sent one. */
  author: string | null;
  user_id: number | null;
}

export interface ControlValueColumns {
  run_id: number;
  series_id: number | null;
  /** Copy of the run's, so that one index holds a series in order. */
  measured_at: number;
  analyte: string;
  /** `device` for a code that the catalogue lacks. */
  code_source: string | null;
  unit: string;
  value: number | null;
  comparator: string | null;
  text: string;
  /** The target that the device printed. */
  printed_mean: number | null;
  printed_sd: number | null;
  printed_low: number | null;
  printed_high: number | null;
  device_flag: string | null;
  excluded_at: number | null;
  excluded_by: string | null;
  excluded_reason: string | null;
}

export interface ControlSeriesKey {
  device_id: string;
  analyte: string;
  unit: string;
  material: string;
  level: string;
  lot: string;
}

export interface DeviceEventColumns {
  fp: string;
  clinic_id: number;
  dedupe_key: string;
  device_id: string;
  device_name: string;
  at: number;
  received_at: number;
  event: DeviceEventKind;
  subject: string | null;
  lot: string | null;
  expires: string | null;
  count: number | null;
  text: string | null;
  /** As JSON (QualitySource); null for a typed one. */
  source: string | null;
  /** Name of the user who typed it; null for a sent one. */
  author: string | null;
  user_id: number | null;
}
