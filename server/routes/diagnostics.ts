import type { FastifyInstance } from "fastify";
import { isFp } from "../../shared/api/fp.ts";
import { Study } from "../../shared/api/study.ts";
import { ApiError } from "../http/errors.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { keyOf } from "../http/request-context.ts";
import { findStudy } from "../store/studies/studies.ts";
import { EnvelopeOf, type RouteContext } from "./context.ts";
import { notFound } from "../http/query-parameters.ts";

// GET /api/v1/lab/diagnostics/{fp}.

const StudyEnvelope = EnvelopeOf(Study, "StudyEnvelope");

const get = {
  operationId: "getDiagnosticStudy",
  summary: "Get a diagnostic study",
  description:
    "A lab or imaging study, visible to every clinic that is connected to its patient. An imaging study has no results. " +
    "The error codes are those of the patients.",
  header: "authorization",
  // The published permissions lack clinic.lab.view, so clinic.patient.view opens the endpoint too.
  permissions: ["clinic.patient.view", "clinic.lab.view"],
  fp: "cds",
  example: { success: true, data: exampleOf.study },
  errors: ["PATIENT.NOT_FOUND", "PATIENT.ACCESS_DENIED"],
} satisfies Operation;

export function diagnosticRoutes(app: FastifyInstance, { store, concealUnconnected }: RouteContext): void {
  app.route<{ Params: { fp: string } }>({
    method: "GET",
    url: "/api/v1/lab/diagnostics/:fp",
    schema: { response: { 200: StudyEnvelope } },
    config: get,
    handler: async (request) => {
      const { fp } = request.params;
      const found = isFp("cds", fp) ? await findStudy(store, keyOf(request).clinic_id, fp) : undefined;
      if (found === undefined || (concealUnconnected && !found.connected)) {
        throw notFound("cds", "Diagnostic study", fp);
      }
      // The message leaves out the patient's fp, which is part of the study.
      if (!found.connected) throw new ApiError("PATIENT.ACCESS_DENIED", `the patient of ${fp}`);
      return { success: true, data: found.study };
    },
  });
}
