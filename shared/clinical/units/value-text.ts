import type { Result } from "../../api/study.ts";

/** Prints a value as it was sent: words, a rank such as `2+`, or a number with its comparator. */
export function valueText({
  value,
  value_text,
  comparator,
}: Pick<Result, "value" | "value_text" | "comparator">): string {
  return value_text ?? (value === null ? "" : `${comparator ?? ""}${value}`);
}

/** A result as the API has it: the unit is a code of the catalogue, or the device's own word. */
export interface SentValue {
  value: string;
  unit: string | null;
  reference_range: string | null;
}

export function sentValue(result: Result): SentValue {
  const { unit, reference_range } = result;
  return { value: valueText(result), unit, reference_range };
}
