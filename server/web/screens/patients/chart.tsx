import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { RowValue } from "../../../dashboard/types/results/result-rows.ts";
import { locale, translations, timeZone } from "../../text.ts";
import { shownTheme } from "../../theme.ts";

// The line of one analyte in one unit. Behind each point lies the interval in force on its day, as far as the middle between
// the points, so that a change of the interval shows as a step.

const HEIGHT = 280;
const MONTH_S = 28 * 86_400;
const DAY_S = 86_400;

/** Draws the values, the oldest first. All have a number. */
export function Chart({ label, values }: { label: string; values: readonly RowValue[] }) {
  const place = useRef<HTMLDivElement>(null);
  const content = JSON.stringify(values.map(({ value, low, high, flag, study }) => [value, low, high, flag, study.fp]));
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const chart = new uPlot(optionsOf(values, element.clientWidth), dataOf(values), element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
    // The canvas takes its colours when it is drawn.
  }, [content, shownTheme.value, timeZone.value]);
  const hasBound = values.some(({ comparator }) => comparator !== undefined);
  return (
    <>
      <div class="chart" role="img" aria-label={label} ref={place} />
      <p class="quiet legend">
        {t("band")} {hasBound && t("bound")}
      </p>
    </>
  );
}

function secondsOf({ study }: RowValue): number {
  return Date.parse(study.acquired_at) / 1000;
}

function dataOf(values: readonly RowValue[]): uPlot.AlignedData {
  return [values.map(secondsOf), values.map(({ value }) => value)];
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function optionsOf(values: readonly RowValue[], width: number): uPlot.Options {
  const axis = {
    stroke: colour("quiet"),
    grid: { stroke: colour("line"), width: 1 },
    ticks: { stroke: colour("line") },
  };
  const zone = timeZone.value;
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    ...(zone !== undefined && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), zone) }),
    scales: { y: { range: () => rangeOf(values) } },
    axes: [
      { ...axis, values: timeLabels, space: 80 },
      { ...axis, values: numberLabels },
    ],
    series: [{}, { stroke: colour("text"), width: 1.5, points: { show: false } }],
    hooks: {
      drawAxes: [(chart) => drawIntervals(chart, values)],
      draw: [(chart) => drawPoints(chart, values)],
    },
  };
}

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

function drawIntervals(chart: uPlot, values: readonly RowValue[]): void {
  const { ctx, bbox } = chart;
  const places = values.map((value) => chart.valToPos(secondsOf(value), "x", true));
  ctx.save();
  ctx.fillStyle = colour("accent-soft");
  for (const [index, { low, high }] of values.entries()) {
    if (low === null && high === null) continue;
    const own = places[index] ?? 0;
    const from = index === 0 ? bbox.left : ((places[index - 1] ?? own) + own) / 2;
    const to = index === values.length - 1 ? bbox.left + bbox.width : (own + (places[index + 1] ?? own)) / 2;
    const top = high === null ? bbox.top : chart.valToPos(high, "y", true);
    const bottom = low === null ? bbox.top + bbox.height : chart.valToPos(low, "y", true);
    ctx.fillRect(from, top, to - from, bottom - top);
  }
  ctx.restore();
}

/** Draws a point in the colour of its flag. A bound such as `<0.2` is hollow, with its comparator beside it. */
function drawPoints(chart: uPlot, values: readonly RowValue[]): void {
  const { ctx } = chart;
  const size = devicePixelRatio;
  ctx.save();
  ctx.font = `${14 * size}px sans-serif`;
  ctx.textAlign = "center";
  ctx.lineWidth = 2 * size;
  for (const value of values) {
    const x = chart.valToPos(secondsOf(value), "x", true);
    const y = chart.valToPos(value.value ?? 0, "y", true);
    const own = colour(value.flag === "normal" ? "text" : (value.flag ?? "quiet"));
    ctx.beginPath();
    ctx.arc(x, y, 4.5 * size, 0, 2 * Math.PI);
    ctx.fillStyle = value.comparator === undefined ? own : colour("surface");
    ctx.strokeStyle = own;
    ctx.fill();
    ctx.stroke();
    if (value.comparator === undefined) continue;
    ctx.fillStyle = colour("text");
    ctx.fillText(value.comparator, x, y - 10 * size);
  }
  ctx.restore();
}

const t = translations({
  band: [
    "The shaded band is the interval in force at each point.",
    "Gölgeli bant, her noktada geçerli olan aralıktır.",
  ],
  bound: ["A hollow point is a bound, such as <0.2.", "İçi boş nokta bir sınırdır, örneğin <0.2."],
});
