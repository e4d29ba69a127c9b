import type { DeviceEventKind } from "../../../shared/api/quality.ts";
import type { Quality } from "../../../shared/api/study.ts";
import type { Rule, RuleChoice, Verdict, Violation } from "../../../shared/clinical/control/types.ts";
import type { Change } from "../../../shared/clinical/control/words.ts";

// Quality control, as the pages show and write it. Times are those of the API; days are YYYY-MM-DD of the clinic's time zone.

/** One line of values that belong together: a device, an analyte in its unit, a level of a lot. */
export interface ShownSeries {
  id: string;
  device_id: string;
  /** Code of the catalogue, or the device's own; its name is made at the page. */
  analyte: string;
  unit: string | null;
  material: string | null;
  level: string;
  lot: string;
  expires: string | null;
  state: Quality;
  /** Since when the state is so. */
  since: string | null;
  runs: number;
  last_at: string | null;
  /** Violations that reject and that nobody has explained, of the last 40 runs. */
  unexplained: number;
  /** Null while none is set and too few runs make a provisional one. */
  target: Pick<Target, "mean" | "sd"> | null;
}

/** A device that has or should have controls. */
export interface ControlledDevice {
  device_id: string;
  name: string;
  last_at: string | null;
  state: Quality;
  /** Null: the clinic has set no schedule. `due_at`: when the next control is due; a time in the past is overdue. */
  schedule: { every_days: number; due_at: string } | null;
  series: ShownSeries[];
}

/** Runs of a sample whose level or lot is unknown. The clinic answers once. */
export interface ControlQuestion {
  device_id: string;
  device_name: string;
  /** The name that the device gives the sample. */
  sample: string;
  material: string | null;
  level: string | null;
  lot: string | null;
  runs: number;
  last_at: string;
}

/** The response to `GET quality`. */
export interface QualityBody {
  devices: ControlledDevice[];
  /** The ids of the devices that were taken out of use. Their controls stay. */
  out_of_use: string[];
  questions: ControlQuestion[];
}

/** `sheet`: mean and SD of the insert. `own`: of the first runs, accepted by a person. `provisional`: of the first runs, not accepted. */
export interface Target {
  mean: number;
  sd: number;
  basis: "sheet" | "device" | "own" | "provisional";
  /** Runs that an own target was computed from. */
  runs: number | null;
  by: string | null;
  at: string;
}

export interface ShownPoint {
  /** Names it in `quality/values/{id}/exclusion`. */
  id: string;
  at: string;
  /** The text as printed. */
  text: string;
  value: number | null;
  z: number | null;
  verdict: Verdict | null;
  rules: Rule[];
  typed_by: string | null;
  comment: string | null;
  /** A person called it a handling mistake: it stays drawn and counts for nothing. */
  excluded: { by: string; at: string; reason: string } | null;
}

/** A broken rule, with the explanation that a person wrote. */
export interface ShownViolation {
  id: string;
  at: string;
  rule: Rule;
  scope: Violation["scope"];
  verdict: Violation["verdict"];
  side: Violation["side"];
  /** The change of the device or the lot since which the values lie on this side; null without one. */
  change: Change | null;
  /** Values of the points, the last one last. */
  points: string[];
  /** Studies of patients between the last good control and the next one. */
  patients: number;
  explained: { by: string; at: string; text: string } | null;
}

export interface ShownDeviceEvent {
  id: string;
  at: string;
  event: DeviceEventKind | "lot";
  subject: string | null;
  lot: string | null;
  expires: string | null;
  text: string | null;
  /** Null for one that the device sent. */
  by: string | null;
}

/** The response to `GET quality/series/{id}`. */
export interface SeriesBody {
  series: ShownSeries;
  target: Target | null;
  /** Mean, SD and CV in percent of the runs that count; null under two. Sigma null without an allowable error or an outside target. */
  statistics: {
    runs: number;
    mean: number;
    sd: number;
    cv: number | null;
    bias: number | null;
    sigma: number | null;
  } | null;
  allowable_error: { percent: number; source: string } | null;
  /** Range that the device printed, which the page may propose with a question for its factor; null without one. */
  printed_range: { low: number; high: number } | null;
  /** Proposed from the first 20 runs; null before. `outliers` are points to look at, which count all the same. */
  proposal: { mean: number; sd: number; runs: number; outliers: string[] } | null;
  points: ShownPoint[];
  /** The same level of the lots before and after, where they overlap in time. */
  neighbours: { id: string; lot: string; points: { at: string; z: number | null }[] }[];
  events: ShownDeviceEvent[];
  violations: ShownViolation[];
  rules: { choice: RuleChoice; by: string | null; at: string | null; why: "default" | "sigma" | "clinic" };
}

/** A control typed by hand. */
export interface TypedControl {
  /** Chosen by the page. A second body with the same id and content is the same control. */
  entry_id: string;
  device_id: string;
  measured_at: string;
  material: string | null;
  level: string;
  lot: string;
  expires: string | null;
  results: { analyte: string; text: string; unit: string | null }[];
  comment: string | null;
}

// The writes, below /clinic/v1/clinics/{clinic}. Each answers `{}` but for those with a type named here, and open pages refresh.
//
//   GET    quality                              QualityBody       reader
//   GET    quality/series/{id}?from=&to=        SeriesBody        reader   days; the last 90 days if absent
//   GET    quality/runs.csv?device=&from=&to=   CSV               reader
//   GET    quality/report.pdf?device=&month=&language=   PDF      reader   month such as 2026-11
//   POST   quality/controls                     TypedControl → MadeRecord   staff
//   POST   quality/answers                      AnswerBody        staff
//   POST   quality/targets                      TargetBody → MadeRecord     admin
//   POST   quality/targets/file                 TargetFileBody → TargetFile admin
//   POST   quality/series/{id}/accept           AcceptBody        admin    the provisional target
//   POST   quality/values/{id}/exclusion        ExclusionBody     staff
//   DELETE quality/values/{id}/exclusion                          staff
//   POST   quality/series/{id}/explanations     ExplanationBody   staff
//   POST   quality/events                       TypedEvent → MadeRecord     staff
//   PUT    quality/rules                        RulesBody         admin
//   PUT    quality/schedule                     ScheduleBody      admin

/** The id of the series, or the fp of the control or event. */
export interface MadeRecord {
  id: string;
}

/** Which material a sample of a device is. It holds for the runs from `from` on until the clinic answers again. */
export interface AnswerBody {
  device_id: string;
  sample: string;
  /** The level of the question, as the device sends it; null if it sends none. */
  sent_level: string | null;
  /** Null for all runs: the first answer. A day of the clinic's time zone for a new lot of the same sample. */
  from: string | null;
  material: string | null;
  level: string;
  lot: string;
  expires: string | null;
}

/** Mean and SD of the sheet, or its range with the number of SDs to each side, which the sheet says and nobody guesses. */
export type TargetValues = { mean: number; sd: number } | { low: number; high: number; factor: 2 | 3 };

/** A target from the sheet. The series need not have runs yet. */
export interface TargetBody {
  device_id: string;
  analyte: string;
  unit: string | null;
  material: string | null;
  level: string;
  lot: string;
  expires: string | null;
  target: TargetValues;
  /** `lot`: for all runs of the lot, as for a first target or a corrected one. `now`: for runs from now on. */
  since: "lot" | "now";
}

/** A table of targets: columns analyte, unit, level, lot, mean, sd or low, high, factor, and expires, material where there are. */
export interface TargetFileBody {
  device_id: string;
  text: string;
  /** True reads the table and stores nothing. */
  preview: boolean;
}

/** A table with faults stores nothing. */
export interface TargetFile {
  targets: {
    line: number;
    analyte: string;
    unit: string | null;
    level: string;
    lot: string;
    mean: number;
    sd: number;
  }[];
  faults: { line: number; column: string | null; code: TargetFault; value: string }[];
  stored: boolean;
}

export type TargetFault =
  | "column_missing"
  | "no_lines"
  | "too_many_lines"
  | "unreadable"
  | "missing"
  | "unknown_analyte"
  | "unknown_unit"
  | "not_a_number"
  | "not_positive"
  | "factor"
  | "bounds"
  | "day"
  | "too_long"
  | "repeated";

/** The proposal of the page: another one meanwhile refuses it. */
export interface AcceptBody {
  mean: number;
  sd: number;
}

export interface ExclusionBody {
  reason: string;
}

export interface ExplanationBody {
  /** `id` of the violation. */
  violation: string;
  text: string;
  /** Time of the explanation that the user saw, null without one: no other one is replaced. */
  seen: string | null;
}

export interface TypedEvent {
  /** See the entry_id of a typed control. */
  entry_id: string;
  device_id: string;
  at: string;
  event: "reagent" | "calibration" | "maintenance";
  subject: string | null;
  lot: string | null;
  expires: string | null;
  text: string | null;
}

export interface RulesBody {
  analyte: string;
  /** Null for the rules that the server chooses. */
  choice: RuleChoice | null;
  /** Time of the clinic's rules that the user saw, null for those of the server: no others are replaced. */
  seen: string | null;
}

export interface ScheduleBody {
  device_id: string;
  /** Null for none. */
  every_days: number | null;
}
