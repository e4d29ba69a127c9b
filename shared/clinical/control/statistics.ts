/** Mean, SD and CV of the values of one level that count. */
export interface Statistics {
  readonly runs: number;
  readonly mean: number;
  /** By n - 1. */
  readonly sd: number;
  /** Percent; null for a mean of 0 or below, such as of a base excess. */
  readonly cv: number | null;
}

/** Runs from which a person may accept an own target. */
export const OWN_TARGET_RUNS = 20;

/** @returns null under two values, which have no SD */
export function statisticsOf(values: readonly number[]): Statistics | null {
  throw new Error(`TODO ${values.length}`);
}

/**
 * Returns the bias in percent of an outside target: the mean of the sheet or of an external scheme. Against the clinic's own mean it
 * would be 0 by construction.
 * @returns null for a target of 0 or below
 */
export function biasOf(mean: number, outside: number): number | null {
  throw new Error(`TODO ${mean} ${outside}`);
}

/**
 * Returns sigma, (allowable error - |bias|) / CV, all in percent and at one level.
 * @returns null where a part is unknown, or the CV is 0
 */
export function sigmaOf(part: {
  readonly allowable: number | null;
  readonly bias: number | null;
  readonly cv: number | null;
}): number | null {
  throw new Error(`TODO ${part.cv}`);
}

/**
 * Returns the multiples of an SD between which the true SD lies with a probability of 95 %, by chi square: how weak an SD from few
 * runs is.
 * @returns null under five runs
 */
export function sdRange(runs: number): { readonly low: number; readonly high: number } | null {
  throw new Error(`TODO ${runs}`);
}

/**
 * Proposes values to look at before an own target is accepted; nobody but a person leaves one out. The rule is the modified z-score
 * of Iglewicz and Hoaglin (1993): 0.6745 (value - median) / MAD beyond 3.5 in size.
 * @returns their places in the list
 */
export function outliersOf(values: readonly number[]): number[] {
  throw new Error(`TODO ${values.length}`);
}

/** Returns the target of a sheet that prints a range. Sheets print the mean with 2 SD or with 3 SD on each side: a person says which. */
export function targetOfRange(
  range: { readonly low: number; readonly high: number },
  factor: 2 | 3,
): { readonly mean: number; readonly sd: number } {
  throw new Error(`TODO ${range.low} ${factor}`);
}
