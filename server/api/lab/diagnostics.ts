import type { FastifyInstance } from "fastify";
import { isFp } from "../../../shared/api/fp.ts";
import { ListedStudy, ReadStudy } from "../../../shared/api/study.ts";
import { ApiError } from "../../http/errors.ts";
import { exampleOf } from "../../http/openapi/examples.ts";
import type { Operation } from "../../http/openapi/document.ts";
import { syncHeaders } from "../../http/openapi/headers.ts";
import { keyOf, versionsOf } from "../../http/request-context.ts";
import { type Walk, walkOf } from "../../http/walk.ts";
import { findStudy } from "../../records/studies/studies.ts";
import { VersionedCache } from "../../records/patients/versioned-cache.ts";
import { listStudies, PAGE_STARTS_MAX, type PageStart } from "../../records/results/study-list.ts";
import { EnvelopeOf, LongPageOf, pageOf, type RouteContext } from "../context.ts";
import { withCodes } from "./result-codes.ts";
import { syncedPage } from "../walked-page.ts";
import {
  choice,
  fingerprint,
  instant,
  longPageSize,
  notFound,
  pageParameters,
  readParameters,
} from "../../http/query-parameters.ts";

// GET /api/v1/lab/diagnostics and GET /api/v1/lab/diagnostics/{fp}.

const StudyEnvelope = EnvelopeOf(ReadStudy, "StudyEnvelope");

const StudyPageEnvelope = EnvelopeOf(LongPageOf(ListedStudy, "StudyPage"), "StudyPageEnvelope");

const include = choice(
  ["codes"],
  "An addition to the published specification. `codes` adds `loinc` and `ucum` to each result.",
);

const list = {
  operationId: "listDiagnosticStudies",
  summary: "List diagnostic studies",
  description:
    "An addition to the published specification. The filed studies of the patients with an active connection to the key's " +
    "clinic, last updated first. A sync job asks with `updated_since`, and follows the `Link` header until there is none. " +
    "`updated_since=T` returns what became visible at or after T, even if its `updated_at` is a little older, and the " +
    "`updated_at` of a clinic's studies never falls in the order of their changes. So the `Sync-Cursor` of the last answer, " +
    "the time at which it was asked for and its newest `updated_at` all lose nothing, whenever a study was filed or " +
    "connected. A study that a person took back, and those of a patient whose connection ended, are no longer listed: " +
    "/api/v1/changes lists them.",
  header: "authorization",
  permissions: ["clinic.patient.view", "clinic.lab.view"],
  parameters: {
    ...pageParameters,
    page_size: longPageSize,
    patient_fp: fingerprint(
      "patient",
      "Only studies of this patient. One without an active connection to the clinic has none.",
    ),
    updated_since: instant("Only studies whose last change became visible at or after this time."),
    include,
    after: walkOf("studies"),
  },
  headers: syncHeaders,
  example: { success: true, data: pageOf({ items: [exampleOf.listedStudy], total: 1 }, 1, 20) },
} satisfies Operation;

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
  parameters: { include },
  example: { success: true, data: exampleOf.study },
  errors: ["PATIENT.NOT_FOUND", "PATIENT.ACCESS_DENIED"],
} satisfies Operation;

export function diagnosticRoutes(app: FastifyInstance, { store, syncPoints, concealUnconnected }: RouteContext): void {
  const pageStarts = new VersionedCache<PageStart>(PAGE_STARTS_MAX);
  app.get(
    "/api/v1/lab/diagnostics",
    { schema: { response: { 200: StudyPageEnvelope } }, config: list },
    async (request, reply) => {
      const parameters = readParameters(request, list.parameters);
      const { page, page_size: pageSize, patient_fp, updated_since, include: added, after: walk } = parameters;
      const clinicId = keyOf(request).clinic_id;
      const point = await syncPoints.find(clinicId, updated_since, versionsOf(request).answers);
      const filter = {
        clinicId,
        version: versionsOf(request).answers,
        patientFp: patient_fp,
        updatedSince: point.from,
        page,
        pageSize,
        after: walk && { changedAt: Number(walk.key[0]), studyFp: walk.key[1] },
      };
      const found = await listStudies(store, pageStarts, filter);
      const last: Walk["key"] | null = found.last && [found.last.changedAt, found.last.studyFp];
      const data = await syncedPage(syncPoints, request, reply, {
        list: "studies",
        found,
        last,
        walk,
        page,
        pageSize,
        point,
      });
      return { success: true, data: added === null ? data : { ...data, items: data.items.map(withCodes) } };
    },
  );

  app.get<{ Params: { fp: string } }>(
    "/api/v1/lab/diagnostics/:fp",
    { schema: { response: { 200: StudyEnvelope } }, config: get },
    async (request) => {
      const { fp } = request.params;
      const { include: added } = readParameters(request, get.parameters);
      const found = isFp("cds", fp) ? await findStudy(store, keyOf(request).clinic_id, fp) : undefined;
      if (found === undefined || (concealUnconnected && !found.connected)) {
        throw notFound("cds", "Diagnostic study", fp);
      }
      // The message leaves out the patient's fp, which is part of the study.
      if (!found.connected) throw new ApiError("PATIENT.ACCESS_DENIED", `the patient of ${fp}`);
      return { success: true, data: added === null ? found.study : withCodes(found.study) };
    },
  );
}
