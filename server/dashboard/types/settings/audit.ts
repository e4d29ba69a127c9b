// The audit of a clinic, as the settings show it.

/** A request, or several equal ones. */
export interface AuditEntry {
  at: string;
  /** Name of the user who was signed in. */
  user: string | null;
  /** Id of the key; null for a request of a user. */
  key: string | null;
  method: string | null;
  route: string | null;
  /** The record. */
  fp: string | null;
  /** Number of records in a list. */
  count: number | null;
  /** Null if the client left before the response. */
  status: number | null;
  address: string | null;
  times: number;
}

/** The response to `GET .../audit`, the newest first. */
export interface AuditAnswer {
  entries: AuditEntry[];
  /** Continues with older entries as `before`; null at the end. */
  next: number | null;
}

/** The query parameters of `GET .../audit` and `GET .../audit.csv` that select entries. */
export const auditFilters = ["since", "until", "user", "key", "text", "fp"] as const;
