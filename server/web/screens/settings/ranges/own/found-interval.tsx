import type { FoundInterval, IntervalNow } from "../../../../../dashboard/types/settings/own-intervals.ts";
import { Facts } from "../../../../ui/status/facts.tsx";
import { DotPlot } from "./dot-plot.tsx";
import { t } from "./texts.ts";

/** Shows an interval: its plot, its limits with their confidence, what to doubt, and how it differs from the one in force. */
export function FoundIntervalView({
  values,
  leftOut,
  interval,
  now,
  unit,
  decimals,
  isDecided = false,
}: {
  readonly values: readonly number[];
  readonly leftOut: readonly number[];
  readonly interval: FoundInterval;
  readonly now: IntervalNow | null;
  readonly unit: string;
  readonly decimals: number;
  /** Whether `now` applied before a decision. */
  readonly isDecided?: boolean;
}) {
  const { low, high, isSkewed, method } = interval;
  const written = (value: number) => value.toFixed(decimals);
  const limit = ({ value, from, to }: FoundInterval["low"]) =>
    t("limit", { value: `${written(value)} ${unit}`, from: written(from), to: written(to) });
  return (
    <>
      <DotPlot values={values} leftOut={leftOut} interval={interval} now={now} decimals={decimals} />
      {(low.isWide || high.isWide) && <p class="note">{t("wide")}</p>}
      {isSkewed && method === "robust" && <p class="note">{t("skewed")}</p>}
      <Facts
        inColumn
        of={[
          [t("low"), limit(low)],
          [t("high"), limit(high)],
          [t("method"), methodText(interval)],
          [t("count"), String(interval.n)],
          [
            t(isDecided ? "before" : "now"),
            now === null ? t("nowNone") : <InForce key="now" now={now} unit={unit} written={written} />,
          ],
          [
            t("difference"),
            now &&
              t("differences", {
                low: signed(low.value - now.low, decimals),
                high: signed(high.value - now.high, decimals),
              }),
          ],
        ]}
      />
      {now !== null && (
        <p>{t("outside", { count: values.filter((value) => value < now.low || value > now.high).length })}</p>
      )}
    </>
  );
}

function InForce({ now, unit, written }: { now: IntervalNow; unit: string; written: (value: number) => string }) {
  return (
    <>
      {written(now.low)}-{written(now.high)} {unit},{" "}
      {now.source === null ? t("nowOwn") : <span lang="en">{now.source}</span>}
    </>
  );
}

export function methodText({ method, scale }: FoundInterval): string {
  return t(method === "nonparametric" ? "nonparametric" : scale === "log" ? "robustLog" : "robust");
}

/** Writes a change with its sign: +3, −0.2, or 0 without one. */
function signed(change: number, decimals: number): string {
  const written = Math.abs(change).toFixed(decimals);
  return Number(written) === 0 ? written : `${change < 0 ? "−" : "+"}${written}`;
}
