import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { CalendarEvent } from "../shared/calendar.ts";
import { type FpKind, fpPattern } from "../shared/fp.ts";
import { InventoryItem } from "../shared/inventory.ts";
import { Patient } from "../shared/patient.ts";
import { Soap } from "../shared/soap.ts";
import { Result, Study } from "../shared/study.ts";
import { type KeyHeader, type Permission, RATE_CODES } from "./auth.ts";
import { type ErrorCode, errorSchema, statusOf } from "./errors.ts";
import type { Parameters } from "./routes/parameters.ts";

// The API document (OpenAPI 3.1) is made of what the server runs on: the routes' schemas, parameters, permissions and
// the table of errors. What stands here alone is the prose and the headers.

/** What a public route is, beside its schema: the `config` of the route. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Where it takes its key. */
  readonly header: KeyHeader;
  /** Any one of them opens it. */
  readonly permissions: readonly Permission[];
  /** What the path parameter `fp` names. */
  readonly fp?: FpKind;
  readonly parameters?: Parameters;
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
export function describeApi(routes: readonly PublicRoute[]): object {
  const paths = Object.fromEntries(routes.map((route) => [pathOf(route), { get: describeOperation(route) }]));
  const schemas = Object.fromEntries([...named].map(([schema, name]) => [name, { ...(schema as object) }]));
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Vetwire read API",
      version: "1",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description: INTRODUCTION,
    },
    servers: [{ url: "/" }],
    paths,
    components: { schemas, responses: describeErrors(routes), headers, securitySchemes },
  };
  return JSON.parse(JSON.stringify(document, referToNamed)) as object;
}

const INTRODUCTION = `Read access to the patients, medical records, lab diagnostics, calendar and inventory of a veterinary clinic. The clinic is always the key's.

Every key of an object is always there; what is unknown is null. Times are UTC. Parameters that an endpoint does not have do nothing and are named in X-Ignored-Parameters. HEAD answers as GET, without a body.

Errors are an \`Error\`. So is what reaches no endpoint: another path (404), another method (405), bytes that are no request (400), a request that does not arrive (408) or whose URL and headers are too long (431).

Inside /api/v1 fields, parameters and endpoints are added, never changed or removed: ignore what you do not know.`;

/** The errors of all endpoints; each has the one of its rate limit too. */
const commonErrors: readonly ErrorCode[] = [
  "REQUEST.MALFORMED",
  "AUTH.UNAUTHORIZED",
  "AUTH.FORBIDDEN",
  "SERVER.INTERNAL",
  "SERVER.UNAVAILABLE",
];

const publicErrors: readonly ErrorCode[] = [
  ...commonErrors,
  ...Object.values(RATE_CODES),
  "PATIENT.NOT_FOUND",
  "PATIENT.ACCESS_DENIED",
  "CALENDAR.INVALID_RANGE",
  "REQUEST.INVALID_PARAMETER",
  "REQUEST.TIMEOUT",
  "REQUEST.URL_TOO_LONG",
  "REQUEST.HEADERS_TOO_LARGE",
  "ROUTE.NOT_FOUND",
  "ROUTE.METHOD_NOT_ALLOWED",
];
const errorSchemas = new Map(publicErrors.map((code) => [code, errorSchema(code)]));

/** The schemas that the document gives a name to, and refers to wherever they occur. */
const named = new Map<unknown, string>([
  [Patient, "Patient"],
  [Soap, "SoapRecord"],
  [Study, "DiagnosticStudy"],
  [Result, "AnalyteResult"],
  [CalendarEvent, "CalendarEvent"],
  [InventoryItem, "InventoryItem"],
  [envelopeOf(publicErrors), "Error"],
  ...[...errorSchemas].map(([code, schema]) => [schema, code] as const),
]);

function referToNamed(_key: string, value: unknown): unknown {
  const name = named.get(value);
  return name === undefined ? value : { $ref: `#/components/schemas/${name}` };
}

const schemeNames = { "x-api-key": "ApiKey", authorization: "Bearer" } as const;
const securitySchemes = {
  ApiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  Bearer: { type: "http", scheme: "bearer" },
};

const wholeNumber = Type.String({ pattern: "^\\d+$" });
const seconds = Type.String({ pattern: "^[1-9]\\d*$" });
const headers = {
  "X-Request-Id": { required: true, schema: Type.String(), description: "names this answer, for questions to us" },
  "X-Ignored-Parameters": { schema: Type.String(), description: "query parameters that do nothing here, `a, b`" },
  ETag: { schema: Type.String(), description: "for If-None-Match" },
  "WWW-Authenticate": { required: true, schema: Type.String(), description: "how this endpoint takes its key" },
  "Retry-After": { required: true, schema: seconds, description: "seconds to wait" },
  "X-RateLimit-Limit": { schema: wholeNumber, description: "requests in the window that ends the key's budget first" },
  "X-RateLimit-Remaining": { schema: wholeNumber, description: "requests left in that window" },
  "X-RateLimit-Reset": { schema: seconds, description: "seconds until that window ends" },
  RateLimit: {
    schema: Type.String(),
    description: "both windows, as draft-ietf-httpapi-ratelimit-headers-10 has them",
  },
  "RateLimit-Policy": { schema: Type.String(), description: "their limits and lengths, of the same draft" },
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

/** The statuses there are, in words, with their headers; each has X-Request-Id too. */
const statuses: Readonly<Record<number, { description: string; headers: readonly Header[] }>> = {
  200: { description: "Success.", headers: ["ETag", ...ofHandler] },
  304: { description: "What If-None-Match names is still so.", headers: ["ETag", ...ofHandler] },
  400: { description: "A parameter, or the request itself, is not as it must be.", headers: ofHandler },
  401: { description: "The key is missing, unknown, expired or revoked.", headers: ["WWW-Authenticate"] },
  403: { description: "The key may not see this.", headers: ofHandler },
  404: { description: "The record does not exist.", headers: ofHandler },
  414: { description: "The fp is too long.", headers: [] },
  429: { description: "Too many requests of this key, or from this address.", headers: ["Retry-After", ...budget] },
  500: { description: "A fault of the server.", headers: ofHandler },
  503: { description: "The server cannot answer just now.", headers: ["Retry-After", ...ofHandler] },
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
  const path = { name: "fp", in: "path", required: true, schema: fp && Type.String({ pattern: fpPattern(fp) }) };
  const query = Object.entries(parameters).map(([name, { schema }]) => {
    const { description, ...rest } = schema as Type.TSchema & { description: string };
    return { name, in: "query", description, schema: rest };
  });
  return fp === undefined ? query : [path, ...query];
}

function describeResponses(operation: Operation, answer: Type.TSchema) {
  return Object.fromEntries([
    [200, describeResponse(200, answer)],
    [304, describeResponse(304)],
    ...errorsOf(operation).map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }] as const),
  ]);
}

/** The error responses of all routes; many have the same. */
function describeErrors(routes: readonly PublicRoute[]) {
  const all = routes.flatMap(({ operation }) => errorsOf(operation));
  return Object.fromEntries(all.map(({ status, name, codes }) => [name, describeResponse(status, envelopeOf(codes))]));
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

function describeResponse(status: number, schema?: Type.TSchema) {
  const described = statuses[status];
  if (described === undefined) throw new Error(`status ${status} has no description`);
  const names: Header[] = ["X-Request-Id", ...described.headers];
  return {
    description: described.description,
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(schema && { content: { "application/json": { schema } } }),
  };
}

function envelopeOf(codes: readonly ErrorCode[]): Type.TSchema {
  const errors = codes.map((code) => errorSchemas.get(code) ?? errorSchema(code));
  const [only, ...others] = errors;
  const error = only !== undefined && others.length === 0 ? only : Type.Union(errors);
  return Type.Object({ success: Type.Literal(false), error }, { additionalProperties: false });
}
