/**
 * Decides about the next attempt. "transient": the receiver did not take the item; retry. "uncertain": the receiver may have
 * taken it; retry, because it recognizes the fp. "permanent": store the refusal. "unauthorized": retry until a user replaces
 * the key. Only an error envelope of our own server is permanent, because the error page of a proxy says nothing about a study.
 */
export type FailureKind = "transient" | "uncertain" | "permanent" | "unauthorized";

export class SendError extends Error {
  readonly kind: FailureKind;
  /** Retry-After of the response in ms; null without one. */
  readonly retryAfterMs: number | null;
  /** Status of the HTTP response; null without a response. */
  readonly status: number | null;

  constructor(kind: FailureKind, message: string, response: { status?: number; retryAfterMs?: number | null } = {}) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = response.retryAfterMs ?? null;
    this.status = response.status ?? null;
  }
}
