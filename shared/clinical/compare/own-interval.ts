// A reference interval from the values of healthy animals of one clinic, as CLSI EP28-A3c has it: the central 95 % of the animals.

/** Animals without which there is no interval. */
export const ANIMALS_MIN = 40;
/** Animals from which ranks are enough, without the assumption of symmetric values. */
const RANKS_FROM = 120;

/** A limit of the interval and its 90 % confidence interval, in the unit of the values, unrounded. */
export interface OwnLimit {
  readonly value: number;
  readonly from: number;
  readonly to: number;
  /** Whether the confidence interval is wider than 0.2 of the reference interval, more than EP28-A3c recommends. */
  readonly isWide: boolean;
}

/** A value that a test suspects. It takes part until a person leaves it out. */
export interface Outlier {
  /** Index in the given values. */
  readonly index: number;
  readonly side: "low" | "high";
  /**
   * `tukey`: outside the quartiles by more than 1.5 times their distance. `dixon`: an extreme whose distance to its neighbour is
   * more than a third of the range of all.
   */
  readonly tests: readonly ("tukey" | "dixon")[];
}

export type OwnInterval =
  | { readonly state: "too few"; readonly n: number; readonly missing: number }
  /** More than half of the values are equal, so that the robust method has no measure of their spread. */
  | { readonly state: "too equal"; readonly n: number }
  | {
      readonly state: "interval";
      readonly n: number;
      readonly method: "robust" | "nonparametric";
      /** Scale of the robust method and of the tests for outliers: logarithms where the values have a long upper tail. */
      readonly scale: "linear" | "log";
      /** Whether the values, without far outliers, are not symmetric on that scale, which the robust method assumes. */
      readonly isSkewed: boolean;
      readonly low: OwnLimit;
      readonly high: OwnLimit;
      /** The outliers, the lowest value first. */
      readonly outliers: readonly Outlier[];
    };

/** Share of animals below each limit. */
const TAIL = 0.025;
/** Widest confidence interval of a limit, as a share of the reference interval (EP28-A3c, section 9). */
const WIDE = 0.2;
const RESAMPLES = 2000;
/** The 0.975 quantile of the normal distribution. */
const Z = 1.959963984540054;
/** Scale of the median absolute deviation: the standard deviation of normal values. */
const NORMAL_MAD = 0.6745;

/**
 * Computes the reference interval of healthy animals: one finite value for each animal, all in one unit, in any order. Values of
 * `<` or `>` are not values: leave them out and say so.
 *
 * From 40 to 119 animals it is the robust method of Horn and Pesce (Clin Chem 1998;44:622; CLSI EP28-A3c, appendix B), on the
 * logarithms of values with a long upper tail; from 120 on it is the ranks 0.025 (n + 1) and 0.975 (n + 1). The limits' 90 %
 * confidence intervals are percentiles of 2000 bootstrap samples of a fixed sequence: the same values have the same result.
 * Where no value is negative, no limit is. Outliers are named and take part.
 *
 * @returns the interval in the unit of the values, or why there is none
 * @throws {RangeError} if a value is not a finite number
 */
export function ownInterval(values: readonly number[]): OwnInterval {
  for (const value of values)
    if (!Number.isFinite(value)) throw new RangeError(`expected a finite value, got ${value}`);
  const n = values.length;
  if (n < ANIMALS_MIN) return { state: "too few", n, missing: ANIMALS_MIN - n };
  const sorted = values.toSorted((a, b) => a - b);
  const inner = withoutFarOutliers(sorted);
  const scale = scaleOf(inner);
  const scaled = scale === "log" ? sorted.map(Math.log) : sorted;
  const method = n < RANKS_FROM ? "robust" : "nonparametric";
  const limitsOf = method === "robust" ? robustLimits : rankLimits;
  const measured = method === "robust" ? scaled : sorted;
  const limits = limitsOf(measured);
  const resampled = resampledLimits(measured, limitsOf);
  if (limits === null || resampled === null || limits[0] === limits[1]) return { state: "too equal", n };
  const floor = (sorted[0] ?? 0) >= 0 ? 0 : Number.NEGATIVE_INFINITY;
  const inUnit = (limit: number) => Math.max(floor, method === "robust" && scale === "log" ? Math.exp(limit) : limit);
  const [low, high] = [inUnit(limits[0]), inUnit(limits[1])];
  const limitOf = (value: number, around: readonly number[]): OwnLimit => {
    const [from, to] = [inUnit(quantile(around, 0.05)), inUnit(quantile(around, 0.95))];
    return { value, from, to, isWide: to - from > WIDE * (high - low) };
  };
  return {
    state: "interval",
    n,
    method,
    scale,
    isSkewed: isSkewed(scale === "log" ? inner.map(Math.log) : inner),
    low: limitOf(low, resampled.low),
    high: limitOf(high, resampled.high),
    outliers: outliersOf(values, scale),
  };
}

type Limits = readonly [low: number, high: number];

/**
 * Computes the limits of the robust method for sorted values: a biweight centre, and a biweight spread that weights the tails (205.6)
 * and the centre (3.7). @returns null if their median absolute deviation is 0
 */
export function robustLimits(sorted: readonly number[]): Limits | null {
  const n = sorted.length;
  const middle = median(sorted);
  const spread = median(sorted.map((value) => Math.abs(value - middle)).toSorted((a, b) => a - b)) / NORMAL_MAD;
  if (spread === 0) return null;
  const centre = biweightCentre(sorted, middle, 3.7 * spread);
  const tails = 205.6 * spread * Math.sqrt(n * biweightVariance(sorted, middle, 205.6 * spread));
  const centred = 3.7 * spread * Math.sqrt(n * biweightVariance(sorted, middle, 3.7 * spread));
  const ofCentre = 3.7 * centred * Math.sqrt(biweightVariance(sorted, centre, 3.7 * centred));
  const margin = studentT(n - 1) * Math.hypot(tails, ofCentre);
  return [centre - margin, centre + margin];
}

/** Computes the limits by rank for sorted values, interpolated between two ranks. */
function rankLimits(sorted: readonly number[]): Limits {
  return [quantile(sorted, TAIL), quantile(sorted, 1 - TAIL)];
}

function biweightCentre(values: readonly number[], start: number, reach: number): number {
  let centre = start;
  for (let round = 0; round < 100; round += 1) {
    let [weights, sum] = [0, 0];
    for (const value of values) {
      const u = (value - centre) / reach;
      if (Math.abs(u) >= 1) continue;
      const weight = (1 - u * u) ** 2;
      weights += weight;
      sum += weight * value;
    }
    const next = sum / weights;
    if (Math.abs(next - centre) < 1e-9 * reach) return next;
    centre = next;
  }
  return centre;
}

function biweightVariance(values: readonly number[], centre: number, reach: number): number {
  let [above, below] = [0, 0];
  for (const value of values) {
    const u2 = ((value - centre) / reach) ** 2;
    if (u2 >= 1) continue;
    above += u2 * (1 - u2) ** 4;
    below += (1 - u2) * (1 - 5 * u2);
  }
  return above / (below * Math.max(1, below - 1));
}

/**
 * Returns the 0.975 quantile of Student's t distribution (Abramowitz and Stegun 26.7.5), to six decimals from 19 degrees of freedom
 * on.
 */
export function studentT(degrees: number): number {
  const z = (power: number) => Z ** power;
  const terms = [
    (z(3) + Z) / 4,
    (5 * z(5) + 16 * z(3) + 3 * Z) / 96,
    (3 * z(7) + 19 * z(5) + 17 * z(3) - 15 * Z) / 384,
    (79 * z(9) + 776 * z(7) + 1482 * z(5) - 1920 * z(3) - 945 * Z) / 92_160,
  ];
  return terms.reduce((sum, term, index) => sum + term / degrees ** (index + 1), Z);
}

/** Returns the limits of samples with replacement, sorted; null if more than a tenth of them have none. */
function resampledLimits(
  sorted: readonly number[],
  limitsOf: (sorted: readonly number[]) => Limits | null,
): { low: number[]; high: number[] } | null {
  const random = fixedSequence();
  const n = sorted.length;
  const [low, high]: [number[], number[]] = [[], []];
  for (let round = 0; round < RESAMPLES; round += 1) {
    // Counts in place of values: the sample comes out sorted.
    const counts = new Uint16Array(n);
    for (let draw = 0; draw < n; draw += 1) {
      const drawn = Math.floor(random() * n);
      counts[drawn] = (counts[drawn] ?? 0) + 1;
    }
    const sample: number[] = [];
    for (const [index, value] of sorted.entries()) {
      for (let count = counts[index] ?? 0; count > 0; count -= 1) sample.push(value);
    }
    const limits = limitsOf(sample);
    if (limits === null) continue;
    low.push(limits[0]);
    high.push(limits[1]);
  }
  if (low.length < 0.9 * RESAMPLES) return null;
  return { low: low.toSorted((a, b) => a - b), high: high.toSorted((a, b) => a - b) };
}

/** Returns a generator (mulberry32) of the same numbers from 0 to 1 each time. */
function fixedSequence(): () => number {
  let state = 0x5eed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Leaves out what is beyond the quartiles by more than three times their distance: one wrong value must not choose the scale. */
function withoutFarOutliers(sorted: readonly number[]): readonly number[] {
  const [first, third] = [quantile(sorted, 0.25), quantile(sorted, 0.75)];
  const fence = 3 * (third - first);
  return sorted.filter((value) => value >= first - fence && value <= third + fence);
}

/** Chooses logarithms for positive values with a long upper tail, if they are more symmetric. */
function scaleOf(sorted: readonly number[]): "linear" | "log" {
  if ((sorted[0] ?? 0) <= 0 || !isSkewed(sorted)) return "linear";
  const skew = skewness(sorted);
  return skew > 0 && Math.abs(skewness(sorted.map(Math.log))) < skew ? "log" : "linear";
}

/** Whether the skewness is beyond what symmetric values have in 95 % of samples of this size. */
function isSkewed(values: readonly number[]): boolean {
  const n = values.length;
  const error = Math.sqrt((6 * n * (n - 1)) / ((n - 2) * (n + 1) * (n + 3)));
  return Math.abs(skewness(values)) > Z * error;
}

/** Returns the adjusted Fisher-Pearson coefficient; 0 for equal values. */
function skewness(values: readonly number[]): number {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const moment = (power: number) => values.reduce((sum, value) => sum + (value - mean) ** power, 0) / n;
  const variance = moment(2);
  return variance === 0 ? 0 : (Math.sqrt(n * (n - 1)) / (n - 2)) * (moment(3) / variance ** 1.5);
}

function outliersOf(values: readonly number[], scale: "linear" | "log"): Outlier[] {
  const ranked = values
    .map((value, index) => ({ index, value: scale === "log" ? Math.log(value) : value }))
    .toSorted((a, b) => a.value - b.value);
  const sorted = ranked.map(({ value }) => value);
  const at = (position: number) => sorted.at(position) ?? Number.NaN;
  const range = at(-1) - at(0);
  const [first, third] = [quantile(sorted, 0.25), quantile(sorted, 0.75)];
  const fence = 1.5 * (third - first);
  return ranked.flatMap(({ index, value }, rank): Outlier[] => {
    const isHigh = value > at(0) && value > third;
    const gap = rank === 0 ? at(1) - at(0) : rank === sorted.length - 1 ? at(-1) - at(-2) : 0;
    const tests = [
      ...(value < first - fence || value > third + fence ? (["tukey"] as const) : []),
      ...(gap > range / 3 ? (["dixon"] as const) : []),
    ];
    return tests.length === 0 ? [] : [{ index, side: isHigh ? "high" : "low", tests }];
  });
}

function median(sorted: readonly number[]): number {
  return quantile(sorted, 0.5);
}

/** Returns the value at rank p (n + 1) of sorted values, interpolated. */
function quantile(sorted: readonly number[], p: number): number {
  const rank = Math.min(Math.max(p * (sorted.length + 1), 1), sorted.length);
  const below = Math.floor(rank);
  const [low, high] = [sorted[below - 1] ?? Number.NaN, sorted[below] ?? sorted[below - 1] ?? Number.NaN];
  return low + (rank - below) * (high - low);
}
