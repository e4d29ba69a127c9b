import type { FoundInterval, IntervalNow } from "../../../../../dashboard/types/settings/own-intervals.ts";
import { Facts } from "../../../../ui/status/facts.tsx";
import { DotPlot } from "./dot-plot.tsx";
import type { Numbers } from "./numbers.ts";
import { t } from "./texts.ts";

/** Shows an interval: its plot, its limits with their confidence, what to doubt, and how it differs from the one in force. */
export function FoundIntervalView({
  values,
  leftOut,
  interval,
  now,
  numbers,
  isDecided = false,
}: {
  readonly values: readonly number[];
  readonly leftOut: readonly number[];
  readonly interval: FoundInterval;
  readonly now: IntervalNow | null;
  readonly numbers: Numbers;
  /** Whether `now` applied before a decision. */
  readonly isDecided?: boolean;
}) {
  const { low, high, isSkewed, method } = interval;
  const limit = ({ value, from, to }: FoundInterval["low"]) => {
    const text = (written: (number: number) => string, unit: string) =>
      t("limit", { value: `${written(value)} ${unit}`, from: written(from), to: written(to) });
    return <span title={numbers.typed(text)}>{text(numbers.bound, numbers.unit)}</span>;
  };
  return (
    <>
      <DotPlot values={values} leftOut={leftOut} interval={interval} now={now} written={numbers.value} />
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
            now === null ? t("nowNone") : <InForce key="now" now={now} numbers={numbers} />,
          ],
          [
            t("difference"),
            now &&
              t("differences", {
                low: numbers.change(now.low, low.value),
                high: numbers.change(now.high, high.value),
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

function InForce({ now, numbers }: { now: IntervalNow; numbers: Numbers }) {
  const text = (written: (number: number) => string, unit: string) =>
    `${written(now.low)}-${written(now.high)} ${unit}`;
  return (
    <>
      <span title={numbers.typed(text)}>{text(numbers.inForce, numbers.unit)}</span>,{" "}
      {now.source === null ? t("nowOwn") : <span lang="en">{now.source}</span>}
    </>
  );
}

export function methodText({ method, scale }: FoundInterval): string {
  return t(method === "nonparametric" ? "nonparametric" : scale === "log" ? "robustLog" : "robust");
}
