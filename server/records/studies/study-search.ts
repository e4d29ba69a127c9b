import type { PatientHint, Result, StudySource } from "../../../shared/api/study.ts";

// Facts of a study that the dashboard's list filters and searches by. They have columns of their own, because a database would
// read the complete results of each study.

/** 0: no value outside its interval and no abnormal word, 1: some, 2: a critical one. */
export type Severity = 0 | 1 | 2;

/** Returns the worst flag of the results. An abnormal word counts as a value outside its interval. */
export function severityOf(results: readonly Pick<Result, "flag" | "abnormal">[]): Severity {
  if (results.some(({ flag }) => flag === "critical")) return 2;
  return results.some(({ flag, abnormal }) => flag === "low" || flag === "high" || abnormal === true) ? 1 : 0;
}

/** Folds letter case and accents, so that KARABAŞ, Karabaş and karabas are equal. The Turkish dotless i is an i. */
export function folded(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase().replaceAll("ı", "i").normalize("NFKC").trim();
}

/** Returns the folded words by which a study is found, as a JSON list: sample numbers, and the device's words for the patient. */
export function searchWords(source: StudySource | null, hint: PatientHint | null): string | null {
  const words = [...(source?.sample_ids ?? []), hint?.identifier ?? "", hint?.name ?? ""].map(folded);
  const known = [...new Set(words)].filter((word) => word !== "");
  return known.length === 0 ? null : JSON.stringify(known);
}

/** Makes the LIKE pattern that finds a word with this prefix among `searchWords`. `!` escapes. */
export function searchPattern(text: string): string {
  return `%${likeText(JSON.stringify(folded(text)).slice(0, -1))}%`;
}

/** Escapes a text for LIKE with the escape character `!`. */
export function likeText(text: string): string {
  return text.replaceAll(/[!%_]/g, "!$&");
}

/** Whether a name, or a word of it, starts with the folded text. */
export function isNameLike(name: string, begin: string): boolean {
  const whole = ` ${folded(name)}`;
  return whole.includes(` ${begin}`);
}
