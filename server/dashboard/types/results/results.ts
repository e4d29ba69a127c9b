import type { Reason } from "../../../../shared/api/reason.ts";
import type {
  CodeSource,
  Flag,
  FlaggedPatient,
  MatchedBy,
  Modality,
  NotReported,
  PatientHint,
  StudyOrder,
} from "../../../../shared/api/study.ts";
import type { DeliveryOutcome } from "../settings/destinations.ts";
import type { Language } from "../../../../shared/api/language.ts";
import type { ResultChange } from "../../../../shared/clinical/compare/compare.ts";
import type { StudyQuality } from "../../../../shared/clinical/control/study-quality.ts";
import type { SentValue } from "../../../../shared/clinical/units/value-text.ts";

// The screens of the results: the list, and one study.

/** Max rows of one response. */
export const ROWS_MAX = 500;

/** Filters of the list, as the query of the page and of `GET .../results` has them. An absent one lists all. */
export interface ResultFilters {
  patient?: string;
  device?: string;
  modality?: string;
  /** `outside` lists studies with a value below or above its interval or an abnormal word, critical ones included. */
  flag?: "critical" | "outside";
  /** Open follow-ups: the user's own, or all. */
  follow?: "mine" | "open";
  /** First and last day in the clinic's time zone, such as 2026-11-21. */
  from?: string;
  to?: string;
  /** Start of a patient's name, of a word of it, of an identifier, or of a sample's number. */
  q?: string;
}

/** The side of the interval on which a value lies. */
export type Side = "low" | "high";

/** A value outside its interval, or an abnormal word, in the list. */
export interface OutsideValue {
  analyte: string;
  /** The value with its comparator, in the reader's unit. */
  text: string;
  /** Null for an abnormal word. */
  flag: Flag | null;
  side: Side | null;
}

export interface ListedStudy {
  fp: string;
  acquired_at: string;
  received_at: string;
  modality: Modality;
  device_name: string;
  revision: number;
  /** Null while the study is unmatched. */
  patient: { fp: string; name: string; species: string } | null;
  /** The device's name of the patient of an unmatched study. */
  hint_name: string | null;
  sample_ids: string[];
  results: number;
  /** The first values outside their intervals and abnormal words, critical ones first. */
  outside: OutsideValue[];
  /** Number of values outside their intervals and of abnormal words. */
  outside_total: number;
  /** Present if a control failed before or after the measurement, and nobody has released the study. */
  control_failed?: true;
}

/** The response to `GET .../results`. */
export interface ResultsPage {
  items: ListedStudy[];
  /** Give it as `after` for the next page; null on the last one. */
  next: string | null;
  /** True if the search fits more patients than the list considers. */
  is_search_cut: boolean;
  /** The patient of the filter, if the clinic may see it. */
  patient: { fp: string; name: string } | null;
  /** Number of studies that the database has damaged, and that the list therefore leaves out. */
  left_out: number;
}

/** The response to `GET .../results-devices`: names of the devices with a visible study. */
export interface DeviceNames {
  items: string[];
}

/** The interval of a range. */
export interface IntervalSource {
  kind: "clinic" | "device" | "published" | "unknown";
  /** Id of the row in its set. */
  id: string;
  /** The table of a published row. */
  title: string | null;
  /** The row as its set has it, if the printed range differs: in another unit, or with other digits. */
  text: string | null;
  /** The origin of the row that its set names. */
  passport?: Passport;
}

/** How the numbers of an interval came about. */
export interface Passport {
  /** The source that the clinic named for its own row. */
  source?: string;
  /** Number of animals. */
  n?: number;
  method?: string;
  grade?: "A" | "B" | "C" | "D";
  made?: "reference_interval" | "published_range" | "observed_range" | "decision_limit" | "device_default";
  /** The day from which the clinic's row is in force, and who accepted it. */
  in_force_from?: string;
  accepted_by?: string;
  note?: string;
}

/** A critical limit, who of the clinic accepted it and when. `text` is its bound with the unit, such as `< 25 10*9/L`. */
export interface DecidingLimit {
  text: string;
  source: string;
  by: string;
  at: string;
}

/** One result on the page of a study. */
export interface StudyRow {
  analyte: string;
  /** Name of the catalogue, or the device's name of its own code. */
  name: string | null;
  /** Turkish name of the catalogue; null for the device's own code. */
  name_tr: string | null;
  /** The value with its comparator in the reader's unit, like the interval and its bounds. */
  value: string;
  /** The value as the device printed it, if that differs from the value that was sent. */
  printed: string | null;
  /** The value as a number, for the range bar. */
  number: number | null;
  /** The unit as people write it. */
  unit: string | null;
  sent: SentValue;
  reference_range: string | null;
  low: number | null;
  high: number | null;
  flag: Flag | null;
  /** The side of a value outside its interval; `critical` has no direction of its own. */
  side: Side | null;
  /** Present if the words are not the expected ones. */
  abnormal?: true;
  /** Present if they are; without an interval nothing else says so. */
  expected?: true;
  device_range: string | null;
  device_species: string | null;
  device_flag: string | null;
  source: IntervalSource | null;
  /** WhyCodes of why this interval applies; empty without an interval, and for a row that this server does not know. */
  why: Reason[];
  /** The accepted critical limit that decided the flag. */
  limit?: DecidingLimit;
  /** Why there is no range or no flag. */
  reason: Reason | null;
  comment: string | null;
  /** Null for a code of the catalogue. */
  code_source: CodeSource | null;
  device_code: string | null;
  /** Time of the measurement, if the results of several messages are in one study. */
  measured_at: string | null;
  /** The previous result of the analyte; absent without one. */
  before?: ResultBefore;
}

/** An earlier result of the same animal beside the new one. */
export interface ResultBefore {
  /** The study of the earlier result, and its device. */
  fp: string;
  device_name: string;
  acquired_at: string;
  /** The other name of the substance, if the earlier result has it: UREA before BUN. */
  analyte?: string;
  /** The value in the reader's unit, with its comparator. */
  value: string;
  /** The unit as people write it. */
  unit: string | null;
  sent: SentValue;
  /** The value in the unit of the new one, for the range bar; null if the two do not compare. */
  number: number | null;
  /** Null for a value in words, and for a code that the catalogue lacks. */
  change: ResultChange | null;
  /** Present if a control failed before or after its measurement. */
  control_failed?: true;
}

/** A change that a revision made in one row. `before` is null for an added row, `after` for a removed one. */
export interface RowChange {
  analyte: string;
  before: ChangedRow | null;
  after: ChangedRow | null;
}

/** A row of a revision. `comment` is the device's doubt as it is stored. */
export interface ChangedRow {
  /** Value, unit and interval. */
  text: string;
  flag: Flag | null;
  comment: string | null;
}

export type RevisionCause =
  | ("pushed" | "imported" | "assigned" | "undone" | "rejected" | "entered")
  | ("moved" | "taken back" | "flagged again" | "patient deleted" | "patient restored" | "merged")
  | ("assigned despite species" | "order attached" | "corrected" | "withdrawn");

export interface Revision {
  revision: number;
  at: string;
  cause: RevisionCause;
  /** The user, or the device that sent it. */
  by: string | null;
  place: Place;
  /** The reason that the user gave. */
  reason: string | null;
  changes: RowChange[];
}

/** The place of a revision. A patient of other clinics has no name here. */
export type Place =
  | { kind: "patient"; fp: string; name: string }
  | { kind: "patient of others" }
  | { kind: "unmatched"; reason: Reason | null }
  /** The reason that the user gave. */
  | { kind: "rejected"; reason: string | null };

/** A pushed study that contradicts this one. It is kept and never filed. */
export interface StudyConflict {
  at: string;
  revision: number;
  reason: Reason;
  changes: RowChange[];
}

export type MatchRule = MatchedBy["by"];

/** An event on the time line, the earliest first. */
export type TimeLineEvent =
  | { at: string; kind: "sample"; device: string; samples: string[] }
  /** The agent had the bytes on its disk, and acknowledged them. */
  | { at: string; kind: "received"; revision: number; device: string; message: string; bytes: number; sha256: string }
  /** `rule`: how the agent found the animal; null for a person and a study without one. `sha256`: of the study as JSON. */
  | {
      at: string;
      kind: "revision";
      revision: number;
      cause: RevisionCause;
      by: string | null;
      place: Place;
      rule: MatchRule | null;
      sha256: string;
    }
  | { at: string; kind: "conflict"; revision: number; reason: Reason }
  | { at: string; kind: "command"; command: string; by: string }
  /** An attempt to send an event of a webhook. Without an end it is under way, or the server stopped then. */
  | {
      at: string;
      kind: "delivery";
      to: string;
      event: string;
      attempt: number;
      ended_at: string | null;
      status: number | null;
      reason: string | null;
    }
  /** An attempt to hand a revision to practice software (`message`: MSH-10) or a folder. `code`: MSA-1, or why it failed. */
  | {
      at: string;
      kind: "handed";
      to: string;
      revision: number | null;
      message: string | null;
      sha256: string | null;
      attempt: number;
      ended_at: string | null;
      outcome: DeliveryOutcome | null;
      code: string | null;
    }
  /** A link to the owner's report was opened. `by` made it. */
  | { at: string; kind: "opened"; by: string; times: number; last_at: string }
  /** Reads by one key or one user. `at` is the first of them. */
  | { at: string; kind: "read"; by: string; is_key: boolean; times: number; last_at: string };

/**
 * A part of the way that nothing shows: the agent did not report the bytes, a revision is not stored, the agent's clock was ahead,
 * an attempt has no end.
 */
export type TrailGap =
  | { code: "NO_RECEIPT" | "REVISION_MISSING" | "CLOCKS_DISAGREE"; revision: number }
  | { code: "NO_END"; attempt: number };

/** The response to `GET .../results/:fp`. */
export interface StudyPage {
  fp: string;
  place: Place;
  patient: {
    fp: string;
    name: string;
    species: string;
    breed: string | null;
    sex: string | null;
    date_of_birth: string | null;
  } | null;
  /** The device's description of the patient; null for a study of another clinic. */
  hint: PatientHint | null;
  modality: Modality;
  device_name: string;
  /** Ids of the device and the message; null for a study of another clinic, an imported or an entered one. */
  source: { device_id: string; message_id: string } | null;
  sample_ids: string[];
  /** Of a study of images, for the archive's viewer; null without one. */
  study_instance_uid: string | null;
  acquired_at: string;
  received_at: string;
  revision: number;
  cause: RevisionCause;
  rows: StudyRow[];
  /** The analyzer's words on the sample. */
  comments: string[];
  /** Results that the device sent without a value. */
  not_reported: NotReported[];
  notes: string[];
  /** The remark for the owner; null without one. */
  remark: StudyRemark | null;
  /** The order that it answers; null without one. */
  order: StudyOrder | null;
  /** The facts of its patient that the flags were made for, if they were corrected since. */
  flagged_for: FlaggedPatient | null;
  /** The state of its device's controls then; null where the clinic kept none. */
  quality: StudyQuality | null;
  /** The commands that a user of the clinic may give: move it to another patient or none, undo that, have it flagged again, release it. */
  can: { move: boolean; undo: boolean; flag: boolean; release: boolean };
  /** Whether a user of the clinic typed it, so that a user may correct or remove it. */
  is_typed: boolean;
  /** Versions of the interval sets at the time of the flags; null if the sender sent none. */
  sets: { catalogue: string; clinic: string | null } | null;
  /** All revisions, the newest first. */
  revisions: Revision[];
  conflicts: StudyConflict[];
  time_line: TimeLineEvent[];
  gaps: TrailGap[];
}

/** The body of `POST .../results/:fp/move`. `revision` is what the user saw; no patient makes it unmatched. */
export interface MoveBody {
  revision: number;
  patient_fp: string | null;
  reason: string;
  /** The species of the patient as the user typed it. Needed if the device stated another one. */
  typed_species?: string;
}

/** The body of `POST .../results/:fp/release`: results around a failed control may be used, and why. */
export interface ReleaseBody {
  reason: string;
  /** `markText` of the failures that the user saw. */
  seen: string[];
}

/** The remark of a vet for the owner, in the report. */
export interface StudyRemark {
  text: string;
  by: string;
  at: string;
}

/** Max characters of a remark. With a panel of 30 rows the report still has one page. */
export const REMARK_CHARS_MAX = 600;

/** The body of `PUT .../results/:fp/remark`. An empty text removes it. */
export interface RemarkBody {
  text: string;
  /** `at` of the remark that the user saw; null without one. */
  seen: string | null;
}

export interface ReportQuery {
  language: Language;
  /** IANA name of the time zone of its times. */
  zone: string;
}
