import type { Language } from "../../../shared/api/language.ts";
import type { Session } from "../../database/query.ts";
import { ApiError } from "../../http/errors.ts";
import { readUnits } from "../../records/clinics/unit-choice.ts";
import { loadReportContext } from "../../records/results/report-context.ts";
import { readStudyPage } from "../../records/results/study-page.ts";
import { PdfThread } from "./pdf-thread.ts";

/** @returns a maker of PDFs of filed studies; null for a study that the clinic does not read, or that is too long for a report */
export function studyReports(session: Session, now: () => number) {
  const pdfs = new PdfThread();
  return async ({ clinicId, fp, language, zone }: Asked): Promise<Uint8Array | null> => {
    const study = await readStudyPage(session, clinicId, fp, await readUnits(session, clinicId));
    if (study === undefined) return null;
    const context = await loadReportContext(session, { clinicId, study, language, zone, now: now() });
    try {
      return await pdfs.make({ study, context });
    } catch (error) {
      if (error instanceof ApiError && error.code !== "SERVER.UNAVAILABLE") return null;
      throw error;
    }
  };
}

interface Asked {
  readonly clinicId: number;
  readonly fp: string;
  readonly language: Language;
  readonly zone: string;
}
