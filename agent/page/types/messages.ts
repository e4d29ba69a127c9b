import type { QualityRecord } from "../../../shared/api/quality.ts";
import type { Reason } from "../../../shared/api/reason.ts";
import type { Result } from "../../../shared/api/study.ts";

// The messages of the agent's page: `/local/v1/messages` and what a message leads to.

/** A page of the list, the newest first. */
export interface LocalMessages {
  readonly messages: readonly LocalMessageRow[];
  /** `before` of the next page; null after the oldest message. */
  readonly next: number | null;
  /** Ids of the configured devices. */
  readonly devices: readonly string[];
}

export interface LocalMessageRow {
  readonly id: string;
  readonly device: string;
  readonly received_at: string;
  /** pending, filed, unmatched, not-for-patients or quarantined */
  readonly state: string;
  readonly reason: string | null;
  /** A MessageCode. Absent without one. */
  readonly code?: string;
  readonly sample_ids?: readonly string[];
}

/** A message with what the agent made of it. */
export interface LocalMessage {
  readonly id: string;
  readonly device: string;
  readonly profile: string;
  readonly received_at: string;
  readonly state: string;
  readonly reason: string | null;
  /** A MessageCode. Absent without one. */
  readonly code?: string;
  readonly raw: LocalBytes;
  readonly report: LocalReading;
  /** A document of a watched folder, with the text of its pages; null for other messages. */
  readonly document: { readonly name: string; readonly text: string } | null;
  /** The latest revision of each of its studies. */
  readonly studies: readonly LocalStudy[];
  /** Its control runs and device events. */
  readonly quality: readonly LocalQuality[];
  /** The lines of `agent explain`. */
  readonly time_line: readonly string[];
  readonly is_image: boolean;
}

export interface LocalBytes {
  readonly length: number;
  /** Bytes at the start that `text` and `hex` show. */
  readonly shown: number;
  /** A line for each line of the device, with control characters by name. */
  readonly text: readonly string[];
  /** 16 bytes a line. */
  readonly hex: readonly string[];
}

export interface LocalReading {
  /** Why there is no Report; null with one. */
  readonly reason: string | null;
  readonly reports: readonly LocalReport[];
}

interface LocalReport {
  readonly device_name: string;
  readonly modality: string;
  readonly acquired_at: string;
  readonly identifier: string | null;
  readonly name: string | null;
  readonly species: string | null;
  readonly sample_ids: readonly string[];
  readonly rows: readonly LocalReportRow[];
  /** Codes that the catalogue lacks, values left out, and doubts. */
  readonly notes: readonly string[];
}

interface LocalReportRow {
  readonly code: string;
  readonly device_code: string | null;
  /** The text as printed. */
  readonly text: string;
  readonly unit: string | null;
  readonly device_range: string | null;
  readonly device_flag: string | null;
}

interface LocalStudy {
  readonly fp: string;
  readonly revision: number;
  /** queued, filed, unmatched, conflict or rejected */
  readonly state: string;
  readonly reason: string | null;
  readonly patient_fp: string | null;
  readonly modality: string;
  readonly acquired_at: string;
  readonly results: readonly LocalResult[];
}

interface LocalQuality {
  readonly record: QualityRecord;
  readonly state: "queued" | "stored" | "rejected";
  /** Why the server rejected it; null for other records. */
  readonly reason: Reason | null;
}

/** A result as it is filed, with what its study knows of it. */
export interface LocalResult extends Result {
  /** The catalogue's names; null for a device's own code. */
  readonly name: string | null;
  readonly name_tr: string | null;
  /** The text as printed. */
  readonly text: string;
  /** The bounds of `reference_range`. */
  readonly low: number | null;
  readonly high: number | null;
  /** Why range or flag is missing. */
  readonly reason: Reason | null;
}

/** A recording of a message for a file, with names replaced. */
export interface LocalFixture {
  readonly file_name: string;
  readonly base64: string;
  readonly notes: readonly string[];
}

/** The outcome of a message if it is processed again: old lines with `-`, new ones with `+`. Empty if nothing changes. */
export interface LocalReprocessing {
  readonly diff: readonly string[];
}
