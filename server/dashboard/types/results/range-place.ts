/** Positions of the interval and the value on a bar of 100 units. `end` is set if the value is beyond the bar. */
export interface BarPlace {
  readonly at: number;
  readonly from: number;
  readonly to: number;
  readonly end: "low" | "high" | null;
}

/** Positions a value. An interval with one bound extends to the end of the bar on its open side. */
export function place(value: number, low: number | null, high: number | null): BarPlace {
  const from = low === null ? 0 : 25;
  const to = high === null ? 100 : 75;
  const at = position(value, low, high);
  const end = at < 2 ? "low" : at > 98 ? "high" : null;
  return { at: Math.min(98, Math.max(2, at)), from, to, end };
}

function position(value: number, low: number | null, high: number | null): number {
  if (low !== null && high !== null) return 25 + ((value - low) / (high - low || 1)) * 50;
  // With one bound the distance is measured in parts of that bound.
  if (high !== null) return 75 + ((value - high) / (Math.abs(high) || 1)) * 75;
  return 25 + ((value - (low ?? 0)) / (Math.abs(low ?? 0) || 1)) * 25;
}
