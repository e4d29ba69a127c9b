import type { DeviceEventKind, Quality } from "../../../shared/api/quality.ts";
import type { Rule, RuleChoice, Verdict } from "../../../shared/clinical/control/types.ts";

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
  /** Violations that reject and that nobody has explained. */
  unexplained: number;
  /** Null as long as nobody set one and too few runs make a provisional one. */
  target: Pick<Target, "mean" | "sd"> | null;
}

/** A device that has or should have controls. */
export interface ControlledDevice {
  device_id: string;
  name: string;
  last_at: string | null;
  state: Quality;
  /** Null: the clinic has set no schedule. `due_at`: null as long as none is due. */
  schedule: { every_days: number; due_at: string } | null;
  series: ShownSeries[];
}

/** Runs of a sample whose level or lot nobody named yet. The clinic answers once. */
export interface ControlQuestion {
  device_id: string;
  device_name: string;
  /** What the device calls the sample. */
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
  id: string;
  at: string;
  /** As printed. */
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

/** What broke a rule, and what a person wrote about it. */
export interface ShownViolation {
  id: string;
  at: string;
  rule: Rule;
  verdict: Verdict;
  side: "high" | "low" | "both";
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
  /** Proposed from the first 20 runs; null before. `outliers` are points to look at, which nobody left out. */
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
  device_id: string;
  measured_at: string;
  material: string | null;
  level: string;
  lot: string;
  expires: string | null;
  results: { analyte: string; text: string; unit: string | null }[];
  comment: string | null;
}
