import type { Result } from "../api/study.ts";
import type { Analyte } from "./analytes/analytes.ts";
import { fold } from "./species.ts";

// The meaning of a qualitative result in the words of devices, in the languages of their screens.

/** Words for a finding that is absent, folded. `Normal` is a pad's word for it. */
const ABSENT = new Set([
  ...["negative", "neg", "negativ", "negatif", "negativo", "negativa", "normal", "norm", "nil", "absent", "ausente"],
  ...["undetected", "nonreactive", "nachweislos", "yok", "saptanmadi", "bulunmadi", "rilevato non"],
  ...["阴性", "陰性", "正常", "未检出"],
]);

/** Words for a finding that is present, folded. */
const PRESENT = new Set([
  ...["positive", "pos", "positiv", "positif", "pozitif", "positivo", "positiva", "present", "presente", "detected"],
  ...["reactive", "reaktiv", "reaktif", "nachweisbar", "nachgewiesen", "detecte", "detectado", "rilevato", "var"],
  ...["saptandi", "bulundu", "阳性", "陽性", "弱阳性", "检出"],
]);

/** Words before a finding that deny it: "not detected", "non reactive", "nicht nachweisbar", "tespit edilmedi". */
const DENIALS = new Set(["no", "not", "non", "none", "nicht", "kein", "keine", "edilmedi"]);

const OF_FINDINGS: readonly ReadonlySet<string>[] = [ABSENT, PRESENT, DENIALS, new Set(["tespit"])];

/**
 * Returns the meaning of a result in words: "absent", "present", or the folded words themselves. Signs are words: `-` and `+`. A
 * number after the word, such as the cut-off index of `Negative (0.12)`, does not change it.
 */
export function meaningOf(text: string): string {
  const signs = text.replace(/[\s()[\]]/g, "");
  if (/^[-\u2010-\u2015\u2212]$/.test(signs)) return "absent";
  if (/^\++$/.test(signs)) return "present";
  const words = fold(text).trim().split(" ");
  const isPresent = words.some((word) => PRESENT.has(word));
  if (words.some((word) => DENIALS.has(word)))
    return words.some((word) => ABSENT.has(word)) ? words.join(" ") : "absent";
  const isAbsent = words.some((word) => ABSENT.has(word));
  if (isAbsent !== isPresent) return isAbsent ? "absent" : "present";
  return words.join(" ");
}

/** Whether a text says no more than that a finding is absent: `nicht nachweisbar`, but not `Sonuç yok`, which is no result. */
export function isAbsentAlone(text: string): boolean {
  const words = fold(text)
    .split(" ")
    .filter((word) => !/^\d*$/.test(word));
  return meaningOf(text) === "absent" && words.every((word) => OF_FINDINGS.some((known) => known.has(word)));
}

/** Whether words are not the expected ones of the analyte. False for an analyte without an expected word. */
export function isAbnormalWord({ expected_word }: Pick<Analyte, "expected_word">, text: string): boolean {
  return expected_word !== undefined && meaningOf(text) !== meaningOf(expected_word);
}

/** Whether words are the expected ones of the analyte, and the device does not doubt them. */
export function isExpectedWord(
  analyte: Pick<Analyte, "expected_word"> | undefined,
  { value, value_text, comment }: Pick<Result, "value" | "value_text" | "comment">,
): boolean {
  if (value !== null || value_text === undefined || comment !== undefined) return false;
  return analyte?.expected_word !== undefined && !isAbnormalWord(analyte, value_text);
}
