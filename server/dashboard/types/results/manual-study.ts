import type { Flag, Modality, Result, Study } from "../../../../shared/api/study.ts";
import type { Side } from "./results.ts";

// A study that a user types: `/clinic/v1/clinics/:clinic/manual-study`.

/** Device name of a study whose user named none. */
export const MANUAL_DEVICE = "Manual entry";

/** An analyte in the response to `GET manual-study/analytes`. */
export interface TypedAnalyte {
  code: string;
  /** The code that the API prints. */
  api_code: string;
  name: string;
  name_tr: string;
  modality: Modality;
  value_type: "numeric" | "ordinal" | "word";
  /** The clinic's unit first; empty for a grade or a word. */
  units: string[];
}

/** One row as typed. An empty value requests the range alone; it is never stored. */
export interface TypedRow {
  analyte: string;
  value: string;
  unit: string | null;
}

/** The body of `POST manual-study/preview`. */
export interface TypedStudy {
  patient_fp: string;
  modality: Modality;
  acquired_at: string;
  device_name?: string;
  results: TypedRow[];
}

/** The body of `POST manual-study`. A second body with the same `entry_id` is the same study. */
export interface ManualStudyBody extends TypedStudy {
  entry_id: string;
}

/** The body of `POST results/:fp/correct`. `revision` is what the user saw. */
export type CorrectionBody = Omit<TypedStudy, "patient_fp"> & { revision: number };

export type FaultKind =
  | ("unknown analyte" | "unreadable" | "not a number" | "not a grade" | "not a word" | "impossible" | "repeated")
  | ("unit missing" | "unit unknown" | "unit of a word" | "name missing" | "value missing");

/** A fault of a row; `problem` is the sentence of the command line. */
export interface RowFault {
  field: "analyte" | "value" | "unit";
  kind: FaultKind;
  problem: string;
}

/** The range and the flag of a row, as they will be stored. */
export interface PreviewRow {
  reference_range: string | null;
  flag: Flag | null;
  /** Present if the words are not the expected ones. */
  abnormal?: true;
  /** Null for a row without a right value, and for a word. */
  value: number | null;
  /** Place of the value in the picture. The rank of a grade and a value such as `<0.2` have none. */
  number: number | null;
  low: number | null;
  high: number | null;
  side: Side | null;
  /** The owner of the interval that decides. */
  source: "clinic" | "catalogue" | null;
  fault: RowFault | null;
}

/** The response to `POST manual-study/preview`. */
export interface ManualPreview {
  /** One row for each typed one, in their order. */
  rows: PreviewRow[];
  /** Null if the time is right. */
  time_fault: "no time" | "future" | null;
  /** The study as the API will show it, without its fp and its faulty rows. */
  study: Omit<Study, "fp"> & { results: Result[] };
}
