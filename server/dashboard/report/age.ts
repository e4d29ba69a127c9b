import { DateTime } from "luxon";
import type { ReportQuery } from "../types/results/results.ts";

/** The age at an instant in years and months; of a young animal in weeks or days. Empty for a birth after the instant. */
export function ageText(born: string, at: string, { language, zone }: ReportQuery): string {
  const [birth, day] = [DateTime.fromISO(born, { zone }), DateTime.fromISO(at, { zone }).startOf("day")];
  const parts = day.diff(birth, ["years", "months", "days"]);
  if (!parts.isValid || day < birth) return "";
  const days = Math.floor(day.diff(birth, "days").days);
  const counts =
    parts.years > 0 || parts.months >= 3
      ? [count(parts.years, "year", "yıl", language), count(parts.months, "month", "ay", language)]
      : days >= 14
        ? [count(Math.floor(days / 7), "week", "hafta", language)]
        : [`${days} ${language === "tr" ? "gün" : days === 1 ? "day" : "days"}`];
  return counts.filter((text) => text !== "").join(" ");
}

function count(number: number, english: string, turkish: string, language: ReportQuery["language"]): string {
  if (number === 0) return "";
  return language === "tr" ? `${number} ${turkish}` : `${number} ${english}${number === 1 ? "" : "s"}`;
}
