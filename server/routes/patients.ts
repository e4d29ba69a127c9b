import type { FastifyInstance } from "fastify";
import { isFp } from "../../shared/api/fp.ts";
import { Patient } from "../../shared/api/patient.ts";
import { ApiError } from "../http/errors.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { PAGE_INDEXES_MAX, type PageIndex } from "../store/patients/page-index.ts";
import { findPatient, listPatients } from "../store/patients/patients.ts";
import { VersionedCache } from "../store/patients/versioned-cache.ts";
import { EnvelopeWithMessageOf, PageOf, pageOf, type RouteContext } from "./context.ts";
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
    "15 minutes, and follows the pages until `has_more` is false.",
  header: "x-api-key",
  permissions: ["clinic.patient.view"],
  parameters: {
    ...pageParameters,
    species: text(
      "Only this species: `dog`, `cat`, `rabbit`, `bird`, `reptile` or `exotic`. Another value matches nothing.",
    ),
    updated_since: instant("Only patients updated at or after this time."),
  },
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

export function patientRoutes(app: FastifyInstance, { store, concealUnconnected }: RouteContext): void {
  const pageIndexes = new VersionedCache<PageIndex>(PAGE_INDEXES_MAX);

  app.get("/api/v1/patients", { schema: { response: { 200: PatientPageEnvelope } }, config: list }, async (request) => {
    const { page, page_size, species, updated_since } = readParameters(request, list.parameters);
    const filter = {
      clinicId: keyOf(request).clinic_id,
      listed: true,
      species,
      updatedSince: updated_since,
      page,
      pageSize: page_size,
      version: versionsOf(request).lists,
    };
    const found = await listPatients(store, pageIndexes, filter);
    return { success: true, data: pageOf(found, page, page_size), message: "OK" };
  });

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
