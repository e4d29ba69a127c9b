import { DateTime } from "luxon";
import type { ReportQuery, StudyPage } from "../types/results/results.ts";
import { reportWord } from "./report-text.ts";

/** The start of an animal's name that the name of a file has. No character is cut in half. */
const NAME = /^.{1,60}/u;

/** Names the file of a report by animal, day and kind: `Karabaş 2026-11-28 Hematoloji.pdf`. */
export function reportFileName(study: StudyPage, { language, zone }: ReportQuery): string {
  // Other characters are a path, a quote or a control character on some system.
  const animal = (study.patient?.name ?? study.device_name)
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{M}\p{N} _-]+/gu, " ");
  const day = DateTime.fromISO(study.acquired_at, { zone }).toISODate() ?? "";
  const [name = ""] = NAME.exec(animal.replaceAll(/\s+/g, " ").trim()) ?? [];
  return `${[name.trim(), day, reportWord(language, study.modality)].filter(Boolean).join(" ")}.pdf`;
}

/** The header of a download (RFC 6266): an ASCII name for old programs, and the name itself. */
export function attachment(name: string): string {
  const ascii = name
    .replaceAll("ı", "i")
    .normalize("NFKD")
    .replaceAll(/[^\x20-\x7e]+/g, "");
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return ascii === name && !name.includes(" ")
    ? `attachment; filename="${name}"`
    : `attachment; filename="${ascii.replaceAll(/["\\]/g, "")}"; filename*=UTF-8''${encoded}`;
}
