// Decimal signs of a file. 1,234 is twelve hundred for one program and a little more than one for another, and the file has to show
// which.

/** The signs with which a file writes numbers. */
export interface DecimalSigns {
  /** A comma may be the decimal sign. */
  readonly comma: boolean;
  /** The profile states the sign, or a value that can be read in one way only shows it. */
  readonly isCertain: boolean;
}

/** One comma with one, two or more than three digits after it: it separates no thousands. */
const DECIMAL_COMMA = /^\D*\d+,(?:\d{1,2}|\d{4,})\D*$/;
const WITH_COMMA = /^[^\p{L}]*\d,\d[^\p{L}]*$/u;
/** Digits in threes, which either sign may separate. */
const IN_THREES = /^\D*[1-9]\d{0,2}(?:[.,]\d{3})+\D*$/;

export function decimalSigns(
  decimal: "auto" | "." | ",",
  hasPointDecimals: boolean,
  values: readonly string[],
): DecimalSigns {
  if (decimal !== "auto") return { comma: decimal === ",", isCertain: true };
  return { comma: !hasPointDecimals, isCertain: values.some((value) => DECIMAL_COMMA.test(value.trim())) };
}

/** Returns the value as the later stages read it, or why it is not a certain number. */
export function certainValue(
  value: string,
  { comma, isCertain }: DecimalSigns,
): { readonly value: string } | { readonly doubt: string } {
  const text = value.trim();
  if (WITH_COMMA.test(text) && !comma) return { doubt: `${text}: a comma is not the decimal sign of this file` };
  if (IN_THREES.test(text) && text.includes(",")) {
    // The later stages read three decimals only for a test that has as many.
    return isCertain ? { value: text } : { doubt: `${text} may be a decimal or thousands` };
  }
  // A file with decimal commas separates thousands with points.
  if (comma && isCertain && IN_THREES.test(text)) return { doubt: `${text} may be a decimal or thousands` };
  return { value: text };
}
