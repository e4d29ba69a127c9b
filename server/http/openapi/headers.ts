import { Type } from "typebox";
import { ULID } from "../../../shared/api/fp.ts";
import { CHALLENGES } from "../auth/authorization.ts";
import type { ErrorCode } from "../errors.ts";
import { exampleUlid } from "./examples.ts";

const exampleETag = '"made-up-example-0123456"';

export const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  description:
    "The `ETag` of an earlier response to the same request, or a list of them. One that still matches gives 304.",
  schema: Type.String(),
  example: exampleETag,
};

export const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "An id of the request, 16 to 64 letters, digits, `-` or `_`, such as a UUID. The same request with the same id within 24 hours " +
    "gets its first answer again, with `Idempotency-Replayed: true`.",
  schema: Type.String({ pattern: "^[\\w-]{16,64}$" }),
  example: "3f0c2a52-9a51-4b0e-8a3d-0c6f6a1d2b7e",
};

const wholeNumber = Type.String({ pattern: "^\\d+$" });

const seconds = Type.String({ pattern: "^[1-9]\\d*$" });

export const headers = {
  "X-Request-Id": {
    required: true,
    description: "Names this response. Send it with a question to the operator of the server.",
    schema: Type.String({ pattern: `^${ULID}$` }),
    example: exampleUlid,
  },
  "X-Ignored-Parameters": {
    description: "The query parameters that the endpoint does not have, separated by commas.",
    schema: Type.String(),
    example: "clinic_fp, pagesize",
  },
  ETag: {
    required: true,
    description: "Names this state of the response, for `If-None-Match`. That of a file is weak (`W/`).",
    schema: Type.String({ pattern: '^(W/)?"[!-~]+"$' }),
    example: exampleETag,
  },
  Link: {
    description: 'The next page, by the position of the last record (`rel="next"`, RFC 8288). Absent on the last page.',
    schema: Type.String(),
    example: '</api/v1/patients?page_size=100&after=WyJtYWRlLXVwIl0>; rel="next"',
  },
  "Content-Disposition": {
    description: "The name of the file (RFC 6266).",
    schema: Type.String(),
    example: `attachment; filename="Karabas 2026-11-20 Biochemistry.pdf"`,
  },
  "Sync-Cursor": {
    description:
      "The time that the next request for changes sends, in `updated_since` or in `after` of /api/v1/changes. Absent on " +
      "the pages after the first, if they are read by their numbers.",
    schema: Type.String({ format: "date-time" }),
    example: "2026-11-21T09:30:00.000Z",
  },
  "Feed-Cursor": {
    required: true,
    description:
      "The position after this page, which the next request for events sends in `after`. Opaque. On the last page it is after " +
      "the last event of the clinic, also one that the key does not see.",
    schema: Type.String(),
    example: "WyJldmVudHMiLDgxMiwyMDQ4LDE3OTU3NzcyMDAwMDBd",
  },
  "WWW-Authenticate": {
    required: true,
    description: "The header in which this endpoint takes its key.",
    schema: Type.String(),
    example: CHALLENGES["x-api-key"],
  },
  "Retry-After": { required: true, description: "Seconds to wait.", schema: seconds, example: "12" },
  "X-RateLimit-Limit": {
    description: "Requests in the window that has the fewest left, of minute and hour.",
    schema: wholeNumber,
    example: "60",
  },
  "X-RateLimit-Remaining": { description: "Requests left in that window.", schema: wholeNumber, example: "59" },
  "X-RateLimit-Reset": { description: "Seconds until that window ends.", schema: seconds, example: "42" },
  RateLimit: {
    description:
      "Requests left (`r`) and seconds to the end (`t`) of both windows (draft-ietf-httpapi-ratelimit-headers-10).",
    schema: Type.String(),
    example: '"minute";r=59;t=42, "hour";r=999;t=3582',
  },
  "RateLimit-Policy": {
    description: "Requests (`q`) and length in seconds (`w`) of both windows, of the same draft.",
    schema: Type.String(),
    example: '"minute";q=60;w=60, "hour";q=1000;w=3600',
  },
} as const;

const {
  ETag: _etag,
  Link: _link,
  "Sync-Cursor": _cursor,
  "Feed-Cursor": _feed,
  "Content-Disposition": _name,
  ...others
} = headers;

/** The headers of responses to writes. */
export const writeHeaders = others;

export type Header = keyof typeof headers;

/** Headers that are sent under the name of another one, whose value has another form there. */
export const sentAs: Readonly<Partial<Record<Header, string>>> = { "Feed-Cursor": "Sync-Cursor" };

export const budgetHeaders: readonly Header[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
];

export const handlerHeaders: readonly Header[] = ["X-Ignored-Parameters", ...budgetHeaders];

/** Headers of a list with changes. */
export const syncHeaders = ["Link", "Sync-Cursor"] as const satisfies readonly Header[];
export const feedHeaders = ["Link", "Feed-Cursor"] as const satisfies readonly Header[];

/** Whether a header names where a client goes on. A 304 has it too, since it moves while the page stays the same. */
export function isPosition(header: Header): boolean {
  return [...syncHeaders, ...feedHeaders].some((each) => each === header);
}

/** Headers of each error in addition to X-Request-Id. Errors before the rate limit report no budget. */
export const headersOfErrors: Readonly<Partial<Record<ErrorCode, readonly Header[]>>> = {
  "AUTH.UNAUTHORIZED": ["WWW-Authenticate"],
  "AUTH.FORBIDDEN": budgetHeaders,
  "CLINIC.SUSPENDED": budgetHeaders,
  "AUTH.RATE_LIMITED": ["Retry-After", ...budgetHeaders],
  "API_KEY.RATE_LIMIT_EXCEEDED": ["Retry-After", ...budgetHeaders],
  "PATIENT.NOT_FOUND": handlerHeaders,
  "PATIENT.ACCESS_DENIED": handlerHeaders,
  "EVENTS.EXPIRED": handlerHeaders,
  "RECORD.REFUSED": handlerHeaders,
  "CALENDAR.INVALID_RANGE": handlerHeaders,
  "REQUEST.INVALID_PARAMETER": handlerHeaders,
  "REQUEST.INVALID_BODY": budgetHeaders,
  "REQUEST.TOO_LARGE": budgetHeaders,
  "SYNC.INVALID_BODY": handlerHeaders,
  "SYNC.TOO_MANY_ITEMS": handlerHeaders,
  "SYNC.TOO_MANY_REMOVALS": handlerHeaders,
  "SYNC.MERGE_REFUSED": handlerHeaders,
  "SYNC.STATE_MOVED": handlerHeaders,
  "SYNC.ID_REUSED": handlerHeaders,
  "SERVER.INTERNAL": handlerHeaders,
  "RECORD.DAMAGED": handlerHeaders,
  "SERVER.UNAVAILABLE": ["Retry-After", ...handlerHeaders],
};
