import { DateTime } from "luxon";
import type { ReportQuery } from "../types/results/results.ts";

/** The age at an instant in years and months; of a young animal in weeks or days. Empty for a birth after the instant. */
export function ageText(born: string, at: string, { language, zone }: ReportQuery): string {
  const [birth, day] = [DateTime.fromISO(born, { zone }), DateTime.fromISO(at, { zone }).startOf("day")];
  const parts = day.diff(birth, ["years", "months", "days"]);
  if (!parts.isValid || day < birth) return "";
  if (parts.years > 0 || parts.months >= 3) {
    const years = parts.years === 0 ? [] : [count(parts.years, "year", "yıl", language)];
    const months = parts.months === 0 ? [] : [count(parts.months, "month", "ay", language)];
    return [...years, ...months].join(" ");
  }
  const days = Math.floor(day.diff(birth, "days").days);
  return days < 14 ? count(days, "day", "gün", language) : count(Math.floor(days / 7), "week", "hafta", language);
}

function count(number: number, english: string, turkish: string, language: ReportQuery["language"]): string {
  return language === "tr" ? `${number} ${turkish}` : `${number} ${english}${number === 1 ? "" : "s"}`;
}
