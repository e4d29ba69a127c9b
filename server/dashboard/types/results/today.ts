import type { Language } from "../../../../shared/api/language.ts";
import type { Reason } from "../../../../shared/api/reason.ts";
import type { AlertKind } from "../../../operations/alerts/kinds.ts";
import type { Flag } from "../../../../shared/api/study.ts";
import type { ConnectionNews } from "../connections.ts";
import type { OrderCounts } from "../orders.ts";
import type { FollowedStudy } from "./follow-up.ts";
import type { OutsideValue } from "./results.ts";
import type { HeardReason } from "../devices/heard-reason.ts";

// The work that needs a person today, as `GET /clinic/v1/clinics/:clinic/today` returns it.

/** Hours for which critical values are listed. */
export const CRITICAL_HOURS = 48;

/** Days before the end of an API key from which it is listed. */
export const KEY_END_DAYS = 30;

/** Rows of the newest results. */
export const NEWEST_MAX = 20;

/** The steps of a new clinic before its first result, in this order. */
export const firstSteps = ["animals", "pc", "team", "notifications", "ranges", "limits"] as const;

export type FirstStep = (typeof firstSteps)[number];

/** The step that needs a decision, which may be "none". */
export const DECIDED_STEP: FirstStep = "limits";

/** The response to `GET today`. */
export interface TodayState {
  /** The first steps that are neither done nor skipped, for admins. */
  first_steps: FirstStep[];
  /** Studies without a patient, and the receipt of the oldest. */
  unmatched: { count: number; oldest_at: string | null };
  /** Codes of devices that neither the catalogue nor the clinic knows. */
  unknown_codes: number;
  /** Studies with critical values that no user of the clinic saw, the newest first. */
  critical: CriticalStudy[];
  /** The clinic's abnormal studies that nobody saw for a day, the oldest first. */
  unseen: FollowedStudy[];
  /** Open follow-ups of the user, the oldest first. */
  yours: FollowedStudy[];
  /** Studies that an agent contradicted after a user last saw them. */
  conflicts: ConflictOfStudy[];
  silent: SilentSource[];
  /** Devices whose controls need a person, the failed ones first. */
  controls: ControlNeed[];
  /** Keys that end soon, for admins. */
  keys: EndingKey[];
  /** Open alerts, the oldest first. Those of keys and passwords for admins. */
  alerts: AlertShown[];
  /** Other clinics that wait for this one, or see a patient of it since nobody looked. */
  connections: ConnectionNews[];
  orders: OrderCounts;
  newest: NewResult[];
  /** Number of studies that the database has damaged, and that the list therefore leaves out. */
  left_out: number;
}

/** Counts of the work that waits for a person, for the entries of the menu. */
export interface MenuCounts {
  /** Studies without a patient. */
  to_place: number;
  /** Orders that nobody ran within the clinic's hours. */
  not_run: number;
  /** Silent agents, and devices that need a person. */
  devices: number;
}

/** The response to `GET menu`, which the frame of each page reads each minute. */
export interface MenuNews extends MenuCounts {
  /** The notice of the server's operator to all clinics; null without one. */
  notice: Notice | null;
}

/** A notice in both languages. A user closes it by its id. */
export interface Notice extends Record<Language, string> {
  id: string;
}

/** An open alert. Its words are those of server/operations/alerts/texts.ts. */
export interface AlertShown extends Omit<HeardReason, "reason"> {
  key: string;
  kind: AlertKind;
  subject: string;
  since: string;
  count: number;
  /** Our own sentence about the cause. */
  reason: string | null;
  /** Page of the dashboard, instead of the kind's. */
  path: string | null;
}

/** A study in the lists of this screen. */
export interface NewResult {
  fp: string;
  revision: number;
  /** Null while the study is unmatched. */
  patient: { fp: string; name: string; species: string } | null;
  /** The name or identifier that the device sent for an unmatched study. */
  said: string | null;
  device_name: string;
  modality: string;
  acquired_at: string;
  received_at: string;
  /** Null if no result has a flag. */
  worst_flag: Flag | null;
  /** Present if a word is not the expected one, such as Positive of a test for an infection. */
  abnormal?: true;
  /** The values outside their intervals and the abnormal words, critical ones first, and the number of all of them. */
  outside: OutsideValue[];
  outside_total: number;
}

export interface CriticalStudy extends NewResult {
  /** The values in the reader's units. */
  values: CriticalValue[];
}

export interface CriticalValue {
  analyte: string;
  /** The value with its comparator. */
  value: string;
  unit: string | null;
  reference_range: string | null;
}

export interface ConflictOfStudy {
  fp: string;
  /** Null if the clinic may not open the study. */
  study: NewResult | null;
  reason: Reason;
  at: string;
}

/** An agent without a heartbeat, or a device that is faulty or silent beyond its rhythm. */
export interface SilentSource extends Omit<HeardReason, "reason"> {
  kind: "agent" | "device";
  name: string;
  /** The reason that the agent reports of the device; null for an agent. */
  reason: string | null;
  /** Last sign of life; null if there was none. */
  last_at: string | null;
}

/**
 * A device whose controls need a person. `failed`: a control failed and none passed since, or nobody explained it. `due`: its schedule
 * asks for one. `never`: it has a schedule or limits, and no control yet.
 */
export interface ControlNeed {
  is: "failed" | "due" | "never";
  device_id: string;
  name: string;
  /** The analytes of failed controls by their codes. */
  analytes: string[];
  /** Whether a person explained each failed one: then a passing control is missing. */
  is_explained: boolean;
  /** When the first one failed, or since when one is due; null for a device without controls. */
  since: string | null;
}

export interface EndingKey {
  id: string;
  name: string;
  expires_at: string;
}
