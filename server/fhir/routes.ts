import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FhirResource } from "fhir/r4.js";
import type { Store } from "../database/store.ts";
import type { Permission } from "../http/auth/api-keys.ts";
import { ApiError } from "../http/errors.ts";
import { FHIR_JSON } from "../http/error-handler.ts";
import { text } from "../http/query-parameters.ts";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { setSyncCursor } from "../http/walk.ts";
import type { SyncPoints } from "../records/changes/sync-point.ts";
import { searchset } from "./bundle.ts";
import { capabilityStatement } from "./capability.ts";
import { includedResources } from "./included.ts";
import { findMatches } from "./matches.ts";
import { placeOf } from "./place.ts";
import { type Reader, readResource } from "./reads.ts";
import { fpOf, KINDS, resultOf } from "./resources/ids.ts";
import { EVER } from "./search/dates.ts";
import { encodePosition } from "./search/page-token.ts";
import { readSearch, type Search, OF_RESPONSE } from "./search/parameters.ts";
import { SEARCHES, type SearchType, parameterNames } from "./search/searches.ts";

// FHIR R4 at /fhir/R4, read only.

export interface FhirContext {
  readonly store: Store;
  readonly concealUnconnected: boolean;
  readonly syncPoints: SyncPoints;
  /** The start of the server's addresses, as this request reached it. */
  readonly originOf: (request: FastifyRequest) => string;
}

const OF_PATIENTS: readonly Permission[] = ["clinic.patient.view"];
/** As at /api/v1, the permission for patients opens their studies too. */
const OF_STUDIES: readonly Permission[] = ["clinic.patient.view", "clinic.lab.view"];

/** The statement of what the server offers, without a key like the document of /api/v1. */
export function capabilityRoute(app: FastifyInstance, { originOf }: Pick<FhirContext, "originOf">): void {
  app.get("/fhir/R4/metadata", async (request, reply) => {
    refuseOtherForms(request);
    return sendResource(reply, capabilityStatement(placeOf(originOf(request)).base));
  });
}

export function fhirRoutes(app: FastifyInstance, context: FhirContext): void {
  app.addHook("onRequest", (request, _reply, done) => {
    refuseOtherForms(request);
    done();
  });
  for (const type of Object.keys(SEARCHES) as SearchType[]) resourceRoutes(app, type, context);
}

function resourceRoutes(app: FastifyInstance, type: SearchType, context: FhirContext): void {
  const permissions = type === "Patient" ? OF_PATIENTS : OF_STUDIES;
  const config = { header: "authorization" as const, permissions: [...permissions] };
  const ofResponse = Object.fromEntries(["_format", "_pretty"].map((name) => [name, text("")]));
  const parameters = Object.fromEntries([...parameterNames(type), ...OF_RESPONSE].map((name) => [name, text("")]));

  app.get(`/fhir/R4/${type}`, { config: { ...config, parameters } }, async (request, reply) => {
    const place = placeOf(context.originOf(request));
    const search = readSearch(type, request.query as Record<string, unknown>, place.base);
    return sendResource(reply, await bundleOf(request, reply, search, context));
  });
  app.get<{ Params: { id: string } }>(
    `/fhir/R4/${type}/:id`,
    { config: { ...config, parameters: ofResponse } },
    async (request, reply) => {
      const place = placeOf(context.originOf(request));
      return sendResource(reply, await readResource(readerOf(request, context), type, request.params.id, place));
    },
  );
}

async function bundleOf(request: FastifyRequest, reply: FastifyReply, search: Search, context: FhirContext) {
  const { type, lastUpdated, after, includes } = search;
  refuseOtherAnimals(request, search);
  const place = placeOf(context.originOf(request));
  const reader = readerOf(request, context);
  // Some resources became visible after a time and have an older stamp.
  const isOpen = lastUpdated.before === EVER.before && lastUpdated.from !== EVER.from;
  const since = isOpen ? lastUpdated.from : null;
  const point = await context.syncPoints.find(reader.clinicId, since, versionsOf(request).answers);
  const from = point.from ?? lastUpdated.from;
  const found = await findMatches(reader, { ...search, lastUpdated: { ...lastUpdated, from } }, place);
  const cursor = type === "Device" ? null : (after?.cursor ?? point.next);
  if (cursor !== null) setSyncCursor(reply, cursor);
  const next = found.next && encodePosition(type, { ...found.next, cursor: cursor ?? 0 });
  return searchset({
    base: place.base,
    self: selfOf(request, type, after === null ? null : undefined),
    next: next && selfOf(request, type, next),
    total: after === null && next === null && found.leftOut === 0 ? found.matches.length : null,
    cursor,
    matches: found.matches.map(({ resource }) => resource),
    included: await includedResources(reader, found.matches, includes, place),
    leftOut: found.leftOut,
  });
}

/** The path and query of this search. `after` replaces the place of the page; null removes it, and undefined keeps it. */
function selfOf(request: FastifyRequest, type: SearchType, after: string | null | undefined): string {
  const { searchParams } = new URL(request.url, "http://localhost");
  if (after === null) searchParams.delete("_after");
  else if (after !== undefined) searchParams.set("_after", after);
  return searchParams.size === 0 ? type : `${type}?${searchParams.toString()}`;
}

/** A key for studies alone reads no animals, also not along with them. */
function refuseOtherAnimals(request: FastifyRequest, { includes }: Search): void {
  const isOfPatients = includes.has("subject") || includes.has("patient");
  if (!isOfPatients || keyOf(request).permissions.includes("clinic.patient.view")) return;
  throw new ApiError("AUTH.FORBIDDEN", "", { details: { required: [...OF_PATIENTS] } });
}

function readerOf(request: FastifyRequest, { store, concealUnconnected }: FhirContext): Reader {
  return { session: store, clinicId: keyOf(request).clinic_id, concealUnconnected };
}

/** Plugin: gives each request the fp that its id names, so that the audit has the record as for /api/v1. Register it before refusals. */
export function nameRecords(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    nameRecord(request);
    done();
  });
}

function nameRecord(request: FastifyRequest): void {
  const params = request.params as { id?: string; fp?: string };
  const type = request.routeOptions.url?.split("/")[3] ?? "";
  if (params.id === undefined || !Object.hasOwn(KINDS, type)) return;
  const fp = type === "Observation" ? resultOf(params.id)?.fp : fpOf(KINDS[type as keyof typeof KINDS], params.id);
  if (typeof fp === "string") params.fp = fp;
}

const JSON_FORMS = /^(?:json|application\/json|application\/fhir\+json|text\/json)(?:\s*;.*)?$/;
const ANY_FORM = /^(?:\*\/\*|application\/\*)(?:\s*;.*)?$/;

/** @throws ApiError 406 for a client that takes XML or RDF alone */
function refuseOtherForms({ headers, query }: FastifyRequest): void {
  const { _format: format } = query as { _format?: unknown };
  // An unescaped `+` of application/fhir+json arrives as a space.
  const named = typeof format === "string" ? format.replace("fhir json", "fhir+json") : null;
  const accepted = named ?? headers.accept ?? "*/*";
  const forms = accepted.split(",").map((form) => form.trim());
  if (!forms.some((form) => JSON_FORMS.test(form) || ANY_FORM.test(form))) throw new ApiError("REQUEST.NOT_ACCEPTABLE");
}

function sendResource(reply: FastifyReply, resource: FhirResource): FastifyReply {
  return reply.type(FHIR_JSON).serializer(JSON.stringify).send(resource);
}
