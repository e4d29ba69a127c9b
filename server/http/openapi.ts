import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { type FpKind, fpPattern, ULID } from "../../shared/api/fp.ts";
import { DATE_PATTERN, TIMESTAMP_PATTERN } from "../../shared/api/schema.ts";
import type { KeyHeader, Permission } from "./api-keys.ts";
import { CHALLENGES } from "./authorization.ts";
import { type ErrorCode, errorSchema, statusOf } from "./errors.ts";
import { errorExamples, exampleFp, exampleUlid } from "./examples.ts";
import type { Parameters } from "./query-parameters.ts";
import { RATE_CODES } from "./rate-limit.ts";
import { FREE_TIMES, type Limits } from "./rate-limiter.ts";

// The API document (OpenAPI 3.1) is made from the routes' schemas, parameters and permissions, the table of errors and the
// rate limits in force. Only the prose and the headers stand here.

/** The `config` of a public route: its part of the document beside its schema. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The header that carries the key. */
  readonly header: KeyHeader;
  /** Any one of them opens it. */
  readonly permissions: readonly Permission[];
  /** The kind of the path parameter `fp`. */
  readonly fp?: FpKind;
  readonly parameters?: Parameters;
  /** A made-up success. */
  readonly example: unknown;
  /** The errors of its own, beside those that every route has. */
  readonly errors?: readonly ErrorCode[];
}

declare module "fastify" {
  interface FastifyContextConfig extends Partial<Operation> {}
}

interface PublicRoute {
  readonly url: string;
  readonly operation: Operation;
  readonly answer: Type.TSchema;
}

/** The public routes that are registered from now on. */
export function collectOperations(app: FastifyInstance): readonly PublicRoute[] {
  const routes: PublicRoute[] = [];
  app.addHook("onRoute", ({ method, url, config, schema }) => {
    if (method !== "GET" || !url.startsWith("/api/v1/")) return;
    const { response } = schema as { response: { 200: Type.TSchema } };
    routes.push({ url, operation: config as Operation, answer: response[200] });
  });
  return routes;
}

/** The document of the routes, as plain JSON. */
export function describeApi(routes: readonly PublicRoute[], limits: Limits): object {
  const schemas: Record<string, object> = {};
  const published = <T>(part: T): T => publish(part, schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "Vetwire read API",
      version: "1",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description: introduce(limits),
    },
    servers: [{ url: "/", description: "The server that serves this document." }],
    tags,
    paths: Object.fromEntries(routes.map((route) => [pathOf(route), { get: published(describeOperation(route)) }])),
    components: {
      responses: published(describeErrors(routes)),
      parameters: published({ IfNoneMatch: ifNoneMatch }),
      headers: published(headers),
      examples: Object.fromEntries(errorExamples),
      securitySchemes,
      schemas,
    },
  };
}

const introduce = (
  limits: Limits,
) => `Read access to the patients, medical records, lab diagnostics, calendar and inventory of a veterinary clinic. The clinic is always the key's.

A required field is always present, and null if its value is unknown. Other fields are present in some objects only. Times are UTC. Query parameters that an endpoint does not have are ignored and named in \`X-Ignored-Parameters\`. HEAD returns the headers of GET, without a body.

## Keys

Every request carries an API key of the clinic. Patients, calendar and inventory take it in \`X-API-Key\`, SOAP records and diagnostic studies in \`Authorization: Bearer\`.

${WHERE_KEYS_COME_FROM}

## Rate limits

Every key has a budget of requests per minute and per hour. It depends on the type of the key:

| Type of key | Requests per minute | Requests per hour |
|---|---|---|
${keyTypes.map((type) => `| ${type} | ${limits[type].minute} | ${limits[type].hour} |`).join("\n")}

Both windows begin with their first request. A network address may send ${limits.addressMinute} requests without a valid key per minute. The headers \`X-RateLimit-*\`, \`RateLimit\` and \`RateLimit-Policy\` report the budget. A request beyond it returns 429, and \`Retry-After\` the seconds to wait.

## Conditional requests

A success carries an \`ETag\`. A client that polls sends it as \`If-None-Match\` with its next request and gets 304 without a body if nothing changed. A 304 costs no budget, up to ${FREE_TIMES} times as many as the budget has requests.

## Errors

Every error is an \`Error\`. So is the response to a request that reaches no endpoint: another path (404), another method (405), invalid HTTP (400), a request that does not arrive in time (408) or whose URL and headers are too long (431).

## Versions

Within /api/v1, fields, parameters and endpoints are added, never changed or removed. A client ignores those that it does not know.`;

const keyTypes = ["integration", "device", "partner"] as const;

const WHERE_KEYS_COME_FROM =
  "A key comes from the clinic's dashboard, under Settings, Developer, API Keys. Today the operator of the server makes " +
  "it with `server keys create`. It begins with `sk_live_`, has the permissions chosen for it and is shown once. Keep it " +
  "on your server: never in client-side code, in a URL or in a public repository.";

const tags = [
  { name: "patients", description: "Patients with an active connection to the key's clinic." },
  { name: "soap", description: "SOAP examination records of these patients." },
  { name: "lab", description: "Lab and imaging studies of these patients." },
  { name: "calendar", description: "The calendar of the key's clinic." },
  { name: "inventory", description: "The inventory of the key's clinic." },
];

/** The errors of all endpoints; each has the one of its rate limit too. */
const commonErrors: readonly ErrorCode[] = [
  "REQUEST.MALFORMED",
  "AUTH.UNAUTHORIZED",
  "AUTH.FORBIDDEN",
  "SERVER.INTERNAL",
  "SERVER.UNAVAILABLE",
];

/** The errors of requests that reach no endpoint. */
const outerErrors: readonly ErrorCode[] = [
  "ROUTE.NOT_FOUND",
  "ROUTE.METHOD_NOT_ALLOWED",
  "REQUEST.TIMEOUT",
  "REQUEST.HEADERS_TOO_LARGE",
];

const errorSchemas = new Map([...errorExamples].map(([code, { summary }]) => [code, errorSchema(code, summary)]));
const AnyError = envelopeOf([...errorExamples.keys()], { title: "Error", description: "An error." });

/** The formats of the patterns. The schemas have none: it would change how Fastify serializes the string. */
const formats: ReadonlyMap<unknown, string> = new Map([
  [TIMESTAMP_PATTERN, "date-time"],
  [DATE_PATTERN, "date"],
]);

/**
 * Copies a part of the document as plain JSON. A schema with a title moves to `schemas`, and a reference stays behind.
 * The copied schemas allow further fields, since clients must.
 */
function publish<T>(part: T, schemas: Record<string, unknown>): T {
  const copy = JSON.stringify(part, (name, value: unknown) => {
    if (name === "additionalProperties") return undefined;
    // Only typebox marks its schemas: an example may have a title too.
    if (typeof value !== "object" || value === null || !("~kind" in value)) return value;
    const { title, ...schema } = value as Type.TSchema & { title?: string; pattern?: string };
    if (title !== undefined) {
      schemas[title] ??= publish(schema, schemas);
      return { $ref: `#/components/schemas/${title}` };
    }
    // The description of a nullable field belongs to the field, not to one of its two schemas.
    if (Type.IsUnion(value) && Type.IsNull(value.anyOf[1])) {
      const { description, ...known } = publish(value.anyOf[0] as { description?: string }, schemas);
      return { description, anyOf: [known, value.anyOf[1]] };
    }
    const format = formats.get(schema.pattern);
    return { ...(Type.IsEnum(value) && { type: "string" }), ...value, ...(format && { format }) };
  });
  return JSON.parse(copy) as T;
}

const schemeNames = { "x-api-key": "ApiKey", authorization: "Bearer" } as const;
const securitySchemes = {
  ApiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: `The key of patients, calendar and inventory. ${WHERE_KEYS_COME_FROM}`,
  },
  Bearer: {
    type: "http",
    scheme: "bearer",
    description: `The key of SOAP records and diagnostic studies. ${WHERE_KEYS_COME_FROM}`,
  },
};

const exampleETag = '"made-up-example-0123456"';
const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  description:
    "The `ETag` of an earlier response to the same request, or a list of them. One that still matches gives 304.",
  schema: Type.String(),
  example: exampleETag,
};

const wholeNumber = Type.String({ pattern: "^\\d+$" });
const seconds = Type.String({ pattern: "^[1-9]\\d*$" });
const headers = {
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
    description: "Names this state of the response, for `If-None-Match`.",
    schema: Type.String({ pattern: '^"[!-~]+"$' }),
    example: exampleETag,
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
type Header = keyof typeof headers;

const budget: readonly Header[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
];
const ofHandler: readonly Header[] = ["X-Ignored-Parameters", ...budget];

const statuses: Readonly<Record<number, string>> = {
  400: "A parameter, or the request itself, is invalid.",
  401: "The key is missing, unknown, expired or revoked.",
  403: "The key may not read this.",
  404: "The record does not exist.",
  414: "The fingerprint is too long.",
  429: "Too many requests of this key, or from this address.",
  500: "A fault of the server.",
  503: "The server cannot respond just now.",
};

/** The headers of an error beside X-Request-Id: an error before the check of the key has no budget to report. */
const headersOfErrors: Readonly<Partial<Record<ErrorCode, readonly Header[]>>> = {
  "AUTH.UNAUTHORIZED": ["WWW-Authenticate"],
  "AUTH.FORBIDDEN": budget,
  "AUTH.RATE_LIMITED": ["Retry-After", ...budget],
  "API_KEY.RATE_LIMIT_EXCEEDED": ["Retry-After", ...budget],
  "PATIENT.NOT_FOUND": ofHandler,
  "PATIENT.ACCESS_DENIED": ofHandler,
  "CALENDAR.INVALID_RANGE": ofHandler,
  "REQUEST.INVALID_PARAMETER": ofHandler,
  "SERVER.INTERNAL": ofHandler,
  "SERVER.UNAVAILABLE": ["Retry-After", ...ofHandler],
};

function pathOf({ url }: PublicRoute): string {
  return url.replaceAll(/:(\w+)/g, "{$1}");
}

function describeOperation({ url, operation, answer }: PublicRoute) {
  const { operationId, summary, description, header, permissions } = operation;
  return {
    operationId,
    tags: [url.split("/")[3]],
    summary,
    description: `${description}\n\nPermission: ${permissions.map((name) => `\`${name}\``).join(" or ")}.`,
    security: permissions.map((permission) => ({ [schemeNames[header]]: [permission] })),
    parameters: describeParameters(operation),
    responses: describeResponses(operation, answer),
  };
}

function describeParameters({ fp, parameters = {} }: Operation) {
  const path = fp && {
    name: "fp",
    in: "path",
    required: true,
    description: `Fingerprint of the record, \`${fp}_\` and a ULID.`,
    schema: Type.String({ pattern: fpPattern(fp) }),
    example: exampleFp(fp),
  };
  const query = Object.entries(parameters).map(([name, { schema }]) => {
    const { description, ...rest } = schema as Type.TSchema & { description: string };
    return { name, in: "query", description, schema: rest };
  });
  return [...(path ? [path] : []), ...query, { $ref: "#/components/parameters/IfNoneMatch" }];
}

function describeResponses(operation: Operation, answer: Type.TSchema) {
  const content = { schema: answer, example: operation.example };
  return Object.fromEntries([
    [200, describeResponse("Success.", ["ETag", ...ofHandler], content)],
    [304, describeResponse("The response that `If-None-Match` names has not changed.", ["ETag", ...budget])],
    ...errorsOf(operation).map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }] as const),
    ["default", { $ref: "#/components/responses/Error" }],
  ]);
}

/** The error responses of all routes; many have the same. */
function describeErrors(routes: readonly PublicRoute[]) {
  const all = routes.flatMap(({ operation }) => errorsOf(operation));
  const outer = "Another error, of a request that reaches no endpoint.";
  return {
    ...Object.fromEntries(
      all.map(({ status, name, codes }) => {
        const description = statuses[status];
        if (description === undefined) throw new Error(`status ${status} has no description`);
        const names = codes.flatMap((code) => headersOfErrors[code] ?? []);
        return [name, describeResponse(description, names, errorContent(codes, envelopeOf(codes)))];
      }),
    ),
    Error: describeResponse(outer, [], errorContent(outerErrors, AnyError)),
  };
}

/** The errors of an operation by status; the name tells the codes. */
function errorsOf({ header, fp, parameters, errors = [] }: Operation) {
  const all: ErrorCode[] = [...commonErrors, RATE_CODES[header], ...errors];
  if (parameters !== undefined) all.push("REQUEST.INVALID_PARAMETER");
  if (fp !== undefined) all.push("REQUEST.URL_TOO_LONG");
  return [...new Set(all.map(statusOf))].map((status) => {
    const codes = all.filter((code) => statusOf(code) === status);
    return { status, codes, name: codes.join("-or-") };
  });
}

function errorContent(codes: readonly ErrorCode[], schema: Type.TSchema) {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return { schema, examples };
}

function describeResponse(description: string, names: readonly Header[], content?: object) {
  const all: Header[] = ["X-Request-Id", ...names];
  return {
    description,
    headers: Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(content && { content: { "application/json": content } }),
  };
}

function envelopeOf(codes: readonly ErrorCode[], options: Type.TSchemaOptions = {}): Type.TSchema {
  const errors = codes.map((code) => {
    const schema = errorSchemas.get(code);
    if (schema === undefined) throw new Error(`the error ${code} has no example`);
    return schema;
  });
  const [only, ...others] = errors;
  const error =
    only !== undefined && others.length === 0 ? only : Type.Union(errors, { description: "One of these errors." });
  const success = Type.Literal(false, { description: "False in every error, true in every success." });
  return Type.Object({ success, error }, { ...options, additionalProperties: false });
}
