import type { Language } from "../../../../shared/api/language.ts";
import type { Session } from "../../../database/query.ts";
import { findClinicName } from "../../../records/clinics/clinics.ts";
import type { PdfThread } from "../../report/pdf-thread.ts";
import type { StudyPage } from "../../types/results/results.ts";

/** Makes the PDF of a study for its owner, as the clinic's own page has it. */
export async function sharedReport(
  session: Session,
  pdfs: PdfThread,
  given: { clinicId: number; study: StudyPage; language: Language; zone: string; now: number },
): Promise<{ name: string; content: Buffer }> {
  const { clinicId, study, language, zone, now } = given;
  const clinicName = await findClinicName(session, clinicId);
  const content = await pdfs.make({ study, context: { language, zone, clinicName, now } });
  return { name: `${study.fp}.pdf`, content };
}
