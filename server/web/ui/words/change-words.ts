import type { NotComparable } from "../../../../shared/clinical/compare/compare.ts";
import { translations } from "../../text.ts";

// A difference between two results, and in a word why there is none.

/** Prints a difference with its sign; numbers of results are the same in each language. */
export function signed(value: number, digits = 3): string {
  const size = Math.abs(digits === 0 ? Math.round(value) : Number(value.toPrecision(digits)));
  return `${size === 0 ? "" : value < 0 ? "−" : "+"}${size}`;
}

/** The difference of two results that do not compare. */
export function differenceWord(code: NotComparable): string {
  return t(code);
}

export function notComparable(code: NotComparable): string {
  return t("notComparable", { reason: t(code) });
}

const t = translations({
  notComparable: ["not comparable: {reason}", "karşılaştırılamaz: {reason}"],
  comparator: ["a bound", "sınır değer"],
  unit: ["other unit", "başka birim"],
  device: ["other device", "başka cihaz"],
  age: ["growing", "büyüme çağı"],
  interval: ["other interval", "başka aralık"],
});
