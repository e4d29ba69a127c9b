import type { Flag } from "../../../../shared/api/study.ts";
import { place } from "../../../dashboard/types/results/range-place.ts";

/**
 * Draws the position of a value in its reference interval, which is the middle half of the bar; a value far outside becomes an
 * arrow at the end. It is hidden from screen readers, because value, interval and flag are next to it as text.
 */
export function RangeBar({
  value,
  low,
  high,
  flag,
  before = null,
}: {
  value: number;
  low: number | null;
  high: number | null;
  flag?: Flag | null;
  /** The value before, drawn as a ring. */
  before?: number | null;
}) {
  if (low === null && high === null) return null;
  const { at, from, to, end } = place(value, low, high);
  const isOutside = (low !== null && value < low) || (high !== null && value > high);
  const kind = flag ?? (isOutside ? "outside" : "normal");
  return (
    <svg class="range-bar" viewBox="0 0 100 14" aria-hidden="true" focusable="false">
      <rect class="range-track" x="0" y="6" width="100" height="2" rx="1" />
      <rect class="range-interval" x={from} y="3.5" width={to - from} height="7" rx="1.5" />
      {before !== null && <circle class="range-before" cx={place(before, low, high).at} cy="7" r="2.5" />}
      {end === null ? (
        <rect class={`range-value ${kind}`} x={at - 2} y="0" width="4" height="14" rx="2" />
      ) : (
        <path class={`range-value ${kind}`} d={end === "low" ? "M8 0 L0 7 L8 14 Z" : "M92 0 L100 7 L92 14 Z"} />
      )}
    </svg>
  );
}
