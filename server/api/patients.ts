import type { FastifyInstance } from "fastify";
import { isFp } from "../../shared/api/fp.ts";
import { Patient } from "../../shared/api/patient.ts";
import { ApiError } from "../http/errors.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { syncHeaders } from "../http/openapi/headers.ts";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { type Walk, walkOf } from "../http/walk.ts";
import { PAGE_INDEXES_MAX, type PageIndex } from "../records/patients/page-index.ts";
import { findPatient, listPatients } from "../records/patients/patients.ts";
import { VersionedCache } from "../records/patients/versioned-cache.ts";
import { EnvelopeWithMessageOf, PageOf, pageOf, type RouteContext } from "./context.ts";
import { syncedPage } from "./walked-page.ts";
import { instant, notFound, pageParameters, readParameters, text } from "../http/query-parameters.ts";

// GET /api/v1/patients and GET /api/v1/patients/{fp}.

const PatientPageEnvelope = EnvelopeWithMessageOf(PageOf(Patient, "PatientPage"), "PatientPageEnvelope");
const PatientEnvelope = EnvelopeWithMessageOf(Patient, "PatientEnvelope");

const list = {
  operationId: "listPatients",
  summary: "List patients",
  description:
    "The patients with an active connection to the key's clinic, whichever clinic created them, last updated first. " +
    "Page numbers shift when patients change between requests: a sync job asks with `updated_since`, again every 5 to " +
    "15 minutes, and follows the `Link` header until there is none. `updated_since=T` returns what became visible at or " +
    "after T, even if its `updated_at` is a little older, and the `updated_at` of a clinic's patients never falls in the " +
    "order of their changes. So the `Sync-Cursor` of the last answer, the time at which it was asked for and its newest " +
    "`updated_at` all lose nothing. /api/v1/changes lists the patients that left.",
  header: "x-api-key",
  permissions: ["clinic.patient.view"],
  parameters: {
    ...pageParameters,
    species: text(
      "Only this species: `dog`, `cat`, `rabbit`, `bird`, `reptile` or `exotic`. Another value matches nothing.",
    ),
    updated_since: instant("Only patients whose last change became visible at or after this time."),
    after: walkOf("patients"),
  },
  headers: syncHeaders,
  example: { success: true, data: pageOf({ items: [exampleOf.patient], total: 1 }, 1, 20), message: "OK" },
} satisfies Operation;

const get = {
  operationId: "getPatient",
  summary: "Get a patient",
  description: "The patient alone: its records are fetched from their own endpoints.",
  header: "x-api-key",
  permissions: ["clinic.patient.view"],
  fp: "patient",
  example: { success: true, data: exampleOf.patient, message: "OK" },
  errors: ["PATIENT.NOT_FOUND", "PATIENT.ACCESS_DENIED"],
} satisfies Operation;

export function patientRoutes(app: FastifyInstance, { store, syncPoints, concealUnconnected }: RouteContext): void {
  const pageIndexes = new VersionedCache<PageIndex>(PAGE_INDEXES_MAX);

  app.get(
    "/api/v1/patients",
    { schema: { response: { 200: PatientPageEnvelope } }, config: list },
    async (request, reply) => {
      const {
        page,
        page_size: pageSize,
        species,
        updated_since,
        after: walk,
      } = readParameters(request, list.parameters);
      const clinicId = keyOf(request).clinic_id;
      const point = await syncPoints.find(clinicId, updated_since, versionsOf(request).answers);
      const filter = {
        clinicId,
        species,
        updatedSince: point.from,
        page,
        pageSize,
        after: walk && { updatedAt: Number(walk.key[0]), patientFp: walk.key[1] },
        version: versionsOf(request).lists,
      };
      const found = await listPatients(store, pageIndexes, filter);
      const last: Walk["key"] | null = found.last && [found.last.updatedAt, found.last.patientFp];
      const data = await syncedPage(syncPoints, request, reply, {
        list: "patients",
        found,
        last,
        walk,
        page,
        pageSize,
        point,
      });
      return { success: true, data, message: "OK" };
    },
  );

  app.get<{ Params: { fp: string } }>(
    "/api/v1/patients/:fp",
    { schema: { response: { 200: PatientEnvelope } }, config: get },
    async (request) => {
      const { fp } = request.params;
      const found = isFp("patient", fp) ? await findPatient(store, keyOf(request).clinic_id, fp) : undefined;
      if (found === undefined || (concealUnconnected && !found.connected)) {
        throw notFound("patient", "Patient", fp);
      }
      if (!found.connected) throw new ApiError("PATIENT.ACCESS_DENIED", `patient ${fp}`);
      return { success: true, data: found.patient, message: "OK" };
    },
  );
}
