/**
 * Decides about the next attempt. "transient": the receiver did not take the item; retry. "uncertain": the receiver may have
 * taken it; retry, because it recognizes the fp. "permanent": store the refusal. "unauthorized": retry until a user replaces
 * the key. Only an error envelope of our own server is permanent, because the error page of a proxy says nothing about a study.
 */
export type FailureKind = "transient" | "uncertain" | "permanent" | "unauthorized";

export interface ErrorEnvelope {
  readonly code: string;
  readonly message: string;
}

interface ErrorResponse {
  readonly status?: number;
  readonly retryAfterMs?: number | null;
  readonly envelope?: ErrorEnvelope | null;
}

export class SendError extends Error {
  readonly kind: FailureKind;
  /** Retry-After of the response in ms; null without one. */
  readonly retryAfterMs: number | null;
  /** Status of the HTTP response; null without a response. */
  readonly status: number | null;

  /** The error in the envelope of our server; null for any other failure. */
  readonly envelope: ErrorEnvelope | null;

  constructor(kind: FailureKind, message: string, response: ErrorResponse = {}) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = response.retryAfterMs ?? null;
    this.status = response.status ?? null;
    this.envelope = response.envelope ?? null;
  }
}
