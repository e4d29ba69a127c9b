// Statistics of the values of one level. Percentages are of the mean or the target at that level.

export interface Statistics {
  readonly runs: number;
  readonly mean: number;
  /** Standard deviation with n - 1. */
  readonly sd: number;
  /** Percent; null for a mean of 0 or below, such as of a base excess. */
  readonly cv: number | null;
}

/** Runs from which a person may accept an own target. */
export const OWN_TARGET_RUNS = 20;

/**
 * Multiples of an SD between which the true SD lies with a probability of 95 %, by chi square with n - 1 degrees of freedom: the
 * roots of (n - 1) / chi square.
 */
const SD_RANGES = [
  { runs: 40, low: 0.82, high: 1.28 },
  { runs: 20, low: 0.76, high: 1.46 },
  { runs: 10, low: 0.69, high: 1.83 },
  { runs: 5, low: 0.6, high: 2.87 },
] as const;

/** @returns null under two values, which have no SD */
export function statisticsOf(values: readonly number[]): Statistics | null {
  const runs = values.length;
  if (runs < 2) return null;
  const mean = meanOf(values);
  const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (runs - 1));
  return { runs, mean, sd, cv: mean > 0 ? (sd / mean) * 100 : null };
}

/**
 * Returns the bias in percent of an outside target: the mean of the sheet or of an external scheme. Against the clinic's own mean it
 * would be 0 by construction.
 * @returns null for a target of 0 or below
 */
export function biasOf(mean: number, outside: number): number | null {
  return outside > 0 ? ((mean - outside) / outside) * 100 : null;
}

/**
 * Returns sigma, (allowable error - |bias|) / CV, all in percent and at one level.
 * @returns null where a part is unknown, or the CV is 0
 */
export function sigmaOf({
  allowable,
  bias,
  cv,
}: {
  readonly allowable: number | null;
  readonly bias: number | null;
  readonly cv: number | null;
}): number | null {
  if (allowable === null || bias === null || cv === null || cv === 0) return null;
  return (allowable - Math.abs(bias)) / cv;
}

/**
 * Returns how weak an SD from few runs is: the multiples of it between which the true SD lies with a probability of 95 %. Between the
 * numbers of the table the wider range applies.
 * @returns null under five runs
 */
export function sdRange(runs: number): { readonly low: number; readonly high: number } | null {
  const row = SD_RANGES.find((range) => range.runs <= runs);
  return row === undefined ? null : { low: row.low, high: row.high };
}

/**
 * Proposes values to look at before an own target is accepted; nobody but a person leaves one out. The rule is the modified z-score
 * of Iglewicz and Hoaglin (1993): 0.6745 (value - median) / MAD beyond 3.5 in size, where MAD is the median distance from the median.
 * If more than half of the values are equal, the MAD is 0, and the mean distance takes its place: (value - median) / (1.253314 mean
 * distance), as SPSS has it.
 * @returns their places in the list
 */
export function outliersOf(values: readonly number[]): number[] {
  if (values.length === 0) return [];
  const median = medianOf(values);
  const distances = values.map((value) => Math.abs(value - median));
  const mad = medianOf(distances);
  const unit = mad > 0 ? mad / 0.6745 : 1.253314 * meanOf(distances);
  return distances.flatMap((distance, place) => (distance > 3.5 * unit ? [place] : []));
}

/** Returns the target of a sheet that prints a range. Sheets print the mean with 2 SD or with 3 SD on each side: a person says which. */
export function targetOfRange(
  { low, high }: { readonly low: number; readonly high: number },
  factor: 2 | 3,
): { readonly mean: number; readonly sd: number } {
  return { mean: (low + high) / 2, sd: (high - low) / 2 / factor };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
