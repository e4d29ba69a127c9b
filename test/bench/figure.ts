// A measured figure, its baseline from the same run, and the bar that it must meet.

export interface Figure {
  readonly name: string;
  readonly ours: string;
  /** The measurement that `ours` is compared with. */
  readonly baseline: string;
  /** `ours` divided by the baseline. */
  readonly ratio: number;
  readonly bar: string;
  readonly met: boolean;
}

export function print({ name, ours, baseline, ratio, bar, met }: Figure): void {
  process.stdout.write(
    `${met ? "ok    " : "MISSED"}  ${name}\n          ours ${ours}; ${baseline}; ratio ${ratio.toFixed(2)}; bar: ${bar}\n`,
  );
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new Error("expected at least one measurement, got none");
  return value;
}

/** Rounds and groups digits: 12345.6 becomes "12 346". */
export function whole(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ");
}
