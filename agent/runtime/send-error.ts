/**
 * transient: try again; uncertain: it may have been taken, try again because the server knows the fp; permanent: keep and show.
 * Only an answer in our server's error envelope is permanent: a proxy's error page says nothing of the study.
 */
export type FailureKind = "transient" | "uncertain" | "permanent" | "unauthorized";

export class SendError extends Error {
  readonly kind: FailureKind;
  /** The server's Retry-After in milliseconds. */
  readonly retryAfterMs: number | null;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;

  constructor(kind: FailureKind, message: string, answer: { status?: number; retryAfterMs?: number | null } = {}) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = answer.retryAfterMs ?? null;
    this.status = answer.status ?? null;
  }
}
