import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import type { DeviceCode } from "../../../dashboard/types/results/codes.ts";

/** Prints the last value of a code with its unit. */
export function printedValue({ value, unit }: Pick<DeviceCode, "value" | "unit">): string {
  return [value ?? "–", unitText(unit ?? "")].join(" ").trim();
}
