import type { NotComparable } from "../../../../shared/clinical/compare/compare.ts";
import { translations } from "../../text.ts";

// Words for the reasons why two results have no difference.

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
