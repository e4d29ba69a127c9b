import type { Comparator } from "../api/study.ts";

// A result's value and its range as devices write them. What is no number is a reason, never 0.

export type ReadValue =
  | { readonly is: "number"; readonly value: number; readonly comparator: Comparator | null; readonly text: string }
  | { readonly is: "ordinal"; readonly rank: number; readonly text: string }
  | { readonly is: "none"; readonly reason: string };

/** Longer than any printed number or strip's word; what is longer is a text, not a value. */
const TEXT_MAX = 64;

/** Ranks of urine pads. "Positive" has none: it does not say how much. */
const ORDINALS: ReadonlyMap<string, number> = new Map([
  ...["neg", "negative", "norm", "normal"].map((word) => [word, 0] as const),
  ...["trace", "tr", "+-", "+/-", "±"].map((word) => [word, 0.5] as const),
  ...[1, 2, 3, 4].flatMap((rank) => [`${rank}+`, `+${rank}`, "+".repeat(rank)].map((word) => [word, rank] as const)),
]);

/**
 * A value as the device wrote it. With `decimalComma` 7,41 is 7.41 (ASTM, HL7); without it a comma is no part of a
 * number, but an exponent is (POCT1-A). `suffix` is what the profile knows to follow a number: without it `23c` is none.
 */
export function readValue(text: string, options: { decimalComma: boolean; suffix?: RegExp }): ReadValue {
  if (text.length > TEXT_MAX)
    return { is: "none", reason: `a value of ${text.length} characters, at most ${TEXT_MAX}` };
  const written = text.trim();
  const [first = "", ...components] = written.split("^");
  // `neg^` is one component and an empty one; two that are filled are not one value.
  if (components.some((component) => component.trim() !== "")) return none(written);
  // VetScan and piccolo mark a value outside their range with * and one above the linear range with @.
  const bare = first.replace(/[\s*@]+$/, "").trim();
  if (bare === "") return none(written);
  const rank = ORDINALS.get(bare.toLowerCase());
  if (rank !== undefined) return { is: "ordinal", rank, text: written };
  const [, sign = "", digits = ""] = /^(<=|>=|<|>|≤|≥)?\s*(.*)$/su.exec(bare) ?? [];
  const value = number(options.suffix === undefined ? digits : digits.replace(options.suffix, "").trim(), options);
  return value === null ? none(written) : { is: "number", value, comparator: comparator(sign), text: written };
}

function none(written: string): ReadValue {
  return { is: "none", reason: written === "" ? "no value" : `${JSON.stringify(written)} is not a number` };
}

function comparator(sign: string): Comparator | null {
  switch (sign) {
    case "<":
    case ">":
    case "<=":
    case ">=":
      return sign;
    case "≤":
      return "<=";
    case "≥":
      return ">=";
    default:
      return null;
  }
}

/** `.5` is a number, `5.` may have lost a digit; 12 digits a side are more than any analyzer prints. */
const DECIMAL = /^[-+]?(\d{1,12}(\.\d{1,12})?|\.\d{1,12})$/;
const REAL = /^[-+]?(\d{1,12}(\.\d{1,12})?|\.\d{1,12})([eE][-+]?\d{1,2})?$/;

/** 12,345 may be twelve thousand: what the catalogue has with three decimals (pH, specific gravity, PCT) is below 10. */
const THOUSANDS = /^[-+]?[1-9]\d{1,2},\d{3}$/;

function number(digits: string, { decimalComma }: { decimalComma: boolean }): number | null {
  const ascii = digits.replace("\u2212", "-");
  if (!decimalComma) return REAL.test(ascii) ? Number(ascii) : null;
  if (THOUSANDS.test(ascii)) return null;
  const decimal = dotted(ascii);
  return DECIMAL.test(decimal) ? Number(decimal) : null;
}

/**
 * The range a device printed, `text` with its digits as `lo-hi`, or `<hi` and `>lo` where it has one bound.
 * Null where it is none: `-`, empty, prose, bounds in the wrong order.
 */
export function readRange(text: string): { low: number | null; high: number | null; text: string } | null {
  if (text.length > TEXT_MAX) return null;
  const [first = "", second = ""] = text.split("^").map((component) => component.trim());
  const plain = first.replace(/[\u2010-\u2015\u2212]/g, "-").trim();
  const oneBound = /^(<=|>=|<|>|≤|≥)\s*(\S+)$/.exec(plain);
  if (oneBound !== null) return bounded(oneBound[1] ?? "", oneBound[2] ?? "");
  // A dash after position 0 parts the bounds: -5.2-3.8.
  const bounds =
    /^\[\s*([^;]*?)\s*;\s*([^;]*?)\s*\]$/.exec(plain) ??
    /^(\S+)\s+to\s+(\S+)$/i.exec(plain) ??
    /^(-?[^-\s]+)\s*-\s*(-?[^-\s]+)$/.exec(plain) ??
    /^(\S+)\^(\S+)$/.exec(`${first}^${second}`);
  if (bounds === null) return null;
  const [, low = "", high = ""] = bounds;
  if (low === "") return bounded("<", high);
  if (high === "") return bounded(">", low);
  const lower = bound(low);
  const upper = bound(high);
  if (lower === null || upper === null || lower >= upper) return null;
  return { low: lower, high: upper, text: `${dotted(low)}-${dotted(high)}` };
}

function bounded(sign: string, digits: string): { low: number | null; high: number | null; text: string } | null {
  const only = bound(digits);
  if (only === null) return null;
  return sign.startsWith("<") || sign === "≤"
    ? { low: null, high: only, text: `<${dotted(digits)}` }
    : { low: only, high: null, text: `>${dotted(digits)}` };
}

/** No protocol is known here, so 1,234 is neither: without a range of the device the catalogue's holds. */
function bound(digits: string): number | null {
  return /^[-+]?[1-9]\d{0,2},\d{3}$/.test(digits) ? null : number(digits, { decimalComma: true });
}

function dotted(digits: string): string {
  return digits.replace(",", ".").replace("\u2212", "-");
}
