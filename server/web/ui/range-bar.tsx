/**
 * Draws where a value lies against its reference interval. The middle half of the bar is the interval; a value far outside stands
 * at the end. The picture is hidden from screen readers, because the value, interval and flag stand in words beside it.
 */
export function RangeBar({ value, low, high }: { value: number; low: number | null; high: number | null }) {
  if (low === null && high === null) return null;
  const from = low ?? Math.min(0, high ?? 0);
  const to = high ?? Math.max((low ?? 0) * 2, value);
  const width = to - from || 1;
  const place = Math.min(98, Math.max(2, 25 + ((value - from) / width) * 50));
  const isOutside = (low !== null && value < low) || (high !== null && value > high);
  return (
    <svg class="range-bar" viewBox="0 0 100 12" aria-hidden="true" focusable="false">
      <rect class="range-track" x="0" y="5" width="100" height="2" />
      <rect class="range-interval" x="25" y="3" width="50" height="6" />
      <rect
        class={isOutside ? "range-value outside" : "range-value"}
        x={place - 1.5}
        y="0"
        width="3"
        height="12"
        rx="1"
      />
    </svg>
  );
}
