interface Answer {
  readonly status?: number;
  readonly code?: string;
  readonly retryAfterMs?: number | null;
  /** The error of the network. */
  readonly cause?: unknown;
}

/** A request that the store did not carry out, or did wrongly. Each may succeed later, because no content is refused for good. */
export class ObjectError extends Error {
  /** Status of the HTTP response; null without one. */
  readonly status: number | null;
  /** The store's code, such as NoSuchBucket; empty without one. */
  readonly code: string;
  /** Retry-After of the response in ms; null without one. */
  readonly retryAfterMs: number | null;

  constructor(message: string, { status, code = "", retryAfterMs = null, cause }: Answer = {}) {
    super(message, { cause });
    this.status = status ?? null;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  /** The store refused the key, or what it may do. A person has to act. */
  get isDenied(): boolean {
    return this.status === 401 || this.status === 403;
  }
}
