import { parentPort } from "node:worker_threads";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { ReportContext, ReportedStudy } from "../types/results/report.ts";
import { type ControlMonth, controlReport } from "./control-report.ts";
import { renderPdf } from "./pdf.ts";
import { studyReport } from "./study-report.ts";

// Thread that makes one PDF at a time (see pdf-thread.ts).

/** A study, or the controls of a device in a month. */
export type PdfRequest = StudyRequest | { readonly controls: ControlMonth };

export interface StudyRequest {
  readonly study: ReportedStudy;
  readonly context: ReportContext;
}
export type PdfResult = { readonly pdf: Uint8Array } | { readonly error: string };

parentPort?.on("message", (request: PdfRequest) => {
  void renderPdf("study" in request ? studyReport(request.study, request.context) : controlReport(request.controls))
    .then((pdf): PdfResult => ({ pdf }))
    .catch((error: unknown): PdfResult => ({ error: errorMessage(error) }))
    .then((result) => parentPort?.postMessage(result));
});
