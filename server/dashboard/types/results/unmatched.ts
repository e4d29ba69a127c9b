import type { Reason } from "../../../../shared/api/reason.ts";
import type { Flag, PatientHint, Study } from "../../../../shared/api/study.ts";
import type { CandidateSign, ContradictedFact } from "../../../../shared/clinical/candidates.ts";
import type { ResultBefore, Side } from "./results.ts";

// Unmatched studies, and the commands of users on them, between the server and the screen "To place".

/** Max studies in the list of the page. Its counts include the others. */
export const UNMATCHED_MAX = 200;

/** Max patients of a search that the page shows. */
export const FOUND_MAX = 20;

export type UnmatchedOrder = "oldest" | "newest";

/** A study of the list. All its texts are the device's own. */
export interface UnmatchedRow {
  fp: string;
  modality: Study["modality"];
  device_name: string;
  acquired_at: string;
  received_at: string;
  hint: PatientHint | null;
  rejected_reason: string | null;
}

/** The response to `GET unmatched`. */
export interface UnmatchedList {
  waiting: number;
  rejected: number;
  /** Number of codes without an analyte. */
  unknown_codes: number;
  studies: UnmatchedRow[];
  /** Filed studies whose ranges and flags are for facts of the animal that were corrected since, the oldest first. */
  outdated: OutdatedStudy[];
}

/** Max outdated studies in the response. */
export const OUTDATED_MAX = 20;

export interface OutdatedStudy {
  fp: string;
  patient_name: string;
  patient_species: string;
  flagged_species: string;
  device_name: string;
  acquired_at: string;
}

/** A result as the device printed it. */
export interface DeviceRow {
  analyte: string;
  /** The device's name of a test that the catalogue does not know. */
  label: string | null;
  /** The value with its comparator; it is never localised. */
  value: string;
  unit: string | null;
  device_range: string | null;
  device_flag: string | null;
  /** The device's doubt about the value. */
  comment: string | null;
}

export interface ShownPatient {
  fp: string;
  name: string;
  species: string;
  breed: string | null;
  sex: string | null;
  date_of_birth: string | null;
  weight_kg: number | null;
  /** Present in the response to a search, which also finds patients by their owner. */
  owner_name?: string | null;
}

export interface Candidate {
  patient: ShownPatient;
  signs: CandidateSign[];
  /** The number of the patient that is nearest to the device's; null if none is near. */
  number: string | null;
}

/** A revision of a study, and who made it. */
export interface UnmatchedStep {
  revision: number;
  at: string;
  cause: string | null;
  /** The name is null if the clinic does not see the patient any more. */
  patient: { fp: string; name: string | null } | null;
  rejected_reason: string | null;
  by: string | null;
}

/** The response to `GET unmatched/<fp>`. */
export interface UnmatchedDetails extends UnmatchedRow {
  revision: number;
  device_id: string | null;
  sample_ids: string[];
  /** Why the study has no patient. */
  reason: Reason | null;
  /** Null while the study waits, or is rejected. */
  patient: ShownPatient | null;
  /** Whether a user placed or rejected it, so that it can wait again. */
  can_undo: boolean;
  results: DeviceRow[];
  /** The device's words on the sample. */
  comments: string[];
  candidates: Candidate[];
  history: UnmatchedStep[];
}

/** A result as the API would show it for a patient. */
export interface PreviewRow {
  analyte: string;
  value: string;
  unit: string | null;
  reference_range: string | null;
  /** The printed number; null for a value without a place on a scale. */
  number: number | null;
  low: number | null;
  high: number | null;
  flag: Flag | null;
  /** Present if the words are not the expected ones. */
  abnormal?: true;
  /** Present if they are. */
  expected?: true;
  side: Side | null;
  /** Why there is no range or flag. */
  reason: Reason | null;
  /** The previous result of that patient; absent without one. */
  before?: ResultBefore;
}

/** The response to `GET unmatched/<fp>/preview/<patient>`. */
export interface AssignPreview {
  revision: number;
  patient: ShownPatient;
  /** The species that the device stated, in its own word, if the patient is of another one. */
  contradicted_species: string | null;
  /** Further facts in which the device contradicts the patient. The page asks about them. */
  contradicted: ContradictedFact[];
  results: PreviewRow[];
}

/** The body of `POST unmatched/<fp>/assign`. `revision` is what the user saw. */
export interface AssignBody {
  revision: number;
  patient_fp: string;
  /** The species of the patient as the user typed it. Needed if the device stated another one. */
  typed_species?: string;
  /** The facts of the patient that the user has checked. Needed for those that the device contradicts. */
  checked?: ContradictedFact[];
}

export interface RejectBody {
  revision: number;
  reason: string;
}

export interface ReopenBody {
  revision: number;
}

/** The body of `POST results/:fp/withdraw`. */
export interface WithdrawBody extends ReopenBody {
  reason: string;
}

/** The response to a command: the revision that it made, for its undo. */
export interface NewRevision {
  revision: number;
}
