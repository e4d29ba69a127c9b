import type { Flag as FlagValue } from "../../../../shared/api/study.ts";
import type { Side } from "../../../dashboard/types/results/results.ts";
import { translations } from "../../text.ts";
import "./flag.css";

/**
 * A flag as word, arrow and colour. The flag `critical` has no direction, so the caller passes the side of the interval. A
 * value in words has no flag; an unexpected one is `abnormal`.
 */
export function Flag({
  flag,
  side,
  abnormal = false,
}: {
  flag: FlagValue | null;
  side?: Side | null | undefined;
  abnormal?: boolean | undefined;
}) {
  if (flag === null) return abnormal ? <span class="flag flag-abnormal">{t("abnormal")}</span> : null;
  const direction = directionOf(flag, side ?? null);
  const arrow = direction === null ? "" : ARROWS[direction];
  const word = flag === "critical" && direction !== null ? CRITICAL[direction] : flag;
  return (
    <span class={`flag flag-${flag}`}>
      {arrow !== "" && <span aria-hidden="true">{flag === "critical" ? arrow.repeat(2) : arrow}</span>}
      {t(word)}
    </span>
  );
}

const ARROWS = { low: "↓", high: "↑" } as const;
const CRITICAL = { low: "criticalLow", high: "criticalHigh" } as const;

function directionOf(flag: FlagValue, side: Side | null): Side | null {
  if (flag === "critical") return side;
  return flag === "normal" ? null : flag;
}

/** The word for a flag without its direction, or for an abnormal word. */
export function flagWord(flag: FlagValue | "abnormal"): string {
  return t(flag);
}

const t = translations({
  low: ["low", "düşük"],
  high: ["high", "yüksek"],
  // A value within its interval is not a normal animal, so that the word says no more than that.
  normal: ["in range", "aralıkta"],
  critical: ["critical", "kritik"],
  criticalLow: ["critical low", "kritik düşük"],
  criticalHigh: ["critical high", "kritik yüksek"],
  abnormal: ["abnormal", "anormal"],
});
