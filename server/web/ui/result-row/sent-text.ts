import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import type { SentValue } from "../../../../shared/clinical/units/value-text.ts";

/** Prints a value as the device sent it. */
export function sentText({ value, unit }: Pick<SentValue, "value" | "unit">): string {
  return `${value} ${unitText(unit ?? "")}`.trimEnd();
}
