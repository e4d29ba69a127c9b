import type { Flag as FlagValue } from "../../../shared/api/study.ts";
import { texts } from "../text.ts";

/** A flag in word, arrow and colour. `critical` has no direction of its own, so the caller gives the side of the interval. */
export function Flag({ flag, side }: { flag: FlagValue | null; side?: "low" | "high" | null }) {
  if (flag === null) return null;
  const direction = flag === "low" || flag === "high" ? flag : (side ?? null);
  const arrow = flag === "normal" || direction === null ? "" : direction === "low" ? "↓" : "↑";
  return (
    <span class={`flag flag-${flag}`}>
      {arrow !== "" && <span aria-hidden="true">{flag === "critical" ? arrow.repeat(2) : arrow}</span>}
      {t(flag)}
    </span>
  );
}

const t = texts(
  { low: "low", high: "high", normal: "normal", critical: "critical" },
  { low: "düşük", high: "yüksek", normal: "normal", critical: "kritik" },
);
