import type { ReportQuery } from "./results.ts";

// The facts of a printed report in addition to its study.

export interface ReportContext extends ReportQuery {
  readonly clinicName: string;
  /** The head of the clinic's reports; each is empty until an admin sets it. */
  readonly address: string;
  readonly phone: string;
  /** A data URL of a PNG or JPEG. */
  readonly logo: string | null;
  /** Null for an animal that another clinic lists, and for an owner without a name. */
  readonly owner: { readonly name: string; readonly phone: string | null } | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}
