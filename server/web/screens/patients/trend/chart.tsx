import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { RowValue } from "../../../../dashboard/types/results/result-rows.ts";
import { locale, translations, timeZone } from "../../../text.ts";
import { shownTheme } from "../../../theme.ts";
import { colour, drawIntervals, drawPoints, lineOf, secondsOf } from "./chart-drawing.ts";

// The values of one analyte in one unit over time.

const HEIGHT = 280;
const MONTH_S = 28 * 86_400;
const DAY_S = 86_400;

/** Seconds since 1970. */
export type Span = readonly [from: number, to: number];

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

/** Draws the values, and tells the one that the pointer or the arrow keys choose. */
export function Chart({ label, values, span, markOf, tell }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const newest = values.length - 1;
  const [chosen, choose] = useState(newest);
  const shown = useRef(chosen);
  shown.current = Math.min(chosen, newest);
  const value = values[shown.current];
  const content = JSON.stringify([
    values.map((each) => [each.value, each.low, each.high, each.flag, each.curve]),
    span,
  ]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const draw = {
      drawAxes: [(chart: uPlot) => drawIntervals(chart, values)],
      draw: [(chart: uPlot) => drawPoints(chart, values, { markOf, chosen: shown.current })],
    };
    const chart = new uPlot(optionsOf(values, span, element.clientWidth, draw), dataOf(values), element);
    drawn.current = chart;
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    // Paper has the light colours; see theme.ts.
    const redraw = () => chart.redraw();
    addEventListener("beforeprint", redraw);
    addEventListener("afterprint", redraw);
    return () => {
      removeEventListener("beforeprint", redraw);
      removeEventListener("afterprint", redraw);
      observer.disconnect();
      chart.destroy();
      drawn.current = null;
    };
    // The canvas takes its colours when it is drawn.
  }, [content, shownTheme.value, timeZone.value]);
  useEffect(() => drawn.current?.redraw(false), [chosen]);
  return (
    <>
      <div
        class="chart"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={values.length}
        aria-valuenow={shown.current + 1}
        aria-valuetext={value && tell(value)}
        ref={place}
        onKeyDown={(event) => {
          const next = placeAfter(event.key, shown.current, newest);
          if (next === undefined) return;
          event.preventDefault();
          choose(next);
        }}
        onPointerMove={({ clientX, currentTarget }) => {
          const chart = drawn.current;
          if (chart === null) return;
          const x = clientX - currentTarget.getBoundingClientRect().left - chart.bbox.left / devicePixelRatio;
          const distances = values.map((each) => Math.abs(chart.valToPos(secondsOf(each), "x") - x));
          choose(distances.indexOf(Math.min(...distances)));
        }}
      />
      <p class="chart-value" aria-hidden="true">
        {value && tell(value)}
      </p>
      <p class="quiet legend">
        {t("band")} {values.some(({ study }) => study.device !== values[newest]?.study.device) && t("ownBand")}
      </p>
    </>
  );
}

/** Returns the place that a key chooses, as on a slider; undefined for another key. */
function placeAfter(key: string, place: number, newest: number): number | undefined {
  if (key === "ArrowLeft" || key === "ArrowDown") return Math.max(0, place - 1);
  if (key === "ArrowRight" || key === "ArrowUp") return Math.min(newest, place + 1);
  if (key === "Home") return 0;
  return key === "End" ? newest : undefined;
}

/** A row of times, then a row for each line, with gaps where another line has its values. */
function dataOf(values: readonly RowValue[]): uPlot.AlignedData {
  return [
    values.map(secondsOf),
    ...linesOf(values).map((line) => values.map((each) => (lineOf(each) === line ? each.value : null))),
  ];
}

function linesOf(values: readonly RowValue[]): number[] {
  return [...new Set(values.map(lineOf))].filter((line) => line !== null);
}

function optionsOf(
  values: readonly RowValue[],
  [from, to]: Span,
  width: number,
  hooks: uPlot.Hooks.Arrays,
): uPlot.Options {
  const axis = {
    stroke: () => colour("quiet"),
    font: `12px ${colour("font")}`,
    grid: { stroke: () => colour("line"), width: 1 },
    ticks: { stroke: () => colour("line") },
  };
  const zone = timeZone.value;
  const margin = (to - from || DAY_S) * 0.04;
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    ...(zone !== undefined && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), zone) }),
    scales: { x: { range: () => [from - margin, to + margin] }, y: { range: () => rangeOf(values) } },
    axes: [
      { ...axis, values: timeLabels, space: 80 },
      { ...axis, values: numberLabels },
    ],
    series: [{}, ...linesOf(values).map((line) => ({ ...(line === 0 ? OWN : APART), spanGaps: true }))],
    hooks,
  };
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

/** Prints months, days or times in the page's language and the clinic's time zone. */
function timeLabels(_: uPlot, seconds: number[], _axis: number, _space: number, step: number): string[] {
  const style: Intl.DateTimeFormatOptions =
    step >= MONTH_S
      ? { month: "short", year: "numeric" }
      : step >= DAY_S
        ? { day: "numeric", month: "short" }
        : { hour: "2-digit", minute: "2-digit" };
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value };
  const format = new Intl.DateTimeFormat(locale(), { ...style, ...zone });
  return seconds.map((each) => format.format(new Date(each * 1000)));
}

/** Prints the numbers of the axis like values of results: the same in each language. */
function numberLabels(_: uPlot, numbers: number[]): string[] {
  // Sums of steps such as 0.1 have faults in the last digits.
  return numbers.map((each) => String(Number(each.toPrecision(12))));
}

const t = translations({
  band: [
    "The shaded band is the interval by which each value was judged.",
    "Gölgeli bant, her değerin değerlendirildiği aralıktır.",
  ],
  ownBand: ["Another device's interval is a narrow bar.", "Başka cihazın aralığı dar bir çubuktur."],
});
