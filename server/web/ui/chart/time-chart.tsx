import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { timeZone } from "../../text.ts";
import { shownTheme } from "../../theme.ts";
import { axis, type Span, timeLabels, widened } from "./axes.ts";
import { colour } from "./canvas.ts";
import "./chart.css";

const HEIGHT = 280;

interface TimeChartProps {
  readonly label: string;
  /** Seconds since 1970 of each point, the oldest first. */
  readonly times: readonly number[];
  /** Changes whenever the chart is to be drawn again. */
  readonly content: string;
  readonly span: Span;
  /** Rows of values, one for each line of `lines`; null is a gap. */
  readonly rows: readonly (readonly (number | null)[])[];
  readonly lines: readonly uPlot.Series[];
  readonly range: () => [number, number];
  /** The axes of the values; without a side the left one. */
  readonly axes: readonly uPlot.Axis[];
  /** Draws what lies behind the lines. */
  readonly drawBehind: (chart: uPlot) => void;
  readonly drawPoints: (chart: uPlot, chosen: number) => void;
  /** Says one point in words. */
  readonly tell: (index: number) => string;
}

/** Draws values over time, and says the one that the pointer or the arrow keys choose. */
export function TimeChart({ label, times, content, tell, ...drawing }: TimeChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const newest = times.length - 1;
  /** Null is the newest one. */
  const [chosen, setChosen] = useState<ChosenPoint | null>(null);
  const shown = useRef(newest);
  shown.current = chosen === null ? newest : indexOf(chosen, times);
  const choose = (index: number) => {
    const time = times[index] ?? 0;
    setChosen(index === newest ? null : { time, after: index - times.indexOf(time) });
  };
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const hooks = {
      drawAxes: [drawing.drawBehind],
      draw: [(chart: uPlot) => drawing.drawPoints(chart, shown.current)],
    };
    const data = [times, ...drawing.rows] as unknown as uPlot.AlignedData;
    const chart = new uPlot({ ...optionsOf(drawing, element.clientWidth), hooks }, data, element);
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
  useEffect(() => drawn.current?.redraw(false), [shown.current]);
  return (
    <>
      <div
        class="chart"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={times.length}
        aria-valuenow={shown.current + 1}
        aria-valuetext={tell(shown.current)}
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
          const distances = times.map((each) => Math.abs(chart.valToPos(each, "x") - x));
          choose(distances.indexOf(Math.min(...distances)));
        }}
      />
      <p class="chart-value" aria-hidden="true">
        {tell(shown.current)}
      </p>
    </>
  );
}

/** A point by its time, since an older one may arrive later. */
interface ChosenPoint {
  readonly time: number;
  /** How many points of the same time precede it. */
  readonly after: number;
}

/** @returns the newest one if the point is gone */
function indexOf({ time, after }: ChosenPoint, times: readonly number[]): number {
  const newest = times.length - 1;
  const first = times.indexOf(time);
  return first < 0 ? newest : Math.min(first + after, newest);
}

/** Returns the place that a key chooses, as on a slider; undefined for another key. */
function placeAfter(key: string, place: number, newest: number): number | undefined {
  if (key === "ArrowLeft" || key === "ArrowDown") return Math.max(0, place - 1);
  if (key === "ArrowRight" || key === "ArrowUp") return Math.min(newest, place + 1);
  if (key === "Home") return 0;
  return key === "End" ? newest : undefined;
}

function optionsOf(
  { span, range, axes, lines }: Pick<TimeChartProps, "span" | "range" | "axes" | "lines">,
  width: number,
): uPlot.Options {
  const zone = timeZone.value;
  const font = `12px ${colour("font")}`;
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    ...(zone !== undefined && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), zone) }),
    scales: { x: { range: () => widened(span) }, y: { range } },
    axes: [{ ...axis, font, values: timeLabels, space: 80 }, ...axes.map((each) => ({ ...axis, font, ...each }))],
    series: [{}, ...lines],
  };
}
