import type { Language } from "../../../../shared/api/language.ts";
import type { Session } from "../../../database/query.ts";
import { loadReportContext } from "../../../records/results/report-context.ts";
import { reportFileName } from "../../report/file-name.ts";
import type { PdfThread } from "../../report/pdf-thread.ts";
import type { StudyPage } from "../../types/results/results.ts";

/** Makes the PDF of a study for its owner, as the clinic's own page has it. */
export async function sharedReport(
  session: Session,
  pdfs: PdfThread,
  given: { clinicId: number; study: StudyPage; language: Language; zone: string; now: number; hidesOwner?: boolean },
): Promise<{ name: string; content: Buffer }> {
  const { study } = given;
  const content = await pdfs.make({ study, context: await loadReportContext(session, given) });
  return { name: reportFileName(study, given), content };
}
