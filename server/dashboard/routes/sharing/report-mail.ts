import type { Language } from "../../../../shared/api/language.ts";
import { printable } from "../../../../shared/runtime/printable.ts";
import type { Mail } from "../../../operations/mail/smtp.ts";

// The e-mail with a report. The clinic's name is all that it says besides the attachment.

const words = {
  subject: ["Laboratory report from {clinic}", "{clinic}: laboratuvar raporu"],
  text: [
    "Hello,\n\n{clinic} sends you the attached laboratory report. If you have questions, please ask the clinic.\n\n{clinic}\n",
    "Merhaba,\n\n{clinic} size ekteki laboratuvar raporunu gönderiyor. Sorularınız için lütfen kliniğe başvurun.\n\n{clinic}\n",
  ],
} as const;

export function reportMail(
  to: string,
  {
    clinicName,
    language,
    report,
  }: { clinicName: string; language: Language; report: { name: string; content: Buffer } },
): Mail {
  const clinic = printable(clinicName);
  const text = (name: keyof typeof words) =>
    words[name][language === "tr" ? 1 : 0].replaceAll("{clinic}", () => clinic);
  return {
    ...{ to, subject: text("subject"), text: text("text"), senderName: clinic },
    attachment: { name: report.name, type: "application/pdf", content: report.content },
  };
}
