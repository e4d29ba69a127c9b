import type { Comparator } from "../../api/study.ts";

// Reads values and ranges as devices print them. Text without a value becomes a reason, because a 0 in its place would be
// flagged low.

export type ReadValue =
  | {
      readonly is: "number";
      readonly value: number;
      readonly comparator: Comparator | null;
      readonly text: string;
      /** The marks around the number, such as `*`. Absent without any. */
      readonly marks?: string;
    }
  | { readonly is: "ordinal"; readonly rank: number; readonly text: string }
  /** A value that is not one number: `Positive`, `5-10`, `1/400`, `(+)`. */
  | { readonly is: "word"; readonly text: string }
  /** No value: the text is empty, a placeholder such as `HEM` or `**.*`, or too long. */
  | { readonly is: "none"; readonly reason: string };

/** Max characters of a number. */
const TEXT_MAX = 64;
/** Max characters of a value in words. Longer text is not a value. */
export const WORDS_MAX = 200;
/** Words in place of a value. VetScan prints HEM, LIP or ICT if hemolysis, lipemia or icterus suppresses the value. */
const NO_VALUE =
  /^([-+]?inf(inity)?|invalid|err(or)?|no (result|value|data|sample)|n[./]?a|null|nan|not (measured|tested|available|done)|hem|lip|ict)\b/i;

/** Ranks of urine pads. "Positive" has none, since it names no amount. */
const ORDINALS: ReadonlyMap<string, number> = new Map([
  ...["neg", "negative", "norm", "normal"].map((word) => [word, 0] as const),
  ...["trace", "tr", "trace-lysed", "trace-intact", "eser", "spur", "+-", "+/-", "±"].map(
    (word) => [word, 0.5] as const,
  ),
  ...["small", "moderate", "large"].map((word, index) => [word, index + 1] as const), // Clinitek in the words of its strips
  ...[1, 2, 3, 4].flatMap((rank) => [`${rank}+`, `+${rank}`, "+".repeat(rank)].map((word) => [word, rank] as const)),
]);

/** The amount that a strip reader prints beside the grade: `100`, `ca. 50`, `>=1000`, and its unit. */
const AMOUNT = /^(?:ca\.? ?)?(?:[<>]=?|[≤≥])?\d{1,6}(?:[.,]\d{1,4})?(?: ?[\p{L}%/µμ][^\s+]{0,15})?$/u;

/**
 * Returns the rank of a pad's grade, alone or with its amount or a second writing of it: `2+ 100 mg/dL`, `1+ (25)`, `NEG(-)`, `- 0`.
 * A grade in brackets alone stays a word.
 */
function rankOf(text: string): number | undefined {
  const written = text.toLowerCase();
  const [first = "", ...others] = written.split(/[\s()]+/).filter(Boolean);
  const rank = ORDINALS.get(first.replace(/\.$/, ""));
  if (others.length === 0) return written === first ? rank : undefined;
  const ofDash = first === "-" ? 0 : rank;
  if (ofDash === undefined) return undefined;
  const isSame = others.every((other) => other !== first && (other === "-" ? 0 : ORDINALS.get(other)) === ofDash);
  return isSame || AMOUNT.test(others.join(" ")) ? ofDash : undefined;
}

/** Marks that a device writes before or after a number. VetScan and piccolo: `*` outside the range, `@` above the linear range. */
const MARKED = /^([*?!@#$]*)\s*(.*?)\s*([*?!@#$\s]*)$/su;

/**
 * Reads a printed value. A text that is neither a number nor a placeholder is a word, so that nothing is lost and nothing is
 * guessed. With `decimalComma` 7,41 is 7.41 (ASTM, HL7). Without it a number has no comma (POCT1-A). `suffix` is what a profile
 * allows after a number, as in `23c`.
 */
export function readValue(text: string, options: { decimalComma: boolean; suffix?: string }): ReadValue {
  const written = text.trim();
  if (written.length > TEXT_MAX) return words(written);
  const [first = "", ...components] = written.split("^");
  // `neg^` is a component and an empty one. Two components with text, such as grade and score, are not one value.
  if (components.some((component) => component.trim() !== "")) return words(written);
  const [, before = "", bare = "", after = ""] = MARKED.exec(first) ?? [];
  const marks = before + after.replace(/\s+/g, "");
  const rank = before === "" ? rankOf(bare) : undefined;
  if (rank !== undefined) return { is: "ordinal", rank, text: written };
  const [, sign = "", digits = ""] = /^(<=|>=|<|>|≤|≥)?\s*(.*)$/su.exec(bare) ?? [];
  const value = number(withoutSuffix(digits, options.suffix), options);
  if (value === null) return words(written);
  return { is: "number", value, comparator: comparator(sign), text: written, ...(marks === "" ? {} : { marks }) };
}

function withoutSuffix(digits: string, suffix: string | undefined): string {
  return suffix !== undefined && digits.endsWith(suffix) ? digits.slice(0, -suffix.length).trim() : digits;
}

/** A grade in brackets: `(+)`, `[++]`, `(-)`. */
const BRACKETED = /^[([]\s*(?:\+{1,4}|[-\u2212±]|\+\/?-)\s*[)\]]$/u;

/** Returns whether a text replaces a value: it is empty, a known placeholder, or has neither letter nor digit nor a grade. */
function isPlaceholder(text: string): boolean {
  if (NO_VALUE.test(text)) return true;
  return (
    !/[\p{L}\p{N}]/u.test(text) && !BRACKETED.test(text) && !/^[-/\s]*\+{1,4}(?:[-/\s]+\+{1,4})*[-/\s]*$/.test(text)
  );
}

function words(written: string): ReadValue {
  if (written.length > WORDS_MAX) {
    return { is: "none", reason: `a value of ${written.length} characters, at most ${WORDS_MAX}` };
  }
  const text = written.replace(/\^+$/, "").trim();
  return isPlaceholder(text) ? none(written) : { is: "word", text };
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

/** `.5` is a number; `5.` may lack a digit. No analyzer prints more than 12 digits on a side. `1.2E3` is 1200. */
const DECIMAL = /^[-+]?(\d{1,12}(\.\d{1,12})?|\.\d{1,12})([eE][-+]?\d{1,2})?$/;

/** 12,345 may be twelve thousand. Analytes with three decimals (pH, specific gravity, PCT) are below 10. */
const THOUSANDS = /^[-+]?[1-9]\d{1,2},\d{3}$/;

function number(digits: string, { decimalComma }: { decimalComma: boolean }): number | null {
  const ascii = digits.replace("\u2212", "-");
  if (decimalComma && (THOUSANDS.test(ascii) || /,\d{3}e/i.test(ascii))) return null;
  const decimal = decimalComma ? dotted(ascii) : ascii;
  return DECIMAL.test(decimal) ? Number(decimal) : null;
}

/** Returns a range without the brackets around it. */
function withoutBrackets(range: string): string {
  const [, round, square] = /^(?:\(([^()]+)\)|\[([^[\];]+)\])$/.exec(range) ?? [];
  return (round ?? square ?? range).trim();
}

/**
 * Reads a printed range. `text` is `lo-hi` with the printed digits, or `<hi` or `>lo` for a single bound.
 * @returns null for other text, such as `-`, and for bounds in the wrong order
 */
export function readRange(text: string): { low: number | null; high: number | null; text: string } | null {
  if (text.length > TEXT_MAX) return null;
  const [first = "", second = ""] = text.split("^").map((component) => component.trim());
  const plain = withoutBrackets(first.replace(/[\u2010-\u2015\u2212]/g, "-").trim());
  const oneBound = /^(<=|>=|<|>|≤|≥)\s*(\S+)$/.exec(plain);
  if (oneBound !== null) return bounded(oneBound[1] ?? "", oneBound[2] ?? "");
  // A dash after position 0 separates the bounds: -5.2-3.8.
  const bounds =
    /^\[\s*([^;]*?)\s*;\s*([^;]*?)\s*\]$/.exec(plain) ??
    /^(\S+)\s+to\s+(\S+)$/i.exec(plain) ??
    /^([\d.,]*\d)\s*(?:\.{2,3}|…)\s*(\d[\d.,]*)$/.exec(plain) ??
    /^([^\s~\uff5e]+)\s*[~\uff5e]\s*([^\s~\uff5e]+)$/.exec(plain) ?? // Chinese makers: 0~5
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

/** Returns the bounds of a result's `reference_range`. Both are null without one. */
export function boundsOf(range: string | null): { low: number | null; high: number | null } {
  const { low = null, high = null } = (range === null ? null : readRange(range)) ?? {};
  return { low, high };
}

function bounded(sign: string, digits: string): { low: number | null; high: number | null; text: string } | null {
  const only = bound(digits);
  if (only === null) return null;
  return sign.startsWith("<") || sign === "≤"
    ? { low: null, high: only, text: `<${dotted(digits)}` }
    : { low: only, high: null, text: `>${dotted(digits)}` };
}

/** Reads a bound. 1,234 is ambiguous without a protocol, so it is null and the catalogue's interval applies. */
function bound(digits: string): number | null {
  return /^[-+]?[1-9]\d{0,2},\d{3}$/.test(digits) ? null : number(digits, { decimalComma: true });
}

function dotted(digits: string): string {
  return digits.replace(",", ".").replace("\u2212", "-");
}
