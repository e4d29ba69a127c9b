import type { FastifyInstance } from "fastify";
import { isFp } from "../../shared/api/fp.ts";
import { Soap } from "../../shared/api/soap.ts";
import { ApiError } from "../http/errors.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { keyOf } from "../http/request-context.ts";
import { findSoap } from "../records/soap/soap.ts";
import { EnvelopeOf, type RouteContext } from "./context.ts";
import { notFound } from "../http/query-parameters.ts";

// GET /api/v1/soap/{fp}.

const SoapEnvelope = EnvelopeOf(Soap, "SoapEnvelope");

const get = {
  operationId: "getSoapRecord",
  summary: "Get a SOAP record",
  description:
    "An examination record, visible to every clinic that is connected to its patient. A signed record is immutable, a " +
    "correction is a new one. The error codes are those of the patients.",
  header: "authorization",
  // The published permissions lack clinic.soap.view, so clinic.patient.view opens the endpoint too.
  permissions: ["clinic.patient.view", "clinic.soap.view"],
  fp: "soap",
  example: { success: true, data: exampleOf.soap },
  errors: ["PATIENT.NOT_FOUND", "PATIENT.ACCESS_DENIED"],
} satisfies Operation;

export function soapRoutes(app: FastifyInstance, { store, concealUnconnected }: RouteContext): void {
  app.get<{ Params: { fp: string } }>(
    "/api/v1/soap/:fp",
    { schema: { response: { 200: SoapEnvelope } }, config: get },
    async (request) => {
      const { fp } = request.params;
      const found = isFp("soap", fp) ? await findSoap(store, keyOf(request).clinic_id, fp) : undefined;
      // No error code is specific to SOAP records.
      if (found === undefined || (concealUnconnected && !found.connected)) {
        throw notFound("soap", "SOAP record", fp);
      }
      if (!found.connected) throw new ApiError("PATIENT.ACCESS_DENIED", `the patient of ${fp}`);
      return { success: true, data: found.soap };
    },
  );
}
