import type { FastifyError } from "fastify";
import { Type } from "typebox";
import { DamagedRecord } from "../database/damaged-records.ts";
import { StoreUnavailable } from "../database/query.ts";

// The table of all API errors, and the conversion of other errors into them.

interface ErrorDefinition {
  status: number;
  severity: "error" | "warning";
  /** Makes the message. `subject` is the variable part of the sentence. */
  message: (subject: string) => string;
  /** Schema of `details`, for an error that has them. */
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

const BodyFaults = Type.Object(
  {
    errors: Type.Array(
      Type.Object(
        {
          field: Type.String({ description: "The field of the body; empty for the body itself." }),
          code: Type.String({ description: "Name of the fault, for programs." }),
          message: Type.String({ description: "A sentence for people." }),
        },
        closed,
      ),
      { description: "The faults of the body, at most ten." },
    ),
  },
  { ...closed, description: "What is wrong around the items." },
);

const RemovalFault = Type.Object(
  {
    removals: Type.Integer({ description: "Patients or appointments that the list lacks." }),
    patients: Type.Optional(Type.Integer({ description: "Patients that the source has." })),
    appointments: Type.Optional(Type.Integer({ description: "Coming appointments that the source has." })),
  },
  { ...closed, description: "What the full list would remove." },
);

const MergeFault = Type.Object(
  { code: Type.String({ description: "Why the patients are not merged, for programs." }) },
  { ...closed, description: "Why the patients are not merged." },
);

const RefusedReason = Type.Object(
  {
    code: Type.String({ description: "Name of the reason, for programs." }),
    values: Type.Optional(Type.Array(Type.String(), { description: "The facts of its sentence." })),
  },
  { ...closed, description: "Why it is refused." },
);

const RangeFault = Type.Object(
  { max_days: Type.Integer({ description: "Greatest number of days in a range." }) },
  { ...closed, description: "The limit of a range." },
);

const errorDefinitions = {
  "AUTH.UNAUTHORIZED": error(401, () => "Authentication required.", ExpectedHeader),
  "AUTH.FORBIDDEN": error(403, () => "Insufficient permissions.", MissingPermission),
  "CLINIC.SUSPENDED": error(403, () => "The operator of this server has suspended the clinic."),
  "AUTH.RATE_LIMITED": { status: 429, severity: "warning", message: (wait) => `Too many requests. Wait ${wait}.` },
  "API_KEY.RATE_LIMIT_EXCEEDED": error(429, (wait) => `Rate limit exceeded. Retry after ${wait}.`),
  "PATIENT.NOT_FOUND": error(404, (what) => `${what} does not exist.`, ParameterFault),
  "PATIENT.ACCESS_DENIED": error(403, (what) => `This clinic has no active connection to ${what}.`),
  "EVENTS.EXPIRED": error(
    410,
    () => "Events after this position are no longer kept. Read the lists again, and the events from after=latest on.",
  ),
  "CALENDAR.INVALID_RANGE": error(400, (problem) => problem, RangeFault),
  "SESSION.REQUIRED": error(401, () => "Sign in first."),
  "SESSION.SIGN_IN_FAILED": error(401, () => "The name or the password is wrong."),
  "SESSION.SECOND_FACTOR": error(401, (problem) => problem),
  "SESSION.SECOND_FACTOR_ENDED": error(
    403,
    () =>
      "Ten wrong codes followed the right password, so that codes of the app end here. Use a recovery code or a browser in which " +
      "you signed in before, or change the password.",
  ),
  "SESSION.OTHER_USER": error(409, (name) => `${name} is signed in now: load the page again.`),
  "SESSION.WRONG_PASSWORD": error(403, () => "The password is wrong."),
  "SESSION.SETUP_CODE": error(401, () => "The set-up code is wrong, or a user exists already."),
  "SESSION.FORBIDDEN": error(403, (role) => `Your role does not allow this, it needs the role ${role}.`),
  "SESSION.CROSS_SITE": error(403, () => "The page of another site sent this request."),
  "SESSION.TOO_MANY_ATTEMPTS": error(429, () => "Too many attempts to sign in. Wait 15 minutes."),
  "PAIRING.WRONG_CODE": error(
    403,
    () =>
      "This code is wrong. Compare it with the one at the dashboard under Devices; a newer code ends the older one.",
  ),
  "PAIRING.CODE_ENDED": error(
    403,
    () => "This code has ended. Make a new one at the dashboard under Devices, Add a clinic PC.",
  ),
  "PAIRING.OTHER_CERTIFICATE": error(
    403,
    (pins) =>
      `The PC sees a certificate with the public key ${pins}. Use an address that the dashboard shows under Devices, Add a clinic PC. Behind a proxy, name the file of its authority in NODE_EXTRA_CA_CERTS on the PC.`,
  ),
  "PAIRING.TOO_MANY_ATTEMPTS": error(429, () => "Too many codes were tried. Wait 15 minutes, then use a new code."),
  "RECORD.NOT_FOUND": error(404, (what) => `${what} does not exist.`),
  "RECORD.GONE": error(410, (what) => `${what} was removed.`),
  "REQUEST.NOT_ACCEPTABLE": error(406, () => "The only form of responses is JSON."),
  "RECORD.REFUSED": error(409, (problem) => problem, RefusedReason),
  "RECORD.DAMAGED": error(
    500,
    (what) => `The stored ${what} is damaged. It is not shown until it is restored.`,
    RequestId,
  ),
  "ORDER.UNKNOWN_TEST": error(400, (problem) => problem),
  "SYNC.INVALID_BODY": error(400, (problems) => `${problems}.`, BodyFaults),
  "SYNC.TOO_MANY_REMOVALS": error(409, (removals) => `The full list would remove ${removals}.`, RemovalFault),
  "SYNC.MERGE_REFUSED": error(409, (why) => `${why}.`, MergeFault),
  "SYNC.STATE_MOVED": error(409, () => "The outcomes would differ from those of the dry run. Do a dry run again."),
  "SYNC.ID_REUSED": error(422, () => "This Idempotency-Key was used for another request."),
  "SYNC.TOO_MANY_ITEMS": error(413, (count) => `The request has ${count} items, expected at most 500.`),
  "REQUEST.ID_REUSED": error(422, () => "The id of this request was used for another one: load the page again."),
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
} satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorDefinitions;

/** The body of an error response. */
export interface ErrorEnvelope {
  success: false;
  error: { code: ErrorCode; message: string; severity: "error" | "warning"; details?: Record<string, unknown> };
}

/** The schema of an error with this code, for the API document. `description` is the case in which it is returned. */
export function errorSchema(code: ErrorCode, description: string): Type.TObject {
  const { severity, details }: ErrorDefinition = errorDefinitions[code];
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

export function statusOf(code: ErrorCode): number {
  return errorDefinitions[code].status;
}

interface Extra {
  details?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** An error with a code of the table. The error handler sends its envelope. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly #details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, subject = "", { details, headers = {} }: Extra = {}) {
    super(errorDefinitions[code].message(subject));
    this.code = code;
    this.status = errorDefinitions[code].status;
    this.headers = headers;
    this.#details = details;
  }

  get envelope(): ErrorEnvelope {
    const { code, message } = this;
    const details = this.#details;
    return {
      success: false,
      error: { code, message, severity: errorDefinitions[code].severity, ...(details && { details }) },
    };
  }
}

/** Retry-After of a response while the database is unavailable. */
const RETRY_AFTER_S = 5;

/** Converts any thrown value. An ApiError stays, an error of Fastify is mapped by its code, any other becomes a 500. */
export function toApiError(thrown: unknown, requestId: string): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof StoreUnavailable) return unavailable({ request_id: requestId });
  if (thrown instanceof DamagedRecord) {
    return new ApiError("RECORD.DAMAGED", "record", { details: { request_id: requestId } });
  }
  const { code = "", statusCode = 500 } = thrown as Partial<FastifyError>;
  const known = frameworkErrors.get(code);
  if (known !== undefined) return known;
  // Other faults that Fastify finds before the handler: a wrong content length, an aborted body.
  if (code.startsWith("FST_ERR_") && statusCode < 500) {
    return new ApiError("REQUEST.MALFORMED", "The request is not well formed.");
  }
  return new ApiError("SERVER.INTERNAL", "", { details: { request_id: requestId } });
}

/** The error of /readyz, with the reason in words that name no host, since it needs no key. */
export function notReady({ reason }: StoreUnavailable, requestId: string): ApiError {
  return unavailable({ request_id: requestId, reason });
}

function unavailable(details: Record<string, unknown>): ApiError {
  return new ApiError("SERVER.UNAVAILABLE", "", { details, headers: { "retry-after": String(RETRY_AFTER_S) } });
}

const frameworkErrors = new Map([
  ["FST_ERR_BAD_URL", new ApiError("REQUEST.MALFORMED", "The URL is not well formed.")],
  ["FST_ERR_MAX_PARAM_LENGTH", new ApiError("REQUEST.URL_TOO_LONG")],
  ["FST_ERR_CTP_BODY_TOO_LARGE", new ApiError("REQUEST.TOO_LARGE", "The body is too large.")],
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", new ApiError("REQUEST.INVALID_BODY", "The content type is not application/json.")],
]);

/** The first byte of a TLS handshake (RFC 8446 §5.1). No HTTP method starts with it. */
const TLS_HANDSHAKE = 0x16;

/** Converts an error of the HTTP parser. There is no request yet. */
export function fromClientError({ code, rawPacket }: { code?: string; rawPacket?: unknown }): ApiError {
  if (rawPacket instanceof Uint8Array && rawPacket[0] === TLS_HANDSHAKE) {
    const problem = "This is a TLS handshake, but this port speaks plain HTTP: expected a URL with http://.";
    return new ApiError("REQUEST.MALFORMED", problem);
  }
  if (code === "HPE_HEADER_OVERFLOW") return new ApiError("REQUEST.HEADERS_TOO_LARGE");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new ApiError("REQUEST.TIMEOUT");
  return new ApiError("REQUEST.MALFORMED", "This is not an HTTP request.");
}

/** A definition with severity "error". */
function error(status: number, message: ErrorDefinition["message"], details?: Type.TObject): ErrorDefinition {
  return { status, severity: "error", message, ...(details && { details }) };
}
