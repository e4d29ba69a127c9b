/**
 * Decides about the next attempt. "transient": the receiver did not take the item; retry. "uncertain": the receiver may have
 * taken it; retry, because it recognizes the fp. "permanent": store the refusal. "unauthorized": retry until a user replaces
 * the key. Only a response that names the item is permanent. A status of HTTP never is, because a proxy or another program may
 * have sent it, error envelope included.
 */
export type FailureKind = "transient" | "uncertain" | "permanent" | "unauthorized";

/** A failure that a user repairs in another way than the others of its kind. */
export type SendFault = "SPEAKS_TLS" | "NO_TLS" | "NOT_JSON" | "TOO_LONG";

export interface ErrorEnvelope {
  readonly code: string;
  readonly message: string;
  /** Permissions, any one of which the key lacks; null without such details. */
  readonly required: readonly string[] | null;
}

interface ErrorResponse {
  readonly fault?: SendFault;
  readonly status?: number;
  readonly retryAfterMs?: number | null;
  readonly envelope?: ErrorEnvelope | null;
  /** The error of the network. */
  readonly cause?: unknown;
}

export class SendError extends Error {
  readonly kind: FailureKind;
  /** Retry-After of the response in ms; null without one. */
  readonly retryAfterMs: number | null;
  /** Status of the HTTP response; null without a response. */
  readonly status: number | null;

  /** The error in the envelope of our server; null for any other failure. */
  readonly envelope: ErrorEnvelope | null;

  /** Null for a failure without a remedy of its own. */
  readonly fault: SendFault | null;

  constructor(kind: FailureKind, message: string, response: ErrorResponse = {}) {
    super(message, { cause: response.cause });
    this.kind = kind;
    this.retryAfterMs = response.retryAfterMs ?? null;
    this.status = response.status ?? null;
    this.envelope = response.envelope ?? null;
    this.fault = response.fault ?? null;
  }
}
