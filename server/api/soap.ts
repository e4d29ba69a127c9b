import type { FastifyInstance } from "fastify";
import { isFp } from "../../shared/api/fp.ts";
import { ListedSoap, Soap } from "../../shared/api/soap.ts";
import { ApiError } from "../http/errors.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { syncHeaders } from "../http/openapi/headers.ts";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { walkOf } from "../http/walk.ts";
import { listSoap } from "../records/soap/listed-soap.ts";
import { findSoap } from "../records/soap/soap.ts";
import { EnvelopeOf, LongPageOf, pageOf, type RouteContext } from "./context.ts";
import { syncedPage } from "./walked-page.ts";
import { fingerprint, instant, longPageSize, notFound, readParameters } from "../http/query-parameters.ts";

// GET /api/v1/soap and GET /api/v1/soap/{fp}.

const SoapEnvelope = EnvelopeOf(Soap, "SoapEnvelope");

const SoapPageEnvelope = EnvelopeOf(LongPageOf(ListedSoap, "SoapPage"), "SoapPageEnvelope");

const list = {
  operationId: "listSoapRecords",
  summary: "List SOAP records",
  description:
    "An addition to the published specification. The records of the patients with an active connection to the key's clinic, " +
    "whichever clinic wrote them, in every status, last updated first. A sync job asks with `updated_since`, and follows the " +
    "`Link` header until there is none; its cursors lose nothing, as those of the patients. A record of a patient that the " +
    "clinic was connected to counts as changed then. Those of a patient whose connection ended, and a draft that moved to a " +
    "patient of other clinics, are no longer listed: /api/v1/changes lists them.",
  header: "authorization",
  permissions: ["clinic.patient.view", "clinic.soap.view"],
  parameters: {
    page_size: longPageSize,
    patient_fp: fingerprint(
      "patient",
      "Only records of this patient. One without an active connection to the clinic has none.",
    ),
    updated_since: instant("Only records whose last change became visible at or after this time."),
    after: walkOf("soap"),
  },
  headers: syncHeaders,
  example: { success: true, data: pageOf({ items: [exampleOf.listedSoap], total: 1 }, 1, 20) },
} satisfies Operation;

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

export function soapRoutes(app: FastifyInstance, { store, syncPoints, concealUnconnected }: RouteContext): void {
  app.get("/api/v1/soap", { schema: { response: { 200: SoapPageEnvelope } }, config: list }, async (request, reply) => {
    const parameters = readParameters(request, list.parameters);
    const { page_size: pageSize, patient_fp: patientFp, updated_since, after: walk } = parameters;
    const clinicId = keyOf(request).clinic_id;
    const point = await syncPoints.find(clinicId, updated_since, versionsOf(request).answers);
    const after = walk && { changedAt: Number(walk.key[0]), fp: walk.key[1] };
    const found = await listSoap(store, { clinicId, patientFp, updatedSince: point.from, pageSize, after });
    const last = found.last && ([found.last.changedAt, found.last.fp] as const);
    const place = { list: "soap", last, walk, page: 1, point } as const;
    return { success: true, data: await syncedPage(syncPoints, request, reply, { found, pageSize, ...place }) };
  });

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
