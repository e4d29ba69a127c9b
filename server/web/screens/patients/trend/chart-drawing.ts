import type uPlot from "uplot";
import type { RowValue } from "../../../../dashboard/types/results/result-rows.ts";
import { circle, colour, setMarkFont } from "../../../ui/chart/canvas.ts";

// Draws the parts of a chart that uPlot does not: the intervals behind the points, and the points.

/** Half the width of the interval of a value that another device measured. */
const OWN_INTERVAL_PX = 9;

export function secondsOf({ study }: RowValue): number {
  return Date.parse(study.acquired_at) / 1000;
}

/** The line that joins a value with others; null for a bound, which no line meets. */
export function lineOf({ curve }: RowValue): number | null {
  return curve?.line ?? null;
}

/**
 * Draws the interval by which each value was judged, the oldest value first. The band of the newest value's device reaches to the
 * middle between two values, so that a change of the interval is a step. The interval of another device is drawn behind
 * its value alone.
 */
export function drawIntervals(chart: uPlot, values: readonly RowValue[]): void {
  const device = values.at(-1)?.study.device;
  const own = values.filter(({ study }) => study.device === device);
  const { left, width } = chart.bbox;
  const places = own.map((value) => chart.valToPos(secondsOf(value), "x", true));
  for (const [index, value] of own.entries()) {
    const place = places[index] ?? 0;
    const from = index === 0 ? left : ((places[index - 1] ?? place) + place) / 2;
    const to = index === own.length - 1 ? left + width : (place + (places[index + 1] ?? place)) / 2;
    drawInterval(chart, value, { from, to, fill: colour("accent-soft") });
  }
  const half = OWN_INTERVAL_PX * devicePixelRatio;
  for (const value of values) {
    if (value.study.device === device) continue;
    const place = chart.valToPos(secondsOf(value), "x", true);
    drawInterval(chart, value, { from: place - half, to: place + half, fill: colour("line-strong") });
  }
}

function drawInterval(
  chart: uPlot,
  { low, high }: RowValue,
  { from, to, fill }: { from: number; to: number; fill: string },
): void {
  if (low === null && high === null) return;
  const { ctx, bbox } = chart;
  const top = high === null ? bbox.top : chart.valToPos(high, "y", true);
  const bottom = low === null ? bbox.top + bbox.height : chart.valToPos(low, "y", true);
  ctx.save();
  ctx.fillStyle = fill;
  // Whole pixels, so that no seam shows between two values.
  const left = Math.round(from);
  ctx.fillRect(left, top, Math.round(to) - left, bottom - top);
  ctx.restore();
}

/**
 * Draws a point in the colour of its flag. A value that does not compare with the newest is hollow, with its letter; a bound such
 * as `<0.2` has its comparator, too. The chosen point has a ring.
 */
export function drawPoints(
  chart: uPlot,
  values: readonly RowValue[],
  { markOf, chosen }: { markOf: (value: RowValue) => string; chosen: number },
): void {
  const { ctx } = chart;
  const size = devicePixelRatio;
  ctx.save();
  setMarkFont(chart);
  ctx.textAlign = "center";
  ctx.lineWidth = 2 * size;
  ctx.setLineDash([]);
  for (const [index, value] of values.entries()) {
    const x = chart.valToPos(secondsOf(value), "x", true);
    const y = chart.valToPos(value.value ?? 0, "y", true);
    const own = colour(value.flag === "normal" ? "text" : (value.flag ?? "quiet"));
    const isApart = value.curve == null || value.curve.apart !== null;
    ctx.fillStyle = isApart ? colour("surface") : own;
    ctx.strokeStyle = own;
    circle(ctx, x, y, 4.5 * size);
    ctx.fill();
    ctx.stroke();
    if (index === chosen) {
      ctx.strokeStyle = colour("accent");
      circle(ctx, x, y, 8 * size);
      ctx.stroke();
    }
    ctx.fillStyle = colour("text");
    ctx.fillText(`${value.comparator ?? ""}${markOf(value)}`, x, y - 12 * size);
  }
  ctx.restore();
}
