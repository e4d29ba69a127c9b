import type { Language } from "../../../../shared/api/language.ts";
import type { OwnInterval } from "../../../../shared/clinical/compare/own-interval.ts";

// Proposals of a clinic's own intervals from its healthy animals, as the settings show them.

/** Animals that an interval may be for. Birds, reptiles and exotic animals differ too much to be one group. */
export const OWN_ANIMALS = [
  ...(["dog", "cat", "rabbit", "horse", "donkey", "cow", "sheep", "goat", "pig", "alpaca", "llama"] as const),
  ...(["ferret", "guinea_pig", "hamster", "rat", "mouse", "gerbil", "chinchilla", "chicken"] as const),
];
export type OwnAnimal = (typeof OWN_ANIMALS)[number];

/** Which results may take part. */
export interface OwnSubject {
  animal: OwnAnimal;
  /** Code of the catalogue. */
  analyte: string;
  /** Name of the analyzer; null for all. */
  device: string | null;
  /** Age at the sample in days, both ends included; null for any. */
  age_from: number | null;
  age_to: number | null;
  /** Days (UTC) of the first and the last sample: `2026-01-01`. */
  from: string;
  to: string;
}

/** An animal with its first sample in the time. */
export interface OwnCandidate {
  study_fp: string;
  name: string;
  breed: string | null;
  /** Null for an unknown date of birth. */
  age_days: number | null;
  acquired_at: string;
  device_name: string;
  /** The value in the unit of all candidates. */
  value: number;
  /** Other analytes of the study that are outside their intervals. */
  flagged: string[];
}

/** The interval that applies to such animals now, in the unit of the values. */
export interface IntervalNow {
  low: number;
  high: number;
  /** A published source in its own words; null for the clinic's own row. */
  source: string | null;
}

/** The reader's unit for values in another one. A value is first printed in its own unit, as an accepted interval stores it. */
export interface ShownUnit {
  /** The unit as people write it. */
  unit: string;
  /** Converts from the unit of the values to this one. */
  factor: number;
  decimals: number;
}

/** The response to `GET .../ranges/own/candidates`. */
export interface OwnCandidates {
  /** Null without any candidate. */
  unit: string | null;
  /** Digits after the point with which the values are printed. */
  decimals: number;
  /** The last sample first. */
  animals: OwnCandidate[];
  /**
   * Animals that take no part: every value is a bound such as `<0.2`, or doubted by the device; the unit has no factor; or the date of
   * birth is unknown and an age is asked for.
   */
  left: { bound: number; doubted: number; unit: number; age: number };
  /** The analyzers that measured the analyte in such animals. */
  devices: string[];
  /** Time from which studies were searched, if there are too many for all; null if all were. */
  searched_from: string | null;
  now: IntervalNow | null;
}

/** The candidates with the reader's unit; null if they are in it already. */
export interface CandidatesShown extends OwnCandidates {
  shown: ShownUnit | null;
}

/** The body of `POST .../ranges/own`: the studies of the animals that a vet calls healthy. */
export interface ProposalBody extends OwnSubject {
  studies: string[];
  /** Those among them that take no part, which the user leaves out under their name. */
  left_out: string[];
}

export interface LeftOut {
  study_fp: string;
  acquired_at: string;
  value: number;
  /** Name of the user. */
  by: string;
}

export type FoundInterval = Extract<OwnInterval, { state: "interval" }>;

/** The stored content of a proposal. */
export interface ProposalContent {
  subject: OwnSubject;
  unit: string;
  decimals: number;
  /** Values that take part. An outlier's index is its place here. */
  values: { study_fp: string; value: number }[];
  left_out: LeftOut[];
  interval: FoundInterval;
  /** The interval that applied when it was made. */
  now: IntervalNow | null;
}

/** A line of the response to `GET .../ranges/own`. */
export interface ListedProposal {
  id: string;
  subject: OwnSubject;
  unit: string;
  decimals: number;
  interval: FoundInterval;
  /** The reader's unit; null if the values are in it already. */
  shown: ShownUnit | null;
  made_by: string;
  made_at: string;
  /** Null while nobody decided. */
  decision: { accepted: boolean; by: string; at: string; row_id: string | null } | null;
}

/** The response to `GET .../ranges/own`, the newest first. */
export interface Proposals {
  proposals: ListedProposal[];
}

/** The response to `GET .../ranges/own/{id}`. */
export interface ProposalShown extends ListedProposal, Pick<ProposalContent, "values" | "left_out" | "now"> {}

/** The body of `POST .../ranges/own/{id}/decide`. */
export interface DecisionBody {
  accepted: boolean;
  /** Name of the vet who decides. */
  by: string;
  /** Language of the remark that the accepted row gets. */
  language: Language;
}
