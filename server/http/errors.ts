import type { FastifyError } from "fastify";
import { Type } from "typebox";
import { StoreUnavailable } from "../store/query.ts";

// Every error an integrator can meet, in one table (specification, section 7; api.md, section 3).

interface Kind {
  status: number;
  severity: "error" | "warning";
  message: (subject: string) => string;
  /** What `details` holds, in an error that has some. */
  details?: Type.TObject;
}

const closed = { additionalProperties: false };
const RequestId = Type.Object(
  { request_id: Type.String({ description: "The `X-Request-Id` of this response." }) },
  { ...closed, description: "The failed request." },
);
const ExpectedHeader = Type.Object(
  {
    header: Type.String({ description: "The header in which this endpoint takes its key." }),
    scheme: Type.Optional(Type.String({ description: "The scheme that stands before the key in that header." })),
  },
  { ...closed, description: "The expected header. It is the same whatever is wrong with the key." },
);
const MissingPermission = Type.Object(
  { required: Type.Array(Type.String(), { description: "Permissions, any one of which opens the endpoint." }) },
  { ...closed, description: "The missing permission." },
);
const ParameterFault = Type.Object(
  {
    parameter: Type.String({ description: "Name of the parameter." }),
    value: Type.String({ description: "Its value as received, at most 64 characters." }),
    rule: Type.String({ description: "The expected value, in words." }),
    min: Type.Optional(Type.Integer({ description: "Smallest valid value." })),
    max: Type.Optional(Type.Integer({ description: "Greatest valid value." })),
  },
  { ...closed, description: "The invalid parameter." },
);

const RangeFault = Type.Object(
  { max_days: Type.Integer({ description: "Greatest number of days in a range." }) },
  { ...closed, description: "The limit of a range." },
);

const kinds = {
  "AUTH.UNAUTHORIZED": error(401, () => "Authentication required.", ExpectedHeader),
  "AUTH.FORBIDDEN": error(403, (needed) => `Insufficient permissions. This key needs ${needed}.`, MissingPermission),
  "AUTH.RATE_LIMITED": { status: 429, severity: "warning", message: (wait) => `Too many requests. Wait ${wait}.` },
  "API_KEY.RATE_LIMIT_EXCEEDED": error(429, (wait) => `Rate limit exceeded. Retry after ${wait}.`),
  "PATIENT.NOT_FOUND": error(404, (what) => `${what} does not exist.`, ParameterFault),
  "PATIENT.ACCESS_DENIED": error(403, (what) => `This clinic has no active connection to ${what}.`),
  "CALENDAR.INVALID_RANGE": error(400, (problem) => problem, RangeFault),
  "REQUEST.INVALID_PARAMETER": error(400, (problem) => problem, ParameterFault),
  "REQUEST.INVALID_BODY": error(400, (problem) => problem),
  "REQUEST.MALFORMED": error(400, (problem) => problem),
  "REQUEST.TIMEOUT": error(408, () => "The request did not arrive in time."),
  "REQUEST.TOO_LARGE": error(413, (problem) => problem),
  "REQUEST.URL_TOO_LONG": error(414, () => "The URL is too long."),
  "REQUEST.HEADERS_TOO_LARGE": error(431, () => "The URL and headers are too long."),
  "ROUTE.NOT_FOUND": error(404, (path) => `There is nothing at ${path}.`),
  "ROUTE.METHOD_NOT_ALLOWED": error(405, (method) => `${method} is not allowed here.`),
  "SERVER.INTERNAL": error(500, () => "The server failed. The request id tells us where to look.", RequestId),
  "SERVER.UNAVAILABLE": error(
    503,
    () => "The server cannot answer just now. Try again after the time in Retry-After.",
    RequestId,
  ),
} satisfies Record<string, Kind>;

export type ErrorCode = keyof typeof kinds;

/** An error as it is answered (specification, section 2.1). */
export interface ErrorEnvelope {
  success: false;
  error: { code: ErrorCode; message: string; severity: "error" | "warning"; details?: Record<string, unknown> };
}

/** The schema of an error with this code, for the API document; `description` says when it is returned. */
export function errorSchema(code: ErrorCode, description: string): Type.TObject {
  const { severity, details }: Kind = kinds[code];
  return Type.Object(
    {
      code: Type.Literal(code, { description: "Name of the error, for programs." }),
      message: Type.String({ description: "A sentence for people. Its words may change." }),
      severity: Type.Literal(severity, { description: "Severity of the error. Programs go by `code`." }),
      ...(details && { details: Type.Optional(details) }),
    },
    { ...closed, title: code, description },
  );
}

/** The HTTP status of an error with this code. */
export function statusOf(code: ErrorCode): number {
  return kinds[code].status;
}

interface Extra {
  details?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** What the caller did wrong, or may not have; one handler in app.ts turns it into the envelope. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly #details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, subject = "", { details, headers = {} }: Extra = {}) {
    super(kinds[code].message(subject));
    this.code = code;
    this.status = kinds[code].status;
    this.headers = headers;
    this.#details = details;
  }

  get envelope(): ErrorEnvelope {
    const { code, message } = this;
    const details = this.#details;
    return { success: false, error: { code, message, severity: kinds[code].severity, ...(details && { details }) } };
  }
}

/** How long a client should wait when the database cannot be used. */
const RETRY_AFTER_S = 5;

/** The ApiError for anything thrown while a request was answered: ours as it is, the framework's by its code, the rest a 500. */
export function toApiError(thrown: unknown, requestId: string): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof StoreUnavailable) {
    return new ApiError("SERVER.UNAVAILABLE", "", {
      details: { request_id: requestId },
      headers: { "retry-after": String(RETRY_AFTER_S) },
    });
  }
  const { code = "", statusCode = 500 } = thrown as Partial<FastifyError>;
  const known = frameworkErrors.get(code);
  if (known !== undefined) return known;
  // What else Fastify found wrong with a request before a handler saw it: a wrong content length, an aborted body.
  if (code.startsWith("FST_ERR_") && statusCode < 500) {
    return new ApiError("REQUEST.MALFORMED", "The request is not well formed.");
  }
  return new ApiError("SERVER.INTERNAL", "", { details: { request_id: requestId } });
}

const frameworkErrors = new Map([
  ["FST_ERR_BAD_URL", new ApiError("REQUEST.MALFORMED", "The URL is not well formed.")],
  ["FST_ERR_MAX_PARAM_LENGTH", new ApiError("REQUEST.URL_TOO_LONG")],
  ["FST_ERR_CTP_BODY_TOO_LARGE", new ApiError("REQUEST.TOO_LARGE", "The body is too large.")],
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", new ApiError("REQUEST.INVALID_BODY", "The content type is not application/json.")],
]);

/** The first byte of a TLS handshake (RFC 8446 §5.1), with which no HTTP method begins. */
const TLS_HANDSHAKE = 0x16;

/** The ApiError for bytes that the HTTP parser refused; there is no request yet. */
export function fromClientError({ code, rawPacket }: { code?: string; rawPacket?: unknown }): ApiError {
  if (rawPacket instanceof Uint8Array && rawPacket[0] === TLS_HANDSHAKE) {
    const problem = "This is a TLS handshake, but this port speaks plain HTTP: expected a URL with http://.";
    return new ApiError("REQUEST.MALFORMED", problem);
  }
  if (code === "HPE_HEADER_OVERFLOW") return new ApiError("REQUEST.HEADERS_TOO_LARGE");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new ApiError("REQUEST.TIMEOUT");
  return new ApiError("REQUEST.MALFORMED", "This is not an HTTP request.");
}

function error(status: number, message: Kind["message"], details?: Type.TObject): Kind {
  return { status, severity: "error", message, ...(details && { details }) };
}
