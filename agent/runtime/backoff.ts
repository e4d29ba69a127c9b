/** Bounds of the delays between attempts. */
export interface Backoff {
  /** Delay after the first failure, before jitter. Each further failure in a row doubles it. */
  readonly firstMs: number;
  /** Delay at which the doubling ends, before jitter. */
  readonly lastMs: number;
  /** Part of a delay that is random, from 0 for none to 1 for all of it. It keeps agents from retrying in step. */
  readonly jitter: number;
}

/** @returns the delay in ms after that many failures in a row, at least 1; `random` returns a number from 0 to 1 */
export function backoffMs(
  failures: number,
  { firstMs, lastMs, jitter }: Backoff,
  random: () => number = Math.random,
): number {
  const longest = Math.min(lastMs, firstMs * 2 ** (failures - 1));
  return longest * (1 - jitter * (1 - random()));
}
