import type uPlot from "uplot";
import type { RowValue } from "../../../../dashboard/types/results/result-rows.ts";
import { translations } from "../../../text.ts";
import { numberLabels, type Span } from "../../../ui/chart/axes.ts";
import { colour } from "../../../ui/chart/canvas.ts";
import { TimeChart } from "../../../ui/chart/time-chart.tsx";
import { drawIntervals, drawPoints, lineOf, secondsOf } from "./chart-drawing.ts";

// The values of one analyte in one unit over time.

interface ChartProps {
  readonly label: string;
  /** The oldest first. All have a number. */
  readonly values: readonly RowValue[];
  /** The time that all charts of the page show. */
  readonly span: Span;
  /** The letter of a value that does not compare with the newest. */
  readonly markOf: (value: RowValue) => string;
  /** Tells one value in words. */
  readonly tell: (value: RowValue) => string;
}

/** Draws the values with the intervals by which they were judged. */
export function Chart({ label, values, span, markOf, tell }: ChartProps) {
  const newest = values.at(-1);
  const lines = linesOf(values);
  return (
    <>
      <TimeChart
        label={label}
        times={values.map(secondsOf)}
        content={JSON.stringify([values.map((each) => [each.value, each.low, each.high, each.flag, each.curve]), span])}
        span={span}
        rows={lines.map((line) => values.map((each) => (lineOf(each) === line ? each.value : null)))}
        lines={lines.map((line) => ({ ...(line === 0 ? OWN : APART), spanGaps: true }))}
        range={() => rangeOf(values)}
        axes={[{ values: numberLabels }]}
        drawBehind={(chart) => drawIntervals(chart, values)}
        drawPoints={(chart, chosen) => drawPoints(chart, values, { markOf, chosen })}
        tell={(index) => {
          const value = values[index];
          return value === undefined ? "" : tell(value);
        }}
      />
      <p class="quiet legend">
        {t("band")} {values.some(({ study }) => study.device !== newest?.study.device) && t("ownBand")}
      </p>
    </>
  );
}

function linesOf(values: readonly RowValue[]): number[] {
  return [...new Set(values.map(lineOf))].filter((line) => line !== null);
}

const OWN: uPlot.Series = { stroke: () => colour("text"), width: 1.5, points: { show: false } };
/** Values that compare with each other, and not with the newest. */
const APART: uPlot.Series = { stroke: () => colour("quiet"), width: 1, dash: [4, 4], points: { show: false } };

/** Includes each value and each bound, with a margin. */
function rangeOf(values: readonly RowValue[]): [number, number] {
  const numbers = values.flatMap(({ value, low, high }) => [value, low, high].filter((each) => each !== null));
  const from = Math.min(...numbers);
  const to = Math.max(...numbers);
  const margin = (to - from || Math.abs(to) || 1) * 0.1;
  return [from >= 0 ? Math.max(0, from - margin) : from - margin, to + margin];
}

const t = translations({
  band: [
    "The shaded band is the interval by which each value was judged.",
    "Gölgeli bant, her değerin değerlendirildiği aralıktır.",
  ],
  ownBand: ["Another device's interval is a narrow bar.", "Başka cihazın aralığı dar bir çubuktur."],
});
