// The findings of the doctor: `/local/v1/doctor` and `agent doctor --json`.

/** `warning`: results still arrive, or a device may be switched off. `problem`: a person has to act. */
export type FindingStatus = "ok" | "warning" | "problem" | "skipped";

export interface Finding {
  /** The check and the finding, such as `server.refused`. */
  readonly id: string;
  readonly status: FindingStatus;
  /** A sentence without its remedy. */
  readonly sentence: string;
  /** The remedy, in words. Null for a finding that needs nothing. */
  readonly remedy: string | null;
  /** Takes the place of a sentence that quotes a user or a device, in the file for the support. */
  readonly forSupport?: string;
}

/** A finding with the title of its check. */
export interface TitledFinding extends Finding {
  readonly check: string;
}

/** The response of `/local/v1/doctor`. */
export interface DoctorBody {
  readonly findings: readonly TitledFinding[];
}
