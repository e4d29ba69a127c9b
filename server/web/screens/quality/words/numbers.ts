import type { Target } from "../../../../dashboard/types/quality.ts";

// Numbers of control values. Like values of results they are the same in each language.

type Limits = Pick<Target, "mean" | "sd">;

/** Prints a number with as many decimals as two significant digits of the SD have. */
export function inDigitsOf(value: number, sd: number): string {
  const digits = sd > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(sd)))) : 2;
  return value.toFixed(digits);
}

export function targetText({ mean, sd }: Limits): string {
  return `${inDigitsOf(mean, sd)} ± ${inDigitsOf(sd, sd)}`;
}

/** Prints a z-score with its sign. */
export function signed(z: number): string {
  const text = Math.abs(z).toFixed(1);
  return `${Number(text) === 0 ? "" : z > 0 ? "+" : "−"}${text}`;
}

/** Reads a number as people type it; a comma is a decimal point. @returns null for another text */
export function typedNumber(text: string): number | null {
  const plain = text.trim().replace(",", ".");
  return /^-?\d+(\.\d+)?$/.test(plain) ? Number(plain) : null;
}

/** Where a value lies: within 2 SD, beyond 2 SD, beyond 3 SD. */
export function zoneOf(z: number): "inside" | "off" | "far" {
  const size = Math.abs(z);
  return size > 3 ? "far" : size > 2 ? "off" : "inside";
}
