import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { type FpKind, fpPattern } from "../../../shared/api/fp.ts";
import { DATE_PATTERN, TIMESTAMP_PATTERN } from "../../../shared/schema/schema.ts";
import type { KeyHeader, Permission } from "../auth/api-keys.ts";
import { type ErrorCode, errorSchema, statusOf } from "../errors.ts";
import { type ErrorExamples, errorExamples, exampleFp, syncErrorExamples } from "./examples.ts";
import {
  budgetHeaders,
  handlerHeaders,
  type Header,
  headers,
  headersOfErrors,
  idempotencyKey,
  ifNoneMatch,
  isPosition,
  sentAs,
  writeHeaders,
} from "./headers.ts";
import { introduce, introduceSync, syncTags, tags, WHERE_KEYS_COME_FROM } from "./introduction.ts";
import type { Parameters } from "../query-parameters.ts";
import { describeWebhooks } from "./webhooks.ts";
import { RATE_CODES } from "../rate-limit/rate-limit.ts";
import type { Limits } from "../rate-limit/rate-limiter.ts";

// The API documents (OpenAPI 3.1), of /api/v1 and of /sync/v1. Their sources are the schemas, parameters and permissions of the routes, the table of errors
// and the rate limits.

/** The `config` of a public route: its part of the document, except its schema. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly header: KeyHeader;
  /** Permissions, any one of which opens the endpoint. */
  readonly permissions: readonly Permission[];
  /** The kind of the path parameter `fp`. */
  readonly fp?: FpKind;
  readonly parameters?: Parameters;
  /** The body of a POST and a made-up one. The handler checks it. */
  readonly body?: Type.TSchema;
  readonly bodyExample?: unknown;
  /** Whether an `Idempotency-Key` repeats the answer. */
  readonly idempotencyKey?: true;
  /** Headers of a success, in addition to those of every route. */
  readonly headers?: readonly Header[];
  /** Whether the response depends on which of the permissions the key has. */
  readonly variesWithPermissions?: true;
  /** Whether the response may change while the clinic's version stays. */
  readonly uncached?: true;
  /** A made-up successful response. */
  readonly example: unknown;
  /** The media type of a file. By default the response is JSON. */
  readonly contentType?: string;
  /** Errors of this route, in addition to those of every route. */
  readonly errors?: readonly ErrorCode[];
}

declare module "fastify" {
  interface FastifyContextConfig extends Partial<Operation> {}
}

interface PublicRoute {
  readonly url: string;
  readonly operation: Operation;
  readonly response: Type.TSchema;
}

/** A part of the HTTP interface that has a document of its own. */
export interface ApiPart {
  readonly path: string;
  readonly method: "get" | "post";
  readonly title: string;
  readonly introduce: (limits: Limits) => string;
  readonly tags: readonly object[];
  readonly errors: ErrorExamples;
  /** Where the document and its page are. */
  readonly documentUrl: string;
  readonly pageUrl: string;
}

export const READ_API: ApiPart = {
  path: "/api/v1/",
  method: "get",
  title: "Vetwire read API",
  introduce,
  tags,
  errors: errorExamples,
  documentUrl: "/openapi.json",
  pageUrl: "/docs/api",
};

export const SYNC_API: ApiPart = {
  path: "/sync/v1/",
  method: "post",
  title: "Vetwire sync API",
  introduce: introduceSync,
  tags: syncTags,
  errors: syncErrorExamples,
  documentUrl: "/sync/openapi.json",
  pageUrl: "/sync/docs",
};

/** Collects the routes of a part that are registered after this call. */
export function collectOperations(app: FastifyInstance, part: ApiPart): readonly PublicRoute[] {
  const routes: PublicRoute[] = [];
  app.addHook("onRoute", ({ method, url, config, schema }) => {
    if (method !== part.method.toUpperCase() || !url.startsWith(part.path)) return;
    const { response } = schema as { response: { 200: Type.TSchema } };
    routes.push({ url, operation: config as Operation, response: response[200] });
  });
  return routes;
}

/** Makes the document as plain JSON. */
export function describeApi(part: ApiPart, routes: readonly PublicRoute[], limits: Limits): object {
  const schemas: Record<string, object> = {};
  const published = <T>(piece: T): T => publish(piece, schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: part.title,
      version: "1",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description: part.introduce(limits),
    },
    externalDocs: { url: "/docs", description: "The documentation of this version." },
    servers: [{ url: "/", description: "The server that serves this document." }],
    tags: part.tags,
    paths: Object.fromEntries(
      routes.map((route) => [pathOf(route), { [part.method]: published(describeOperation(part, route)) }]),
    ),
    ...(part.method === "get" && { webhooks: published(describeWebhooks()) }),
    components: {
      responses: published(describeErrors(part, routes)),
      parameters: published(part.method === "get" ? { IfNoneMatch: ifNoneMatch } : { IdempotencyKey: idempotencyKey }),
      headers: published(part.method === "get" ? headers : writeHeaders),
      examples: Object.fromEntries(part.errors),
      securitySchemes: part.method === "get" ? securitySchemes : { ApiKey: syncScheme },
      schemas,
    },
  };
}

/** The errors of all endpoints, except that of the rate limit. */
const commonErrors: readonly ErrorCode[] = [
  "REQUEST.MALFORMED",
  "AUTH.UNAUTHORIZED",
  "AUTH.FORBIDDEN",
  "CLINIC.SUSPENDED",
  "SERVER.INTERNAL",
  "RECORD.DAMAGED",
  "SERVER.UNAVAILABLE",
];

/** The errors of requests that reach no endpoint. */
const outerErrors: readonly ErrorCode[] = [
  "ROUTE.NOT_FOUND",
  "ROUTE.METHOD_NOT_ALLOWED",
  "REQUEST.TIMEOUT",
  "REQUEST.HEADERS_TOO_LARGE",
];

const errorSchemas = new Map(
  [...errorExamples, ...syncErrorExamples].map(([code, { summary }]) => [code, errorSchema(code, summary)]),
);

/** Formats by pattern. The schemas of the routes have none, since Fastify serializes a string with a format differently. */
const formats: ReadonlyMap<unknown, string> = new Map([
  [TIMESTAMP_PATTERN, "date-time"],
  [DATE_PATTERN, "date"],
]);

/**
 * Copies a part of the document as plain JSON. A schema with a title moves to `schemas`, and a reference replaces it. The
 * copies allow additional fields, since later versions may add some.
 */
function publish<T>(part: T, schemas: Record<string, unknown>): T {
  const copy = JSON.stringify(part, (name, value: unknown) => {
    if (name === "additionalProperties") return undefined;
    // Typebox marks its schemas. An example is not one, even if it has a title.
    if (typeof value !== "object" || value === null || !("~kind" in value)) return value;
    const { title, ...schema } = value as Type.TSchema & { title?: string; pattern?: string };
    if (title !== undefined) {
      schemas[title] ??= publish(schema, schemas);
      return { $ref: `#/components/schemas/${title}` };
    }
    // The description of a nullable field moves from its schema to the field.
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

const syncScheme = {
  ...securitySchemes.ApiKey,
  description: `A key with the permission \`clinic.sync.write\`. ${WHERE_KEYS_COME_FROM}`,
};

const statuses: Readonly<Record<number, string>> = {
  400: "A parameter, or the request itself, is invalid.",
  401: "The key is missing, unknown, expired or revoked.",
  403: "The key may not read this.",
  404: "The record does not exist.",
  410: "What the request continues is no longer kept.",
  409: "The state is another one than the request expects.",
  413: "The body is too large.",
  422: "The request cannot be done as it is.",
  414: "The fingerprint is too long.",
  429: "Too many requests of this key, or from this address.",
  500: "A fault of the server.",
  503: "The server cannot respond just now.",
};

function pathOf({ url }: PublicRoute): string {
  return url.replaceAll(/:(\w+)/g, "{$1}");
}

function describeOperation(part: ApiPart, { url, operation, response }: PublicRoute) {
  const { operationId, summary, description, header, permissions } = operation;
  return {
    operationId,
    tags: [url.split("/")[3]],
    summary,
    description: `${description}\n\nPermission: ${permissions.map((name) => `\`${name}\``).join(" or ")}.`,
    security: permissions.map((permission) => ({ [schemeNames[header]]: [permission] })),
    parameters: describeParameters(operation),
    ...(operation.body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: operation.body, example: operation.bodyExample } },
      },
    }),
    responses: describeResponses(part, operation, response),
  };
}

function describeParameters({ fp, body, idempotencyKey: repeats, parameters = {} }: Operation) {
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
  const headerNames = [...(body === undefined ? ["IfNoneMatch"] : []), ...(repeats ? ["IdempotencyKey"] : [])];
  const ofHeaders = headerNames.map((name) => ({ $ref: `#/components/parameters/${name}` }));
  return [...(path ? [path] : []), ...query, ...ofHeaders];
}

function describeResponses({ method }: ApiPart, operation: Operation, schema: Type.TSchema) {
  const content = { schema, example: operation.example };
  const own = operation.headers ?? [];
  const unchanged = "The response that `If-None-Match` names has not changed.";
  const successes =
    method === "get"
      ? [
          [
            200,
            describeResponse("Success.", ["ETag", ...own, ...handlerHeaders], content, operation.contentType),
          ] as const,
          [304, describeResponse(unchanged, ["ETag", ...own.filter(isPosition), ...budgetHeaders])] as const,
        ]
      : [[200, describeResponse("Success.", [...own, ...handlerHeaders], content)] as const];
  return Object.fromEntries([
    ...successes,
    ...errorsOf(operation).map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }] as const),
    ["default", { $ref: "#/components/responses/Error" }],
  ]);
}

/** The error responses of all routes. Routes share them. */
function describeErrors(part: ApiPart, routes: readonly PublicRoute[]) {
  const all = routes.flatMap(({ operation }) => errorsOf(operation));
  const anyError = envelopeOf([...part.errors.keys()], { title: "Error", description: "An error." });
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
    Error: describeResponse(outer, [], errorContent(outerErrors, anyError)),
  };
}

/** The errors of an operation by status. The name joins the codes. */
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

function describeResponse(
  description: string,
  names: readonly Header[],
  content?: object,
  contentType = "application/json",
) {
  const all: Header[] = ["X-Request-Id", ...names];
  return {
    description,
    headers: Object.fromEntries(all.map((name) => [sentAs[name] ?? name, { $ref: `#/components/headers/${name}` }])),
    ...(content && { content: { [contentType]: content } }),
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
