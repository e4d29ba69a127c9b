import { parentPort } from "node:worker_threads";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { ReportContext, ReportedStudy } from "../types/results/report.ts";
import { renderPdf } from "./pdf.ts";
import { studyReport } from "./study-report.ts";

// Thread that makes the PDF of one study at a time (see pdf-thread.ts).

export interface PdfRequest {
  readonly study: ReportedStudy;
  readonly context: ReportContext;
}
export type PdfResult = { readonly pdf: Uint8Array } | { readonly error: string };

parentPort?.on("message", ({ study, context }: PdfRequest) => {
  void renderPdf(studyReport(study, context))
    .then((pdf): PdfResult => ({ pdf }))
    .catch((error: unknown): PdfResult => ({ error: errorMessage(error) }))
    .then((result) => parentPort?.postMessage(result));
});
