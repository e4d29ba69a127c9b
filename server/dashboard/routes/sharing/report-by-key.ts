import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isFp } from "../../../../shared/api/fp.ts";
import { VERSION } from "../../../../shared/files/program-files.ts";
import { attachment, reportFileName } from "../../report/file-name.ts";
import { PdfThread } from "../../report/pdf-thread.ts";
import type { Store } from "../../../database/store.ts";
import { refuse } from "../../refuse.ts";
import { reportedOf } from "../../types/results/report.ts";
import type { StudyPage } from "../../types/results/results.ts";
import { ApiError } from "../../../http/errors.ts";
import type { Operation } from "../../../http/openapi/document.ts";
import { choice, notFound, readParameters } from "../../../http/query-parameters.ts";
import { keyOf } from "../../../http/request-context.ts";
import { isUnchanged, weakEtag } from "../../../http/response-cache/response-cache.ts";
import { watchedClinic } from "../../../records/alerts/alerts.ts";
import { readUnits } from "../../../records/clinics/unit-choice.ts";
import { loadReportContext } from "../../../records/results/report-context.ts";
import { readStudyPage } from "../../../records/results/study-page.ts";
import { refusalOfSharing } from "../../../records/sharing/share-refusal.ts";
import { findStudy } from "../../../records/studies/studies.ts";

// GET /api/v1/lab/diagnostics/{fp}/report.pdf: the owner's report of the dashboard, without the owner.

const parameters = { language: choice(["en", "tr"], "Language of the report. By default the clinic's.") };

const report = {
  operationId: "getDiagnosticStudyReport",
  summary: "Get the report of a diagnostic study as PDF",
  description:
    "An addition to the published specification. The report for the animal's owner that the dashboard makes, with the clinic's " +
    "head, units and time zone, and without the owner: /api/v1 serves no data of owners. A study that the clinic may not " +
    "share is refused with 409, and `details.code` names the reason: `SHARE.UNMATCHED` (it waits for its patient), " +
    "`SHARE.REJECTED`, `SHARE.CONFLICT` (a contradicting result waits for a person) or `SHARE.PENDING` (tests of its order " +
    "still run). The `ETag` is weak: it names the facts of the report, not the time at which the file was made. One report " +
    "is made at a time; 503 means that many wait.",
  header: "authorization",
  permissions: ["clinic.patient.view", "clinic.lab.view"],
  fp: "cds",
  parameters,
  contentType: "application/pdf",
  headers: ["Content-Disposition"],
  example: "%PDF-1.7",
  errors: ["PATIENT.NOT_FOUND", "PATIENT.ACCESS_DENIED", "RECORD.REFUSED"],
} satisfies Operation;

interface Context {
  readonly store: Store;
  readonly now: () => number;
  readonly concealUnconnected: boolean;
}

const Pdf = Type.String({ contentMediaType: "application/pdf", description: "The file." });

export function reportByKey(app: FastifyInstance, { store, now, concealUnconnected }: Context): void {
  // Its own thread: what programs request keeps no user of a clinic waiting.
  const pdfs = new PdfThread();

  /** The study as the clinic's own page shows it. @throws ApiError as the endpoint of the study does */
  async function readStudy(request: FastifyRequest, fp: string): Promise<StudyPage> {
    const { clinic_id: clinicId } = keyOf(request);
    if (!isFp("cds", fp)) throw notFound("cds", "Diagnostic study", fp);
    const page = await readStudyPage(store, clinicId, fp, await readUnits(store, clinicId));
    if (page !== undefined) return page;
    const hidden = await findStudy(store, clinicId, fp);
    if (hidden === undefined || concealUnconnected) throw notFound("cds", "Diagnostic study", fp);
    throw new ApiError("PATIENT.ACCESS_DENIED", `the patient of ${fp}`);
  }

  app.get<{ Params: { fp: string } }>(
    "/api/v1/lab/diagnostics/:fp/report.pdf",
    { schema: { response: { 200: Pdf } }, config: report },
    async (request, reply) => {
      const { language: chosen } = readParameters(request, parameters);
      const study = await readStudy(request, request.params.fp);
      const { clinic_id: clinicId } = keyOf(request);
      const refused = await refusalOfSharing(store, { clinicId, study, now: now() });
      if (refused !== null) refuse(refused);
      const clinic = await watchedClinic(store, clinicId);
      const asked = { language: chosen ?? clinic.language ?? "en", zone: clinic.timeZone ?? "UTC" };
      const context = await loadReportContext(store, { ...asked, clinicId, study, now: now(), hidesOwner: true });
      const reported = reportedOf(study);
      const etag = weakEtag(JSON.stringify([VERSION, reported, { ...context, now: null }]));
      if (isUnchanged(request, etag)) return reply.header("etag", etag).code(304).send();
      // A refusal because of too many reports has no ETag.
      const content = await pdfs.make({ study: reported, context });
      return reply
        .type("application/pdf")
        .header("etag", etag)
        .header("content-disposition", attachment(reportFileName(study, asked)))
        .send(content);
    },
  );
}
