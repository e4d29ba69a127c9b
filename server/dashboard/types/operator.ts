// The operator's console: states and counts of the clinics, never a record of one.

/** The states of a clinic, the one that needs the operator most first. */
export const CLINIC_STATES = [
  ...(["silent", "errors", "waiting", "over quota", "behind", "no PC", "well", "suspended"] as const),
] as const;
export type ClinicState = (typeof CLINIC_STATES)[number];

/** Meters with a soft limit. Beyond it the clinic needs the operator, and nothing is refused. */
export const QUOTA_METERS = ["devices", "api_calls_this_month", "storage_bytes"] as const;
export type QuotaMeter = (typeof QUOTA_METERS)[number];

/** The soft limits of a clinic; null for none. */
export type Quotas = Record<QuotaMeter, number | null>;

/** Returns the meters that are over their limit. */
export function overQuota(used: Readonly<Record<QuotaMeter, number | null>>, quotas: Quotas): QuotaMeter[] {
  return QUOTA_METERS.filter((meter) => quotas[meter] !== null && (used[meter] ?? 0) > quotas[meter]);
}

/** A clinic in the list. */
export interface HostedClinic {
  fp: string;
  name: string;
  state: ClinicState;
  suspended_at: string | null;
  pcs: { total: number; connected: number; behind: number };
  /** The last heartbeat of any PC; null before the first. */
  last_seen_at: string | null;
  /** The oldest version of its PCs; null if none reports one. */
  version: string | null;
  /** When the oldest of what waits on its PCs was made, as they last reported it; null if nothing waits. */
  queue_oldest_at: string | null;
  /** Studies that arrived since midnight UTC. */
  results_today: number;
  /** Studies that it may store; null for the limit of the server. */
  studies_max: number | null;
  /** The meters that are over their soft limit. */
  over_quota: QuotaMeter[];
}

/** Sums of all clinics. */
export interface HostedSums {
  clinics: number;
  /** Clinics by their state. */
  states: Record<ClinicState, number>;
  pcs: number;
  connected: number;
  results_today: number;
  /** The newest release of the agent on this server; null without one. */
  newest_version: string | null;
  /** PCs with an older version than it. */
  behind: number;
  /** Clinics with a roll-out that is not over. */
  updating: number;
  /** The last backup of the server, which has all clinics; null if it knows of none. */
  last_backup: { at: string; bytes: number | null } | null;
  /** When the last try made no backup; null if it made one. */
  backup_failed_at: string | null;
}

/** The clinic of a command on all of them. */
export const ALL_CLINICS = "clinic_all";

/** Characters of each text of a notice. */
export const ANNOUNCEMENT_CHARS_MAX = 300;

/** The notice of the operator for the users of all clinics. */
export interface Announcement {
  english: string;
  turkish: string;
  from: string;
  until: string;
}

/** The response to `GET /operator/v1/clinics`. */
export interface HostedClinics {
  /** The notice that the dashboards show now or later; null without one. */
  announcement: Announcement | null;
  clinics: HostedClinic[];
  page: number;
  page_size: number;
  /** Clinics that the search and the state leave. */
  total: number;
  has_more: boolean;
  sums: HostedSums;
}

/** A PC of a clinic. Its name is the clinic's, so it has none here. */
export interface HostedPc {
  version: string | null;
  is: "never heard" | "running" | "silent";
  last_seen_at: string | null;
  devices: number;
  /** Devices with a fault, or whose messages are not understood. */
  devices_with_faults: number;
  queue: number;
  /** When the oldest of the queue was made; null for an empty queue. */
  queue_oldest_at: string | null;
}

/** The response to `GET /operator/v1/clinics/:clinic`. */
export interface HostedClinicPage {
  clinic: Pick<HostedClinic, "fp" | "name" | "suspended_at" | "studies_max"> & { quotas: Quotas };
  pcs: HostedPc[];
  meters: Meters;
  looks: SupportLook[];
  holdings: ClinicHoldings;
  /** Null unless an erasure began. */
  erasure: ClinicErasure | null;
  /** The oldest backup of the server, which keeps what is erased; null if it knows of none. */
  oldest_backup_at: string | null;
}

/** The use of the server by a clinic, for its bill. */
export interface Meters {
  studies: number;
  studies_this_month: number;
  devices: number;
  api_calls_this_month: number;
  /** Bytes of results and pictures, as measured once a day; null before the first time. */
  storage_bytes: number | null;
}

/** A look of an operator into the clinic. */
export interface SupportLook {
  by: string;
  reason: string;
  begins_at: string;
  ends_at: string;
}

/** A command of an operator on a clinic: a look with its reason, a suspension, an erasure with what it counted. */
export interface OperatorCommand {
  at: string;
  /** Name of the operator, or of the user of the server's machine. */
  by: string;
  command: string;
  /** The number of the clinic, which stays when it is erased, and its name. */
  clinic: string;
  name: string | null;
  count: number | null;
}

/** The response to `GET /operator/v1/audit`, the newest first. */
export interface OperatorAudit {
  commands: OperatorCommand[];
  /** Continues the list as `before`; null at its end. */
  next: number | null;
}

/** The body of `POST /operator/v1/clinics`. */
export interface NewClinicBody {
  name: string;
  /** The name with which its first admin signs in. */
  admin: string;
}

/** The response to it. */
export interface NewClinicAnswer {
  fp: string;
  admin: string;
  /** Shown once. */
  password: string;
}

/** Characters of the reason of a look or an export. */
export const REASON_CHARS = { min: 10, max: 200 } as const;

/** The kinds of rows that the report of an erased clinic counts. `records` are SOAP records. */
export const CLINIC_ERASED_KINDS = [
  ...(["animals", "owners", "studies", "records", "events", "orders", "items", "controls", "users", "keys"] as const),
  "others",
] as const;
export type ClinicErasedKind = (typeof CLINIC_ERASED_KINDS)[number];

/** The response to `POST /operator/v1/clinics/:clinic/erase`: what is erased until now. */
export interface ClinicErasure {
  began_at: string;
  /** Null while something is left. */
  ended_at: string | null;
  counts: Record<ClinicErasedKind, number>;
}

/** The animals, users and keys of a clinic, which a person reads before an erasure. */
export interface ClinicHoldings {
  /** Animals that only this clinic has. */
  animals: number;
  /** Animals that other clinics have too. They stay there. */
  shared_animals: number;
  users: number;
  keys: number;
}

/** The response to `POST /operator/v1/rollout`. */
export interface BegunRollouts {
  clinics: number;
}
