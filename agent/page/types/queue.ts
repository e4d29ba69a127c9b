// The records that wait at the agent: `/local/v1/outbox`, `/local/v1/codes` and `/local/v1/log`.

export interface LocalOutbox {
  readonly depth: number;
  readonly server: { readonly url: string; readonly state: string; readonly reason: string | null };
  /** Control runs and device events that wait. No study waits for them. */
  readonly quality: number;
  /** The oldest first. */
  readonly studies: readonly LocalQueuedStudy[];
}

export interface LocalQueuedStudy {
  readonly fp: string;
  readonly revision: number;
  readonly modality: string;
  readonly device: string;
  readonly message: string;
  readonly created_at: string;
  readonly send_attempts: number;
}

export interface LocalCode {
  readonly device: string;
  readonly code: string;
  /** The device's name of the test. */
  readonly label: string | null;
  readonly count: number;
  readonly last_value: string | null;
  readonly last_unit: string | null;
  /** The analyte of agent.yaml or of the dashboard. */
  readonly mapped_to: string | null;
  readonly suggestions: readonly string[];
}

export interface LocalCodes {
  readonly codes: readonly LocalCode[];
  /** The mark of the configuration that a mapping changes. */
  readonly mark: string;
}

/** A line of the log, the newest last. */
export interface LocalLogLine {
  readonly time: string;
  readonly level: "error" | "warning" | "information";
  readonly message: string;
  /** The other fields as `name value`. */
  readonly fields: readonly string[];
}
