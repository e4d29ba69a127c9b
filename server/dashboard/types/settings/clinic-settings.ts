import type { Language } from "../../../../shared/api/language.ts";

/** The body of `PUT .../settings/clinic`. Null leaves the choice to each browser. */
export interface ClinicSettings {
  language: Language | null;
  /** IANA name. */
  time_zone: string | null;
  /** Whether connections of other clinics to its patients wait for its confirmation. Absent, it stays as it is. */
  confirms_connections?: boolean;
}
