import type { Language } from "../../../../shared/api/language.ts";
import type { UnitChoice } from "../../../../shared/clinical/units/unit-choice.ts";

/** The body of `PUT .../settings/clinic`. An absent field stays as it is. */
export interface ClinicSettings {
  /** Null leaves the choice to each browser. */
  language?: Language | null;
  /** IANA name. Null leaves the choice to each browser. */
  time_zone?: string | null;
  /** Whether connections of other clinics to its patients wait for its confirmation. */
  confirms_connections?: boolean;
  /** Hours without results after which an order counts as not run. */
  not_run_hours?: number;
  /** Address of a study in the archive's viewer. Null for none. */
  viewer_template?: string | null;
  /** The units in which results are read. */
  units?: UnitChoice;
}

/** The hours that a clinic may choose. */
export const NOT_RUN_HOURS = { min: 1, max: 72, usual: 2 } as const;

/** Months for which a clinic keeps each of these; null for the usual time. A field that is absent in `PUT .../settings/retention` stays. */
export interface RetentionPolicy {
  /** Ended links to reports; usually for ever. */
  report_links: number | null;
  /** The owner's name as devices sent it, in results that wait or are rejected; usually for ever. */
  hints: number | null;
}

export const USUAL_RETENTION: RetentionPolicy = { report_links: null, hints: null };

/** Months that a clinic may choose. */
export const RETENTION_MONTHS = { min: 1, max: 120 } as const;
